// The tick of the controller written against KDL and Eigen, as a peer to measure against.
//
// Same steps and same numbers as core/tick.py: check, condition the wrench, admittance law, command twist and limits,
// inverse kinematics (ChainIkSolverVel_wdls, default settings), feedback of saturation, integration of the joints.
// What it leaves out is cheap to it: parameters and memory are not checked on every tick, there is no target pose,
// no velocity bias, and a bound that has shrunk meanwhile is met at once.
//
// stdin:  lines "name values...", then "begin", then a line with a number of ticks for each round.
// stdout: per round one line with the duration of every tick [ns] and one with the last twist and joint positions.
// Every round starts afresh with the arm at rest; the arm is a perfect servo (measured = last command).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolvervel_wdls.hpp>
#include <kdl/jntarray.hpp>

using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Clock = std::chrono::steady_clock;

constexpr double kLongestPeriod = 0.1;  // [s]
constexpr double kWallBraking = 0.6, kWallRate = 20.0, kBraking = 0.9;  // as in core/cartesian.py, core/inverse.py
constexpr double kSlack = 0.02, kLead = 0.1, kResyncTime = 0.5;         // as in core/tick.py
constexpr double kQuiet = 0.2;                                          // as in core/law.py

enum class Status { kOk, kBadPeriod, kNotFinite, kStale, kOverForce, kPoseError, kIkFailed };

struct Parameters {
  KDL::Chain chain;
  Vector6 lower, upper, velocity, acceleration;
  KDL::Rotation R_tcp_sensor;
  KDL::Vector p_tcp_sensor, tool_weight_base, tool_com;
  double sensor_sign, filter_cutoff_hz, deadband_force, deadband_torque;
  Vector6 sensor_bias, deadband_axis, mass, damping, stiffness, enabled, desired_wrench, tracking_gain;
  double engagement_time, drift_reset_threshold;
  double max_velocity[2], max_acceleration[2], desired_wrench_rate[2];
  Vector3 workspace_min, workspace_max;
  double max_force, max_torque, max_position_error, max_orientation_error, joint_timeout, wrench_timeout;
};

struct Sample {
  double dt, joint_age, wrench_age;
  KDL::JntArray q{6}, qd{6};
  Vector6 wrench, reference_twist;
};

double braking_speed(double distance, double deceleration, double dt) {
  if (distance <= 0.0) return 0.0;
  const double half = 0.5 * deceleration * dt;
  return std::sqrt(half * half + 2.0 * deceleration * distance) - half;
}

double soft(double value, double threshold) {
  return std::copysign(std::max(std::abs(value) - threshold, 0.0), value);
}

bool limit_change(Eigen::Ref<Vector3> v, const Eigen::Ref<const Vector3>& v_prev, double largest) {
  const double change = (v - v_prev).norm();
  if (change <= largest) return false;
  v = v_prev + largest / change * (v - v_prev);
  return true;
}

// Exact step of M a + D v + K x = f with f held over dt.
void exact_step(double& x, double& v, double m, double d, double k, double f, double dt) {
  if (k == 0.0) {
    const double z = d / m * dt;
    const double h1 = z < 1e-5 ? 1.0 - 0.5 * z : -std::expm1(-z) / z;
    const double h2 = z < 1e-5 ? 0.5 - z / 6.0 : (1.0 - h1) / z;
    x += dt * (v * h1 + f / m * dt * h2);
    v = v * (1.0 - z * h1) + f / m * dt * h1;
    return;
  }
  const double a = 0.5 * d / m, w2 = k / m - a * a;
  double ec, es;
  if (w2 > 0.0) {
    const double w = std::sqrt(w2), e = std::exp(-a * dt);
    ec = e * std::cos(w * dt);
    es = e * std::sin(w * dt) / w;
  } else {
    const double w = std::sqrt(std::max(-w2, 1e-16));
    const double slow = std::exp((w - a) * dt), fast = std::exp(-(a + w) * dt);
    ec = 0.5 * (slow + fast);
    es = 0.5 * (slow - fast) / w;
  }
  const double rest = f / k, y = x - rest;
  x = rest + y * (ec + a * es) + v * es;
  v = v * (ec - a * es) - y * (k / m) * es;
}

class Controller {
 public:
  explicit Controller(const Parameters& parameters) : p_(parameters), fk_(p_.chain), ik_(p_.chain) {}

