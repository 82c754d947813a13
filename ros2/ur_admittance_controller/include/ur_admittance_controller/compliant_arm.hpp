// The four records of the tick, and what stands around the tick in the Python form: a sample, requests, references.
// Nothing here knows ROS. Units are SI; six-vectors are linear first.

#pragma once

#include <ur_admittance.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

namespace ur_admittance_controller
{
// The same numbers as in Python, where their reasons are
constexpr double kLongestPeriod = 0.1;     // [s] runtime/interfaces.py MAX_PERIOD_S
constexpr double kSmallestScaling = 0.01;  // robots/rtde/rtde_robot.py SMALLEST_SCALING
constexpr double kPause = 3.0;             // periods, robots/ros/command_path.py PAUSE
constexpr double kSilence = 0.05;          // [s] robots/ros/guard.py SILENCE_S
constexpr double kReferenceTimeout = 0.1;  // [s] control/references.py REFERENCE_TIMEOUT
constexpr double kSeen = 0.5;              // [s] core/wrench/rest.py SEEN
constexpr double kActivationTime = 1.0;    // [s] kSeen, and control/controller.py ACTIVATION_TIME

inline std::string sentence(std::int64_t status, const double * evidence)
{
  char text[400];
  ur_sentence(text, sizeof text, status, evidence);
  return text;
}

// Why these parameters are not for a controller that is updated at `rate` [Hz]; empty: they are.
inline std::string problem_of(const ur_params & given, double rate)
{
  struct Trial
  {
    ur_params params;
    ur_state state;
    ur_sample sample;
    ur_command command;
  };
  auto trial = std::make_unique<Trial>();  // zeros
  trial->params = given;
  trial->sample.dt = 1.0 / rate;
  ur_tick(&trial->params, &trial->state, &trial->sample, &trial->command);
  const auto & c = trial->command;
  if (c.status == UR_STATUS_BAD_PARAMS) return sentence(c.status, c.evidence);
  if (!(std::abs(given.period * rate - 1.0) < 0.01)) {
    return "the parameters are for control_rate = " + std::to_string(std::lround(1.0 / given.period)) +
           " Hz, but this controller is updated at " + std::to_string(std::lround(rate)) + " Hz";
  }
  if (given.enable_needed != UR_ENABLE_NONE) {
    return "guiding.enable needs an enabling signal, which this controller does not read; set it to none, and use the "
           "robot's own enabling device";
  }
  return given.second.on ? "second.source names a second force sensor, which this controller does not read" : "";
}

// Why an arm with parameters `now` must not get `then`; empty: it may. A complying arm would feel another zero, tool or
// deadband as a push that nobody gives (control/live_checks.py, which knows the reading and refuses less).
inline std::string problem_of_change(const ur_params & now, const ur_params & then, bool complies)
{
  const auto same = [](const auto & a, const auto & b) {return std::memcmp(&a, &b, sizeof a) == 0;};
  const std::size_t joints = 6 * sizeof now.chain_rotation[0];
  if (
    std::memcmp(now.chain_rotation, then.chain_rotation, joints) != 0 || !same(now.arm_velocity, then.arm_velocity) ||
    std::memcmp(now.chain_position, then.chain_position, 6 * sizeof now.chain_position[0]) != 0) {
    return "the parameters are for another arm; cleanup and configure the controller for that";
  }
  const bool silent =
    same(now.sensor_sign, then.sensor_sign) && same(now.sensor_bias, then.sensor_bias) &&
    same(now.tool_weight_base, then.tool_weight_base) && same(now.tool_com, then.tool_com) &&
    same(now.R_tcp_sensor, then.R_tcp_sensor) && same(now.p_tcp_sensor, then.p_tcp_sensor) &&
    same(now.chain_rotation, then.chain_rotation) && same(now.chain_position, then.chain_position) &&
    same(now.enabled, then.enabled) && same(now.force_axes, then.force_axes) &&
    then.deadband_force >= now.deadband_force && then.deadband_torque >= now.deadband_torque;
  return silent || !complies ? "" : "zero, tool, TCP, axes, or a lower deadband change only while the arm does not comply";
}

class CompliantArm
{
public:
  ur_sample sample{};  // q, qd, wrench: to be filled before each cycle, and their ages

  // by_speeds: the robot is sent joint speeds, otherwise angles.
  void configure(const ur_params & params, bool by_speeds)
  {
    params_ = params;
    params_.revision = params_.second.revision = 1;
    state_ = {};
    sample = {};
    sample.speed_driven = by_speeds;
    sample.drive.carries_on = 1;  // commands stay near the arm and near each other (core/motion/sending.py)
    sample.drive.patience = by_speeds ? kSilence : std::numeric_limits<double>::infinity();
    begin();
  }

