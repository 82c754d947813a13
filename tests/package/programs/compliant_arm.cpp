// A perfect arm in the hands of the ROS 2 controller's C++ part. Words on stdin say what happens, 'run' lets cycles pass;
// out come SAMPLE and COMMAND of each, and whether it is to be sent.

#include <iostream>
#include <ur_admittance_controller/compliant_arm.hpp>

using namespace ur_admittance_controller;

int main(int count, char ** words)
{
  const auto params = std::make_unique<ur_params>();
  const auto arm = std::make_unique<CompliantArm>();
  if (const char * problem = ur_read_params(params.get(), count > 2 ? words[1] : "")) return std::cerr << problem, 1;
  if (const auto problem = problem_of(*params, 500.0); !problem.empty()) return std::cerr << problem, 1;
  arm->configure(*params, std::string(words[2]) == "velocity");
  double q[6] = {0.0, -1.57, 1.57, -1.57, -1.57, 0.0}, qd[6] = {}, wrench[6] = {}, twist[6], pressed[6];
  double period = 0.002, scaling = 1.0;
  std::int64_t now = 0;
  std::string word;
  while (std::cin >> word) {
    double value = 0.0;
    if (word == "comply") arm->comply(false);
    else if (word == "stop") arm->stop();
    else if (word == "reset") arm->reset_fault();
    else if (word == "begin") arm->begin();
    else if (word == "let_go") arm->let_go();
    else if (std::string text; std::cin >> text) value = std::stod(text);
    std::fill_n(twist, 6, std::nan(""));
    std::fill_n(pressed, 6, std::nan(""));
    if (word == "force") wrench[1] = value;
    if (word == "period") period = value;
    if (word == "scaling") scaling = value;
    if (word == "twist") twist[1] = value, arm->lead(twist, pressed);
    if (word == "press") pressed[2] = value, arm->lead(twist, pressed);
    for (int i = 0; word == "run" && i < value; i++) {
      now += std::int64_t(1e9 * period);
      std::copy_n(q, 6, arm->sample.q);
      std::copy_n(qd, 6, arm->sample.qd);
      std::copy_n(wrench, 6, arm->sample.wrench);
      const auto & c = arm->cycle(now, period, scaling);
      const std::int64_t sent = arm->has_command();
      if (sent) std::copy_n(c.q, 6, q), std::copy_n(c.qd, 6, qd);
      std::cout.write(reinterpret_cast<const char *>(&arm->sample), sizeof arm->sample);
      std::cout.write(reinterpret_cast<const char *>(&c), sizeof c);
      std::cout.write(reinterpret_cast<const char *>(&sent), sizeof sent);
    }
  }
}