  void activate(const KDL::JntArray& q) {
    q_command = q;
    KDL::SetToZero(qd_command);
    fk_.JntToCart(q, reference_);
    twist.setZero();
    offset_.setZero();
    rate_.setZero();
    desired_wrench_.setZero();
    stiffness_.setZero();
    ramp_ = quiet_time_ = 0.0;
    filter_ready_ = false;
  }

  Status tick(const Sample& u) {
    const Status checked = check(u);
    if (checked != Status::kOk) return stop(checked, u.dt);
    fk_.JntToCart(u.q, measured_);
    if (!condition_wrench(u)) return stop(Status::kOverForce, u.dt);
    ramp_parameters(u.dt);
    const bool silent = deadband();

    Vector6 x_next = offset_, v_next = rate_, law = Vector6::Zero();
    for (int i = 0; i < 6; ++i) {
      if (p_.enabled[i] == 0.0) {
        x_next[i] = v_next[i] = 0.0;
        continue;
      }
      const double f = wrench_[i] - desired_wrench_[i];
      exact_step(x_next[i], v_next[i], p_.mass[i], p_.damping[i], stiffness_[i], f, u.dt);
      law[i] = (x_next[i] - offset_[i]) / u.dt;
    }

    const KDL::Twist error = KDL::diff(measured_, commanded_pose());
    if (error.vel.Norm() > p_.max_position_error || error.rot.Norm() > p_.max_orientation_error)
      return stop(Status::kPoseError, u.dt);
    Vector6 wanted;
    for (int i = 0; i < 6; ++i) wanted[i] = u.reference_twist[i] + law[i] + p_.tracking_gain[i] * error(i);
    Vector6 V = wanted;
    for (int i = 0; i < 6; ++i) q_middle_(i) = q_command(i) + 0.5 * u.dt * qd_command(i);
    fk_.JntToCart(q_middle_, middle_);
    limit_twist(V, u.dt);

    KDL::Twist wished;
    for (int i = 0; i < 6; ++i) wished[i] = V[i];
    if (ik_.CartToJnt(q_middle_, wished, qd_) < 0) return stop(Status::kIkFailed, u.dt);
    const double scale = fit_into_bounds(V, u.dt);
    const Vector6 realised = scale * V;

    feed_back(u, law, wanted, realised, x_next, v_next);
    hold_when_quiet(u, silent);
    twist = realised;
    move_joints(u);
    return Status::kOk;
  }

  KDL::JntArray q_command{6}, qd_command{6};
  Vector6 twist;

 private:
  Status check(const Sample& u) const {
    if (!(u.dt > 0.0 && u.dt <= kLongestPeriod)) return Status::kBadPeriod;
    if (!u.q.data.allFinite() || !u.qd.data.allFinite() || !u.wrench.allFinite() || !u.reference_twist.allFinite())
      return Status::kNotFinite;
    if (u.joint_age > p_.joint_timeout || u.wrench_age > p_.wrench_timeout) return Status::kStale;
    return Status::kOk;
  }

  // Raw wrench -> minus bias and weight -> low-pass -> about the TCP, base axes. False: too large.
  bool condition_wrench(const Sample& u) {
    const KDL::Rotation R_base_sensor = measured_.M * p_.R_tcp_sensor;
    const KDL::Vector load = R_base_sensor.Inverse(p_.tool_weight_base);
    const KDL::Wrench weight(load, p_.tool_com * load);
    KDL::Wrench raw;
    for (int i = 0; i < 6; ++i) raw[i] = p_.sensor_sign * u.wrench[i] - p_.sensor_bias[i];
    const KDL::Wrench net = raw - weight;
    const double weight_of_new = filter_ready_ ? -std::expm1(-2.0 * M_PI * p_.filter_cutoff_hz * u.dt) : 1.0;
    filtered_ = filter_ready_ ? filtered_ + weight_of_new * (net - filtered_) : net;
    filter_ready_ = true;
    const KDL::Wrench at_tcp = net.RefPoint(-p_.R_tcp_sensor.Inverse(p_.p_tcp_sensor));
    if (at_tcp.force.Norm() > p_.max_force || at_tcp.torque.Norm() > p_.max_torque) return false;
    const KDL::Wrench moved = (R_base_sensor * filtered_).RefPoint(-(measured_.M * p_.p_tcp_sensor));
    for (int i = 0; i < 6; ++i) wrench_[i] = moved[i];
    return true;
  }