  // Somebody else may have moved the arm: the command starts where it is. A fault stays.
  void begin()
  {
    const auto mode = state_.mode, status = state_.status;
    double evidence[5];
    std::copy_n(state_.evidence, 5, evidence);
    std::memset(&state_, 0, sizeof state_);
    command_ = {};
    if (mode == UR_MODE_FAULT) {
      state_.mode = mode;
      state_.status = status;
      std::copy_n(evidence, 5, state_.evidence);
    }
    for (auto * unread : {sample.q, sample.qd, sample.wrench}) std::fill_n(unread, 6, std::nan(""));
    request_ = UR_REQUEST_NONE;
    activation_left_ = 0.0;
    let_go();
  }

  void replace(const ur_params & params)
  {
    const auto revision = params_.revision;
    params_ = params;
    params_.revision = revision + 1;  // from which the tick sees that it must ramp
    params_.second.revision = 1;
  }

  // Once the arm was seen at rest; what presses on it then is felt slowly. accept_load: even if nothing explains it.
  void comply(bool accept_load)
  {
    activation_ = UR_REQUEST_ACTIVATE | UR_REQUEST_RAMP_LOAD | (accept_load ? UR_REQUEST_ACCEPT_LOAD : 0);
    activation_left_ = kActivationTime;
  }
  void stop()  // brakes inside the limits, then holds
  {
    activation_left_ = 0.0;
    request_ |= UR_REQUEST_DEACTIVATE;
  }
  void reset_fault() { request_ |= UR_REQUEST_RESET_FAULT; }

  // What a leader has written since the last cycle: twist of the reference, base axes; wrench on the tool, control axes.
  // One that is not renewed ends after kReferenceTimeout.
  void lead(const double * twist, const double * wrench)
  {
    if (written(twist, sample.reference_twist)) {
      sample.twist_id = ++renewed_;
      sample.twist_valid_for = kReferenceTimeout;
    }
    if (written(wrench, sample.reference_wrench)) {
      sample.wrench_id = ++renewed_;
      sample.wrench_valid_for = kReferenceTimeout;
    }
  }
  void let_go()
  {
    std::fill_n(sample.reference_twist, 6, 0.0);
    std::fill_n(sample.reference_wrench, 6, 0.0);
    sample.twist_id = sample.wrench_id = 0;
  }

  // period: since the last cycle [s]; scaling: of time, by the robot's speed slider: 1, or 0 while it is paused.
  const ur_command & cycle(std::int64_t stamp_ns, double period, double scaling)
  {
    sample.stamp_ns = stamp_ns;
    sample.dt = period * (scaling > kSmallestScaling ? std::min(scaling, 1.0) : kSmallestScaling);
    sample.drive.period = params_.period;
    // Angles are held in a pause: what follows goes on from there, one cycle at a time.
    const bool held = !sample.speed_driven && period > kPause * params_.period;
    sample.drive.elapsed = held ? params_.period : period;
    sample.external_status = scaling > 0.0 ? UR_STATUS_OK : UR_STATUS_COMMAND_REJECTED;
    if (period > kLongestPeriod) {
      sample.dt = params_.period;  // the arm held its last command meanwhile: it brakes in steps of a normal size
      sample.external_status = UR_STATUS_LOOP_OVERRUN;
    }
    sample.request = request_;
    request_ = UR_REQUEST_NONE;
    if (activation_left_ > 0.0) {
      activation_left_ -= std::max(sample.dt, 0.0);
      if (state_.rest_time >= kSeen) sample.request |= activation_;
    }
    ur_tick(&params_, &state_, &sample, &command_);
    if (state_.mode != UR_MODE_INACTIVE) activation_left_ = 0.0;
    return command_;
  }

  bool has_command() const { return state_.has_command != 0; }  // false: nothing was measured yet, command is not to be sent
  const ur_command & command() const { return command_; }

private:
  // NaN: that one was not written; all six: nobody leads.
  static bool written(const double * values, double * to)
  {
    if (std::all_of(values, values + 6, [](double v) {return std::isnan(v);})) return false;
    std::transform(values, values + 6, to, [](double v) {return std::isnan(v) ? 0.0 : v;});
    return true;
  }

  ur_params params_{};
  ur_state state_{};
  ur_command command_{};
  std::int64_t request_ = 0, activation_ = 0, renewed_ = 0;
  double activation_left_ = 0.0;  // [s] of the tick's time
};
}  // namespace ur_admittance_controller
