/* failing CYCLE    In place of the compiled kernels: a tick that moves the arm, and in this cycle does what no kernel may do. The functions
   around it, calls.c and error_path.c, are those of the library. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ur_admittance.h>

#define PERIOD 0.002 /* [s] */
#define SPEED 0.5 /* [rad/s] of joint 0; joint 1 has half of it */
#define ACCELERATION 10.0 /* [rad/s2] */

static int fails_in;
void *PyErr_SetString(void); /* a stub in calls.c */

void compiled_ur_tick(ur_params *p, ur_state *s, ur_sample *u, ur_command *c) {
    (void)p;
    if (s->ticks == 0) memcpy(c->q, u->q, sizeof c->q);
    s->period = PERIOD;
    c->mode = UR_MODE_ACTIVE;
    for (int i = 0; i < 2; i++) c->qd[i] = SPEED / (1 + i), c->q[i] += c->qd[i] * PERIOD;
    if (++s->ticks == fails_in) {
        for (int i = 0; i < 6; i++) c->q[i] = c->qd[i] = NAN; /* half a result */
        PyErr_SetString();
    }
}

int main(int count, char **words) {
    fails_in = count > 1 ? atoi(words[1]) : 1;
    static ur_params params;
    static ur_state state;
    static ur_sample sample;
    static ur_command command;
    for (int i = 0; i < 6; i++) params.joint_acceleration[i] = ACCELERATION, sample.q[i] = 1.0 + i;
    for (int cycle = 1; cycle <= 100; cycle++) {
        if (cycle == 60) memset(&state, 0, sizeof state); /* a program that tries to begin anew */
        ur_tick(&params, &state, &sample, &command);
        printf("%d %d %.17g %.17g %.17g %.17g\n", (int)command.mode, (int)command.status, command.q[0], command.qd[0],
               command.q[1], command.qd[1]);
    }
    return 0;
}
