/* What a kernel would call if it raised or allocated, which it never does. Should one do so after all, that is said
   once, and it is for ever: from then on the arm brakes and stands (ur_brake, in place of the tick). */

#include "ur_admittance.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define FALLBACK_PERIOD 0.002 /* [s] */

static atomic_int failed;

int ur_failed(void) { return atomic_load_explicit(&failed, memory_order_relaxed); }

void *ur_fail(const char *name) {
    if (!atomic_exchange(&failed, 1))
        fprintf(stderr, "ur_admittance: the controller has failed inside (%s): it stops, and must be started anew\n", name);
    return NULL;
}

/* Of an array that is a view: there is nothing to free. */
void NRT_decref(void *memory) {
    if (memory) ur_fail("NRT_decref");
}

/* Slows each joint down with the acceleration that its limits are planned for, and holds. An angle that was never
   commanded (all are zero) or is not a number is the measured one. */
void ur_brake(ur_params *p, ur_state *s, ur_sample *u, ur_command *c) {
    double period = s->period > 0.0 && s->period < 0.1 ? s->period : FALLBACK_PERIOD;
    int commanded = 0;
    for (int i = 0; i < 6; i++) commanded |= c->q[i] != 0.0;
    for (int i = 0; i < 6; i++) {
        if (!commanded || !isfinite(c->q[i])) c->q[i] = u->q[i];
        double most = p->joint_acceleration[i], qd = isfinite(c->qd[i]) ? c->qd[i] : 0.0;
        if (!(most > 0.0 && isfinite(most))) most = s->last_acceleration[i];
        double speed = most > 0.0 && isfinite(most) ? fmax(0.0, fabs(qd) - most * period) : 0.0;
        c->qd[i] = copysign(speed, qd);
        c->q[i] += c->qd[i] * period;
        s->q_command[i] = c->q[i];
        s->qd_command[i] = c->qd[i];
        s->twist[i] = c->twist[i] = c->rate[i] = 0.0;
    }
    s->ticks++;
    s->stamp_ns = c->stamp_ns = u->stamp_ns;
    s->retreating = 0;
    s->mode = c->mode = UR_MODE_FAULT;
    s->status = c->status = c->hindrance = UR_STATUS_INTERNAL_ERROR;
}