  bool deadband() {
    for (int part = 0; part < 2; ++part) {
      auto w = wrench_.segment<3>(3 * part);
      const double threshold = part == 0 ? p_.deadband_force : p_.deadband_torque, size = w.norm();
      w *= size > threshold ? 1.0 - threshold / size : 0.0;
    }
    for (int i = 0; i < 6; ++i) wrench_[i] = soft(wrench_[i], p_.deadband_axis[i]);
    return wrench_.isZero(0.0);
  }

  void ramp_parameters(double dt) {
    if (ramp_ < 1.0) {
      ramp_ = p_.engagement_time > 0.0 ? std::min(1.0, ramp_ + dt / p_.engagement_time) : 1.0;
      stiffness_ = ramp_ * p_.stiffness;
    }
    for (int part = 0; part < 2; ++part) {
      const Vector3 change = p_.desired_wrench.segment<3>(3 * part) - desired_wrench_.segment<3>(3 * part);
      const double size = change.norm(), most = p_.desired_wrench_rate[part] * dt;
      desired_wrench_.segment<3>(3 * part) += (size > most ? most / size : 1.0) * change;
    }
  }

  KDL::Rotation offset_rotation() const {
    const KDL::Vector r(offset_[3], offset_[4], offset_[5]);
    const double angle = r.Norm();
    return angle > 0.0 ? KDL::Rotation::Rot2(r / angle, angle) : KDL::Rotation::Identity();
  }

  KDL::Frame commanded_pose() const {
    return {offset_rotation() * reference_.M, reference_.p + KDL::Vector(offset_[0], offset_[1], offset_[2])};
  }

  // Acceleration, walls, speed; linear and angular parts separately.
  void limit_twist(Vector6& V, double dt) {
    for (int part = 0; part < 2; ++part) {
      auto v = V.segment<3>(3 * part);
      const auto v_prev = twist.segment<3>(3 * part);
      const double a = p_.max_acceleration[part];
      limit_change(v, v_prev, a * dt);
      if (part == 0) stop_at_walls(V, dt);
      const double speed = v.norm();
      if (speed > p_.max_velocity[part]) v *= p_.max_velocity[part] / speed;
      limit_change(v, v_prev, a * dt);
    }
  }

  void stop_at_walls(Vector6& V, double dt) {
    const double a = kWallBraking * p_.max_acceleration[0];
    for (int i = 0; i < 3; ++i) {
      const double above = p_.workspace_max[i] - std::max(middle_.p(i), measured_.p(i));
      const double below = std::min(middle_.p(i), measured_.p(i)) - p_.workspace_min[i];
      const double up = std::min(braking_speed(above, a, dt), kWallRate * std::max(above, 0.0));
      const double down = std::min(braking_speed(below, a, dt), kWallRate * std::max(below, 0.0));
      V[i] = std::min(V[i], std::max(up, twist[i] - a * dt));
      V[i] = std::max(V[i], -std::max(down, -twist[i] - a * dt));
    }
  }

