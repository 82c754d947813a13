/* Every status in a sentence, and one that does not exist. */

#include <stdio.h>
#include <ur_admittance.h>

int main(void) {
    const double evidence[5] = {1.25, 0.5, 0.0, 0.0, 0.0};
    char text[400];
    for (int status = 0; status <= UR_STATUS_ENABLE_SILENT + 1; status++) {
        ur_sentence(text, sizeof text, status, evidence);
        puts(text);
    }
    return 0;
}
