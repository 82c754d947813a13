// LD_PRELOAD: every call of the tick into the file $TICK_LOG: whose STATE it was, whether that is a new one (then it
// follows), the time the call took [ns]; PARAMS, SAMPLE, COMMAND. It may wait for the disk: only for tests.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ur_admittance.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void ur_tick(ur_params *p, ur_state *s, ur_sample *u, ur_command *c) {
    static void (*tick)(ur_params *, ur_state *, ur_sample *, ur_command *);
    static FILE *log;
    if (!tick) tick = (void (*)(ur_params *, ur_state *, ur_sample *, ur_command *))dlsym(dlopen("libur_admittance.so", RTLD_LAZY | RTLD_NOLOAD), "ur_tick");
    if (!log && getenv("TICK_LOG")) log = fopen(getenv("TICK_LOG"), "wb");
    static _Thread_local ur_state before;
    if (s->ticks == 0) before = *s;
    const int64_t state = (int64_t)(size_t)s, fresh = s->ticks == 0, begin = now();
    tick(p, s, u, c);
    const int64_t took = now() - begin, head[3] = {state, fresh, took};
    if (!log) return;
    flockfile(log);
    fwrite(head, sizeof head, 1, log);
    if (fresh) fwrite(&before, sizeof before, 1, log);
    fwrite(p, sizeof *p, 1, log);
    fwrite(u, sizeof *u, 1, log);
    fwrite(c, sizeof *c, 1, log);
    funlockfile(log);
}