  // Shortens the whole joint velocity so that velocity, acceleration and braking distance hold.
  double fit_into_bounds(const Vector6& V, double dt) {
    Vector6 low, high;
    double rate = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 6; ++i) {
      const double a = p_.acceleration[i];
      const double up = std::min(p_.velocity[i], braking_speed(p_.upper[i] - q_command(i), a, dt));
      const double down = -std::min(p_.velocity[i], braking_speed(q_command(i) - p_.lower[i], a, dt));
      const double slowest = qd_command(i) - a * dt, fastest = qd_command(i) + a * dt;
      high[i] = std::min(std::max(up, slowest), fastest);
      low[i] = std::min(std::max(down, slowest), fastest);
      if (qd_(i) != 0.0) rate = std::min(rate, kBraking * a / std::abs(qd_(i)));
    }
    for (int part = 0; part < 2; ++part) {
      const double speed = V.segment<3>(3 * part).norm();
      if (speed > 0.0) rate = std::min(rate, p_.max_acceleration[part] / speed);
    }
    double least = 0.0, most = 1.0;
    for (int i = 0; i < 6; ++i) {
      const double qd = qd_(i), speed = std::abs(qd);
      if (qd == 0.0) continue;
      const double room = qd > 0.0 ? p_.upper[i] - q_command(i) : q_command(i) - p_.lower[i];
      most = std::min(most, braking_speed(room, rate * speed, dt) / speed);
      most = std::min(most, (qd > 0.0 ? high[i] : low[i]) / qd);
      least = std::max(least, (qd > 0.0 ? low[i] : high[i]) / qd);
    }
    const double scale = std::min(std::max(least > most ? 0.5 * (least + most) : most, 0.0), 1.0);
    for (int i = 0; i < 6; ++i) qd_(i) = std::min(std::max(scale * qd_(i), low[i]), high[i]);
    return scale;
  }

  // Law and reference each bear what was not realised in proportion to their size (no wind-up).
  void feed_back(const Sample& u, const Vector6& law, const Vector6& wanted, const Vector6& realised, Vector6 x,
                 Vector6 v) {
    Vector6 lost_law, moved = u.reference_twist;
    for (int part = 0; part < 2; ++part) {
      const int k = 3 * part;
      const double of_law = law.segment<3>(k).norm(), of_reference = u.reference_twist.segment<3>(k).norm();
      const double of_tracking = (wanted - law - u.reference_twist).segment<3>(k).norm();
      const double total = of_law + of_reference + of_tracking;
      const Vector3 deficit = total > 0.0 ? Vector3((realised - wanted).segment<3>(k) / total) : Vector3(Vector3::Zero());
      lost_law.segment<3>(k) = of_law * deficit;
      moved.segment<3>(k) += of_reference * deficit;
    }
    for (int i = 0; i < 6; ++i) {
      x[i] += lost_law[i] * u.dt;
      v[i] += lost_law[i];
      if (stiffness_[i] == 0.0) {  // a free axis keeps no offset
        moved[i] += x[i] / u.dt;
        x[i] = 0.0;
      }
    }
    offset_ = x;
    rate_ = v;
    reference_.p += u.dt * KDL::Vector(moved[0], moved[1], moved[2]);
    const KDL::Vector turn = u.dt * KDL::Vector(moved[3], moved[4], moved[5]);
    const double angle = turn.Norm();
    if (angle > 0.0) reference_.M = KDL::Rotation::Rot2(turn / angle, angle) * reference_.M;
  }

  void hold_when_quiet(const Sample& u, bool silent) {
    const bool moving = rate_.cwiseAbs().maxCoeff() > p_.drift_reset_threshold || !u.reference_twist.isZero(0.0);
    quiet_time_ = silent && !moving ? quiet_time_ + u.dt : 0.0;
    if (quiet_time_ < kQuiet) return;
    rate_.setZero();
    reference_ = measured_;
  }

  void move_joints(const Sample& u) {
    for (int i = 0; i < 6; ++i) {
      qd_command(i) = qd_(i);
      q_command(i) += qd_(i) * u.dt;
      const double lead = q_command(i) - u.q(i);
      const double excess = std::abs(lead) - kSlack - kLead * std::abs(qd_(i));
      if (excess > 0.0) q_command(i) -= std::copysign(excess * u.dt / kResyncTime, lead);
      q_command(i) = std::min(std::max(q_command(i), p_.lower[i]), p_.upper[i]);
    }
  }

  // Every fault brakes along the present direction inside the joint acceleration.
  Status stop(Status status, double dt) {
    double keep = 1.0;
    for (int i = 0; i < 6; ++i)
      if (qd_command(i) != 0.0)
        keep = std::min(keep, std::max(0.0, 1.0 - kBraking * p_.acceleration[i] * dt / std::abs(qd_command(i))));
    for (int i = 0; i < 6; ++i) {
      qd_command(i) *= keep;
      q_command(i) += qd_command(i) * dt;
    }
    twist *= keep;
    return status;
  }

  Parameters p_;
  KDL::ChainFkSolverPos_recursive fk_;
  KDL::ChainIkSolverVel_wdls ik_;
  KDL::Frame measured_, middle_, reference_;
  KDL::JntArray q_middle_{6}, qd_{6};
  KDL::Wrench filtered_;
  Vector6 wrench_, offset_, rate_, stiffness_, desired_wrench_;
  double ramp_ = 0.0, quiet_time_ = 0.0;
  bool filter_ready_ = false;
};

using Values = std::map<std::string, std::vector<double>>;

KDL::Vector vector(const std::vector<double>& v, int k = 0) { return {v.at(k), v.at(k + 1), v.at(k + 2)}; }

KDL::Rotation rotation(const std::vector<double>& v, int k = 0) {
  return {v.at(k), v.at(k + 1), v.at(k + 2), v.at(k + 3), v.at(k + 4), v.at(k + 5), v.at(k + 6), v.at(k + 7), v.at(k + 8)};
}

