// The same control loop in C++: CMakeLists.txt builds both.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <ur_admittance.h>

struct Controller {
    ur_params params{};
    ur_state state{};
    ur_sample sample{};
    ur_command command{};
};

int main(int count, char **words) {
    const auto c = std::make_unique<Controller>();
    if (const char *problem = ur_read_params(&c->params, count > 1 ? words[1] : "")) {
        std::fprintf(stderr, "%s\n", problem);
        return 1;
    }
    const double half_pi = std::acos(0.0);
    const double home[] = {0.0, -half_pi, half_pi, -half_pi, -half_pi, 0.0};
    std::copy_n(home, 6, c->sample.q);
    c->sample.request = UR_REQUEST_ACTIVATE;
    c->sample.simulated = 1;  // a real arm: 0, and hand_guiding needs sample.enable, with a new enable_id each time
    for (int cycle = 0; cycle < 1000; cycle++) {
        c->sample.dt = 0.002;
        c->sample.stamp_ns += 2000000;
        c->sample.wrench[1] = 10.0 * std::sin(0.01 * cycle);  // your force sensor [N, Nm]
        ur_tick(&c->params, &c->state, &c->sample, &c->command);
        c->sample.request = UR_REQUEST_NONE;
        std::copy_n(c->command.q, 6, c->sample.q);  // your arm: command.q goes there, measured angles come back
        std::copy_n(c->command.qd, 6, c->sample.qd);
        if (c->command.mode == UR_MODE_FAULT) return 1;
        const double *p = c->command.p_tcp;
        if (cycle % 100 == 99) std::printf("%.17g m  %.17g m  %.17g m/s\n", p[0], p[2], c->command.twist[0]);
    }
}
