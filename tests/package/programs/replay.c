/* replay PARAMS SAMPLES COMMANDS    recomputes a recording: one COMMAND for each SAMPLE, from a state of zeros */

#include <stdio.h>
#include <ur_admittance.h>

static ur_params params;
static ur_state state;
static ur_sample sample;
static ur_command command;

int main(int count, char **words) {
    const char *problem = count == 4 ? ur_read_params(&params, words[1]) : "replay PARAMS SAMPLES COMMANDS";
    if (problem) return fprintf(stderr, "%s\n", problem), 1;
    FILE *in = fopen(words[2], "rb"), *out = fopen(words[3], "wb");
    if (!in || !out) return perror(words[2]), 1;
    while (fread(&sample, sizeof sample, 1, in) == 1) {
        ur_tick(&params, &state, &sample, &command);
        if (fwrite(&command, sizeof command, 1, out) != 1) return perror(words[3]), 1;
    }
    fclose(in);
    return fclose(out);
}
