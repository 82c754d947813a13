/* A control loop in C. The arm is a perfect one: its joints are at once where they are told to be.

   cc loop.c -o loop $(ur-admittance library --cflags --libs) -lm
   ur-admittance params record hand_guiding --out hand_guiding.bin && ./loop hand_guiding.bin */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <ur_admittance.h>

#define HALF_PI 1.5707963267948966

static ur_params params; /* the records are large: not on the stack */
static ur_state state;
static ur_sample sample;
static ur_command command;

int main(int count, char **words) {
    const char *problem = ur_read_params(&params, count > 1 ? words[1] : "");
    if (problem) return fprintf(stderr, "%s\n", problem), 1;
    const double home[6] = {0.0, -HALF_PI, HALF_PI, -HALF_PI, -HALF_PI, 0.0};
    memcpy(sample.q, home, sizeof home);
    sample.request = UR_REQUEST_ACTIVATE;
    sample.simulated = 1; /* a real arm: 0, and hand_guiding needs sample.enable, with a new sample.enable_id each time */
    for (int cycle = 0; cycle < 1000; cycle++) {
        sample.dt = 0.002;
        sample.stamp_ns += 2000000;
        sample.wrench[1] = 10.0 * sin(0.01 * cycle); /* your force sensor [N, Nm] */
        ur_tick(&params, &state, &sample, &command);
        sample.request = UR_REQUEST_NONE;
        memcpy(sample.q, command.q, sizeof sample.q); /* your arm: command.q goes there, measured angles come back */
        memcpy(sample.qd, command.qd, sizeof sample.qd);
        if (command.mode == UR_MODE_FAULT) return fprintf(stderr, "status %d\n", (int)command.status), 1;
        if (cycle % 100 == 99)
            printf("%.17g m  %.17g m  %.17g m/s\n", command.p_tcp[0], command.p_tcp[2], command.twist[0]);
    }
    return 0;
}