Parameters parameters(const Values& in) {
  const auto six = [&](const char* name) { return Vector6(in.at(name).data()); };
  const auto three = [&](const char* name) { return Vector3(in.at(name).data()); };
  const auto one = [&](const char* name) { return in.at(name).at(0); };
  const auto two = [&](const char* name, double* out) { std::copy_n(in.at(name).begin(), 2, out); };
  Parameters p;
  for (int i = 0; i < 7; ++i) {  // T = X0 Rz(q0) X1 ... Rz(q5) X6
    const KDL::Frame X(rotation(in.at("chain_rotation"), 9 * i), vector(in.at("chain_position"), 3 * i));
    p.chain.addSegment(KDL::Segment(KDL::Joint(i == 0 ? KDL::Joint::None : KDL::Joint::RotZ), X));
  }
  p.lower = six("joint_lower"), p.upper = six("joint_upper");
  p.velocity = six("joint_velocity"), p.acceleration = six("joint_acceleration");
  p.R_tcp_sensor = rotation(in.at("R_tcp_sensor")), p.p_tcp_sensor = vector(in.at("p_tcp_sensor"));
  p.tool_weight_base = vector(in.at("tool_weight_base")), p.tool_com = vector(in.at("tool_com"));
  p.sensor_sign = one("sensor_sign"), p.sensor_bias = six("sensor_bias");
  p.filter_cutoff_hz = one("filter_cutoff_hz");
  p.deadband_force = one("deadband_force"), p.deadband_torque = one("deadband_torque");
  p.deadband_axis = six("deadband_axis");
  p.mass = six("mass"), p.damping = six("damping"), p.stiffness = six("stiffness"), p.enabled = six("enabled");
  p.desired_wrench = six("desired_wrench"), two("desired_wrench_rate", p.desired_wrench_rate);
  p.tracking_gain = six("tracking_gain");
  p.engagement_time = one("engagement_time"), p.drift_reset_threshold = one("drift_reset_threshold");
  two("max_velocity", p.max_velocity), two("max_acceleration", p.max_acceleration);
  p.workspace_min = three("workspace_min"), p.workspace_max = three("workspace_max");
  p.max_force = one("max_force"), p.max_torque = one("max_torque");
  p.max_position_error = one("max_position_error"), p.max_orientation_error = one("max_orientation_error");
  p.joint_timeout = one("joint_state_timeout"), p.wrench_timeout = one("wrench_timeout");
  return p;
}

double nanoseconds(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double, std::nano>(b - a).count();
}

double clock_cost() {
  std::vector<double> costs(20001);
  for (double& cost : costs) {
    const auto begin = Clock::now();
    cost = nanoseconds(begin, Clock::now());
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

int main() {
  Values in;
  std::string line;
  while (std::getline(std::cin, line) && line != "begin") {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    while (words >> word) in[name].push_back(std::stod(word));  // stod knows inf
  }
  const std::vector<double>& pushes = in.at("wrench");
  const size_t rows = pushes.size() / 6;
  Controller controller(parameters(in));
  Sample u;
  u.dt = in.at("dt").at(0);
  u.joint_age = u.wrench_age = 0.0;
  u.reference_twist.setZero();

  size_t ticks;
  std::vector<double> durations;
  while (std::cin >> ticks) {
    for (int i = 0; i < 6; ++i) u.q(i) = in.at("q").at(i);
    controller.activate(u.q);
    durations.resize(ticks);
    const double cost = clock_cost();
    for (size_t k = 0; k < ticks; ++k) {
      u.q = controller.q_command;
      u.qd = controller.qd_command;
      u.wrench = Vector6(&pushes[6 * (k % rows)]);
      const auto begin = Clock::now();
      const Status status = controller.tick(u);
      const auto end = Clock::now();
      durations[k] = nanoseconds(begin, end) - cost;
      if (status != Status::kOk) {
        std::cerr << "the C++ tick stopped with status " << static_cast<int>(status) << " at tick " << k << "\n";
        return 1;
      }
    }
    for (const double duration : durations) std::printf("%.0f ", duration);
    std::printf("\n");
    for (int i = 0; i < 6; ++i) std::printf("%.12g ", controller.twist[i]);
    for (int i = 0; i < 6; ++i) std::printf("%.12g ", controller.q_command(i));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
