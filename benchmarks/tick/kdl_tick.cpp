// The tick of the controller in C++ on KDL and Eigen, as a peer to measure against. Functions have the names of core.
//
// Every number comes from Python: the parameters and the constants of core (workload.py). tests/lab/bench compares the
// commands with those of core on the same samples. Kinematics are KDL's, the linear algebra is Eigen's.
//
// Left out, to its advantage: the contact observers; distances of the arm to itself and boxes; the check of parameters
// and memory on every tick; limit flags and smallest singular value, which are only reported; the trail for a retreat.
// Left out and not used by the workload: modes and faults (a bad sample ends the program), target pose, force axes,
// control frames other than the base, regions, travel damping, springs and dampers too fast for the period.
//
// stdin:  lines "name values...", then "begin", then requests, each of which starts afresh with the arm at rest:
//   time <ticks>                           durations of single ticks [ns]
//   batch <ticks> <controllers> <threads>  durations of ticks of all controllers [ns]
//   replay                                 per sample a line with q, qd and twist of the command
// In time and batch the arm is a perfect servo: measured = last command.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <Eigen/Dense>
#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainjnttojacsolver.hpp>
#include <kdl/jntarray.hpp>

#include "quadratic.hpp"

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Clock = std::chrono::steady_clock;
using Values = std::map<std::string, std::vector<double>>;

struct Parameters {
  KDL::Chain chain;
  Vector6 lower, upper, velocity, acceleration;
  Matrix3 R_tcp_sensor;
  Vector3 p_tcp_sensor, tool_weight_base, tool_com;
  double elbow_margin, tool_inertia_mass, response_time;
  double sensor_sign, filter_cutoff_hz, deadband_force, deadband_torque;
  Vector6 sensor_bias, deadband_axis, mass, damping, stiffness, enabled, desired_wrench, tracking_gain;
  double engagement_time, drift_reset_threshold;
  double max_velocity[2], max_acceleration[2], desired_wrench_rate[2];
  Vector3 workspace_min, workspace_max;
  double max_force, max_torque, max_position_error, max_orientation_error, max_following_error, following_time;
  double joint_timeout, wrench_timeout;
};

struct Constants {
  double longest_period, quiet, acceleration_cutoff_hz, braking, planned, far, near_rate, speed, turning, sliding,
      singular, damping, curve, ahead, norm_kept;
  int elbow, cuts;
  Tolerances tolerances;
};

struct Sample {
  double dt = 0.0, joint_age = 0.0, wrench_age = 0.0;
  Vector6 q, qd, wrench, reference_twist = Vector6::Zero();
};

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "the C++ tick stopped: %s\n", why);
  std::exit(1);
}

double smoothing(double cutoff_hz, double dt) { return -std::expm1(-2.0 * M_PI * cutoff_hz * dt); }

double clip(double value, double low, double high) { return std::min(std::max(value, low), high); }

double soft(double value, double threshold) {
  return std::copysign(std::max(std::abs(value) - threshold, 0.0), value);
}

Matrix3 exp_so3(const Vector3& r) {
  const double angle = r.norm();
  return angle > 0.0 ? Eigen::AngleAxisd(angle, r / angle).toRotationMatrix() : Matrix3(Matrix3::Identity());
}

Vector3 log_so3(const Matrix3& R) {
  const Eigen::Quaterniond q(R);
  const double n = q.vec().norm(), w = q.w();
  return n > 0.0 ? Vector3(2.0 * std::atan2(w < 0.0 ? -n : n, std::abs(w)) / n * q.vec()) : Vector3(Vector3::Zero());
}

Vector3 left_jacobian(const Vector3& r, const Vector3& rate) {
  const double t = r.norm(), t2 = t * t;
  const double b = t < 1e-3 ? 0.5 - t2 / 24.0 : (1.0 - std::cos(t)) / t2;
  const double c = t < 1e-3 ? 1.0 / 6.0 - t2 / 120.0 : (t - std::sin(t)) / (t2 * t);
  const Vector3 once = r.cross(rate);
  return rate + b * once + c * r.cross(once);
}

Vector3 left_jacobian_inverse(const Vector3& r, const Vector3& w) {
  const double t = r.norm(), t2 = t * t;
  const double d = t < 1e-2 ? 1.0 / 12.0 + t2 / 720.0 : (1.0 - 0.5 * t / std::tan(0.5 * t)) / t2;
  const Vector3 once = r.cross(w);
  return w - 0.5 * once + d * r.cross(once);
}

void turn(Matrix3& R, const Vector3& step) {
  const Matrix3 turned = exp_so3(step) * R;
  R = turned * (1.5 * Matrix3::Identity() - 0.5 * turned.transpose() * turned);
}

// Exact step of M a + D v + K x = f with f held over dt.
void step(double& x, double& v, double m, double d, double k, double f, double dt) {
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
    const double slow = std::exp(-k / m / (a + w) * dt), fast = std::exp(-(a + w) * dt);
    ec = 0.5 * (slow + fast);
    es = 0.5 * (slow - fast) / w;
  }
  const double rest = f / k, y = x - rest;
  x = rest + y * (ec + a * es) + v * es;
  v = v * (ec - a * es) - y * (k / m) * es;
}

// v := v_prev + (v - v_prev) shortened to `largest`.
void limit_change(Eigen::Ref<Vector3> v, const Eigen::Ref<const Vector3>& v_prev, double largest) {
  const Vector3 change = v - v_prev;
  const double square = change.squaredNorm();
  if (square > largest * largest) v = v_prev + largest / std::sqrt(square) * change;
}

class Controller {
 public:
  Controller(const Parameters& parameters, const Constants& constants)
      : p_(parameters), k_(constants), fk_(p_.chain), jacobian_(p_.chain) {}

  void activate(const Vector6& q) {
    q_command = q;
    qd_command.setZero();
    forward(q, R_ref_, p_ref_);
    twist.setZero();
    offset_.setZero();
    rate_.setZero();
    lag_.setZero();
    recent_speed_.setZero();
    acceleration_.setZero();
    desired_wrench_.setZero();
    stiffness_.setZero();
    ramp_ = quiet_time_ = 0.0;
    filter_ready_ = false;
  }

  void tick(const Sample& u) {
    check_sample(u);
    forward(u.q, R_, p_tcp_);
    observe_lead(u);
    condition(u);
    ramp_parameters(u.dt);
    Vector6 desired = u.reference_twist;
    const Matrix3 E = exp_so3(offset_.tail<3>());
    desired.tail<3>() = E * desired.tail<3>();
    const bool silent = deadband();
    Vector6 x_next, v_next;
    const Vector6 law = law_twist(x_next, v_next, u.dt);
    const Vector6 error = pose_error(E);
    if (error.head<3>().norm() > p_.max_position_error || error.tail<3>().norm() > p_.max_orientation_error)
      fail("the arm does not follow");
    const Vector6 wanted = desired + law + p_.tracking_gain.cwiseProduct(error - lag_);

    Vector6 V = wanted, qd, realised;
    choose(V, qd, realised, u.dt);
    if (!qd.allFinite() || !realised.allFinite()) fail("no joint velocities");
    advance(law, desired, wanted, realised, x_next, v_next, E, u.dt);
    hold_when_quiet(silent, desired, u.dt);
    move_joints(J_, qd, u.dt);
    keep_inside(u);
  }

  Vector6 q_command, qd_command, twist;

 private:
  void check_sample(const Sample& u) const {
    if (!(u.dt > 0.0 && u.dt <= k_.longest_period)) fail("bad period");
    if (!u.q.allFinite() || !u.qd.allFinite() || !u.wrench.allFinite() || !u.reference_twist.allFinite())
      fail("a number that is not finite");
    if (u.joint_age > p_.joint_timeout || u.wrench_age > p_.wrench_timeout) fail("old sample");
  }

  void forward(const Vector6& q, Matrix3& R, Vector3& p) {
    q_.data = q;
    fk_.JntToCart(q_, frame_);
    R = Eigen::Map<const RowMatrix3>(frame_.M.data);
    p = Eigen::Map<const Vector3>(frame_.p.data);
  }

  Matrix6 jacobian_at(const Vector6& q) {
    q_.data = q;
    jacobian_.JntToJac(q_, kdl_jacobian_);
    return kdl_jacobian_.data;
  }

  // 1  Raw wrench -> minus bias, weight and inertia -> low-pass -> about the TCP, base axes.
  void condition(const Sample& u) {
    const Matrix3 R_base_sensor = R_ * p_.R_tcp_sensor;
    const double inertia = std::min(p_.tool_inertia_mass, std::max(0.0, p_.mass.head<3>().minCoeff() - p_.tool_inertia_mass));
    const Vector3 load = R_base_sensor.transpose() * (p_.tool_weight_base - inertia * acceleration_);
    Vector6 net = p_.sensor_sign * u.wrench - p_.sensor_bias;
    net.head<3>() -= load;
    net.tail<3>() -= p_.tool_com.cross(load);
    const Vector3 lever = p_.R_tcp_sensor.transpose() * p_.p_tcp_sensor;
    if (net.head<3>().norm() > p_.max_force || (net.tail<3>() + lever.cross(net.head<3>())).norm() > p_.max_torque)
      fail("too much force");
    if (!filter_ready_) filtered_ = net;
    filter_ready_ = true;
    filtered_ += smoothing(p_.filter_cutoff_hz, u.dt) * (net - filtered_);
    wrench_.head<3>() = R_base_sensor * filtered_.head<3>();
    wrench_.tail<3>() = R_base_sensor * filtered_.tail<3>() + (R_ * p_.p_tcp_sensor).cross(wrench_.head<3>());
  }

  bool deadband() {
    bool silent = true;
    for (int part = 0; part < 2; ++part) {
      auto w = wrench_.segment<3>(3 * part);
      const double threshold = part == 0 ? p_.deadband_force : p_.deadband_torque, size = w.norm();
      w *= size > threshold ? 1.0 - threshold / size : 0.0;
    }
    for (int i = 0; i < 6; ++i) {
      wrench_[i] = soft(wrench_[i], p_.deadband_axis[i]);
      if (wrench_[i] != 0.0 && p_.enabled[i] != 0.0) silent = false;
    }
    return silent;
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

  // 2  M a + D v + K x = F_ext - F_des
  Vector6 law_twist(Vector6& x_next, Vector6& v_next, double dt) const {
    Vector6 mean = Vector6::Zero();
    x_next = offset_;
    v_next = rate_;
    for (int i = 0; i < 6; ++i) {
      if (p_.enabled[i] == 0.0) {
        x_next[i] = v_next[i] = 0.0;
        continue;
      }
      step(x_next[i], v_next[i], p_.mass[i], p_.damping[i], stiffness_[i], wrench_[i] - desired_wrench_[i], dt);
      mean[i] = (x_next[i] - offset_[i]) / dt;
    }
    mean.tail<3>() = left_jacobian(offset_.tail<3>(), mean.tail<3>());
    return mean;
  }

  Vector6 pose_error(const Matrix3& E) const {
    Vector6 error;
    error << p_ref_ + offset_.head<3>() - p_tcp_, log_so3(E * R_ref_ * R_.transpose());
    return error;
  }

  // 3  Bounds: a position is kept by its braking distance, braking all joints together.
  double stopping_time(const Vector6& V, const Vector6& qd) const {
    double longest = qd.cwiseAbs().cwiseQuotient(p_.acceleration).maxCoeff();
    for (int part = 0; part < 2; ++part)
      longest = std::max(longest, V.segment<3>(3 * part).norm() / p_.max_acceleration[part]);
    return longest / k_.braking;
  }

  double stoppable_speed(double room, double speed, double time, double dt) const {
    if (room <= 0.0) return 0.0;
    const double limit = 2.0 * room / (time / k_.planned + 3.0 * dt);
    return std::min(std::sqrt(std::max(speed, 0.25 * limit) * limit), k_.near_rate * room);
  }

  // low and high of each joint speed; the edge of the reach is a row, too.
  void joint_bounds(double time, double dt, Vector6& low, Vector6& high, Rows& rows) const {
    for (int i = 0; i < 6; ++i) {
      const double present = qd_command[i], step = p_.acceleration[i] * dt;
      double up = std::min(stoppable_speed(p_.upper[i] - q_command[i], present, time, dt), top_speed(i, 1.0));
      double down = std::min(stoppable_speed(q_command[i] - p_.lower[i], -present, time, dt), top_speed(i, -1.0));
      if (i == k_.elbow && p_.elbow_margin > 0.0) {
        const double bend = q_command[i], room = std::abs(bend) - p_.elbow_margin;
        const double closing = bend > 0.0 ? -present : present;
        const double straighten = stoppable_speed(room, closing, time, dt);
        double& side = bend > 0.0 ? down : up;
        side = std::min(side, straighten);
        if (straighten < p_.velocity[i]) rows.put_joint(i, bend > 0.0 ? -1.0 : 1.0, std::max(straighten, closing - step));
      }
      high[i] = clip(up, present - step, present + step);
      low[i] = clip(-down, present - step, present + step);
    }
  }

  bool far_from_walls(double time) const {
    const Vector3 above = p_.workspace_max - p_middle_.cwiseMax(p_tcp_);
    const Vector3 below = p_middle_.cwiseMin(p_tcp_) - p_.workspace_min;
    const double room = above.cwiseMin(below).minCoeff();
    const double speed = qd_command.cwiseAbs().dot(J_.topRows<3>().colwise().norm().transpose());
    return room > k_.far + 2.0 * speed * (time / k_.planned + 1.0 / k_.near_rate);
  }

  // mean: speed until the motion would stop; it differs because the straight line of the joints is a curve of the tool.
  double towards_wall(double room, double now, double last, double mean, double time, double dt) const {
    const double back = -k_.near_rate * std::max(room, 0.0);
    const double curved = std::max(stoppable_speed(room, mean, time, dt) - (mean - now), back);
    const double least = std::min(now, last) - p_.max_acceleration[0] * dt;
    return std::max(std::min(stoppable_speed(room, now, time, dt), curved), least);
  }

  void put_walls(const Vector6& now, double time, double dt, Rows& rows) {
    if (far_from_walls(time)) return;
    const Matrix6 J = jacobian_at(q_command + 0.5 * (0.5 * time / k_.planned + dt) * qd_command);
    const Vector3 mean = J.topRows<3>() * qd_command;
    for (int i = 0; i < 3; ++i) {
      const double up = p_.workspace_max[i] - std::max(p_middle_[i], p_tcp_[i]);
      const double down = std::min(p_middle_[i], p_tcp_[i]) - p_.workspace_min[i];
      rows.put(J_.row(i).transpose(), towards_wall(up, now[i], twist[i], mean[i], time, dt));
      rows.put(-J_.row(i).transpose(), towards_wall(down, -now[i], -twist[i], -mean[i], time, dt));
    }
  }

  // C with C^T C = (J J^T + damping of singular directions)^-1. Returns a lower bound of the least singular value.
  double factor(const Matrix6& J, Matrix6& C) const {
    const Matrix6 A = J * J.transpose();
    const Eigen::LLT<Matrix6> llt(A);
    if (llt.info() == Eigen::Success) {
      C.setIdentity();
      llt.matrixL().solveInPlace(C);
      const double bound = 1.0 / C.norm();
      if (bound > k_.singular) return bound;
    }
    const Eigen::SelfAdjointEigenSolver<Matrix6> eigen(A);
    const double square = k_.singular * k_.singular;
    for (int i = 0; i < 6; ++i) {
      const double sigma2 = std::max(eigen.eigenvalues()[i], 0.0), near = std::max(0.0, 1.0 - sigma2 / square);
      C.row(i) = eigen.eigenvectors().col(i).transpose() / std::sqrt(sigma2 + k_.damping * k_.damping * near * near);
    }
    return std::sqrt(std::max(eigen.eigenvalues()[0], 0.0));
  }

  static Vector6 damped_inverse(const Matrix6& J, const Matrix6& C, const Vector6& V) {
    return J.transpose() * (C.transpose() * (C * V));
  }

  // 4  Joint speeds that keep every limit: slide along walls and elbow, then slow down for the rest.
  void choose(Vector6& V, Vector6& qd, Vector6& realised, double dt) {
    const Vector6 q_middle = q_command + 0.5 * dt * qd_command;
    forward(q_middle, R_middle_, p_middle_);
    J_ = jacobian_at(q_middle);
    Matrix6 C;
    const double sigma = factor(J_, C);
    const Vector6 now = J_ * qd_command;
    const double time = stopping_time(now, qd_command);
    const double keep = time > 0.0 ? std::max(0.0, 1.0 - dt / time) : 0.0;
    const Vector6 brake = keep * qd_command;
    Vector6 low, high;
    Rows rows;
    joint_bounds(time, dt, low, high, rows);
    put_walls(now, time, dt, rows);

    shape(V, dt);
    qd = damped_inverse(J_, C, V);
    if (!rows.kept(qd, k_.tolerances.kept)) {
      slide(sigma, brake, rows, qd);
      V = J_ * qd;
    }
    if (calm_curve(q_middle, sigma, C, V, qd, dt) && !rows.kept(qd, k_.tolerances.kept)) slide(sigma, brake, rows, qd);
    realised = J_ * qd;
    double caps[2], most[2];
    for (int part = 0; part < 2; ++part) {  // norm_bounds
      caps[part] = std::max(p_.max_velocity[part], keep * twist.segment<3>(3 * part).norm());
      most[part] = p_.max_acceleration[part] * dt;
    }
    const bool slow = (qd.array() >= low.array() - k_.tolerances.kept).all() &&
                      (qd.array() <= high.array() + k_.tolerances.kept).all();
    if (slow && norms_kept(realised, most, caps)) return;
    for (int i = 0; i < 6; ++i) {
      rows.put_joint(i, 1.0, high[i]);
      rows.put_joint(i, -1.0, -low[i]);
    }
    fastest_along(damped_inverse(J_, C, keep * twist), brake, most, caps, rows, qd, realised);
  }

  void shape(Vector6& V, double dt) const {
    for (int part = 0; part < 2; ++part) {
      auto v = V.segment<3>(3 * part);
      const auto v_prev = twist.segment<3>(3 * part);
      const double a_dt = p_.max_acceleration[part] * dt;
      limit_change(v, v_prev, a_dt);
      const double speed = v.norm();
      if (speed > p_.max_velocity[part])
        v *= std::min(1.0, std::max(p_.max_velocity[part], v_prev.norm() - a_dt) / speed);
      limit_change(v, v_prev, a_dt);
    }
  }

  bool calm_curve(const Vector6& q, double sigma, const Matrix6& C, Vector6& V, Vector6& qd, double dt) {
    const double share = curve_speed(q, V, qd, sigma);
    if (share == 1.0) return false;
    V *= share;
    const Vector6 slowed = V;
    for (int k = 0; k < 6; k += 3)
      limit_change(V.segment<3>(k), twist.segment<3>(k), p_.max_acceleration[k / 3] * dt);
    qd = share * qd + damped_inverse(J_, C, V - slowed);
    return true;
  }

  double curve_speed(const Vector6& q, const Vector6& V, const Vector6& qd, double sigma) {
    const double fastest = qd.cwiseAbs().maxCoeff(), weakest = p_.acceleration.minCoeff();
    if (fastest == 0.0 || fastest * fastest <= k_.curve * weakest * std::max(0.0, sigma - k_.ahead)) return 1.0;
    const double time = k_.ahead / fastest;
    const Matrix6 J = jacobian_at(q + time * qd);
    Matrix6 C;
    factor(J, C);
    const Vector6 change = (damped_inverse(J, C, V) - qd).cwiseAbs();
    double share = 1.0;
    for (int i = 0; i < 6; ++i) {
      const double most = k_.curve * p_.acceleration[i] * time;
      if (change[i] * share * share > most) share = std::sqrt(most / change[i]);
    }
    return share;
  }

  void slide(double sigma, const Vector6& brake, Rows& rows, Vector6& qd) {
    const double near = std::max(0.0, 1.0 - sigma * sigma / (k_.singular * k_.singular)), damped = k_.damping * near;
    Matrix7 H = Matrix7::Identity();
    Vector7 g = Vector7::Zero();
    H.topLeftCorner<6, 6>() = J_.transpose() * J_;
    H.diagonal().head<6>().array() += k_.sliding + damped * damped;
    g.head<6>() = -(H.topLeftCorner<6, 6>() * qd);
    minimise_or_brake(H, g, brake, rows, qd);
  }

  void fastest_along(const Vector6& hold, const Vector6& brake, const double* most, const double* caps, Rows& rows,
                 Vector6& qd, Vector6& realised) {
    Matrix7 H = Matrix7::Identity();
    Vector7 g;
    H.topLeftCorner<6, 6>() = J_.transpose() * J_;
    H.diagonal().head<6>().array() += k_.turning;
    const Vector6 change = qd - hold, turn = H.topLeftCorner<6, 6>() * change;
    const double size = turn.dot(change);
    g.head<6>() = -(H.topLeftCorner<6, 6>() * hold);
    g[6] = -1.0;
    if (size >= 1e-16) {  // else: what is wanted is to brake
      H.topRightCorner<6, 1>() = -turn;
      H.bottomLeftCorner<1, 6>() = -turn.transpose();
      H(6, 6) = (1.0 + k_.speed) * size;
      g[6] = turn.dot(hold) - k_.speed * size;
    }
    for (int cut = 0; cut < k_.cuts; ++cut) {
      minimise_or_brake(H, g, brake, rows, qd);
      realised = J_ * qd;
      if (norms_kept(realised, most, caps)) return;
      put_norms(realised, most, caps, rows);
    }
    towards(brake, most, caps, qd, realised);
  }

  void minimise_or_brake(const Matrix7& H, const Vector7& g, const Vector6& brake, Rows& rows, Vector6& qd) {
    Vector7 x;
    auto result = solver_.minimise(H, g, rows, k_.tolerances, x);
    if (result == Quadratic::Result::kContradiction) {
      rows.allow(brake);
      result = solver_.minimise(H, g, rows, k_.tolerances, x);
    }
    if (result == Quadratic::Result::kSolved)
      qd = x.head<6>();
    else
      qd = brake;
  }

  bool norms_kept(const Vector6& V, const double* most, const double* caps) const {
    for (int part = 0; part < 2; ++part) {
      const auto v = V.segment<3>(3 * part);
      if (v.squaredNorm() > caps[part] * caps[part] * k_.norm_kept) return false;
      if ((v - twist.segment<3>(3 * part)).squaredNorm() > most[part] * most[part] * k_.norm_kept) return false;
    }
    return true;
  }

  void put_norms(const Vector6& V, const double* most, const double* caps, Rows& rows) const {
    for (int part = 0; part < 2; ++part) {
      const Vector3 v = V.segment<3>(3 * part), v_prev = twist.segment<3>(3 * part), change = v - v_prev;
      const auto J = J_.middleRows<3>(3 * part);
      const double speed = v.norm(), size = change.norm();
      if (speed > caps[part]) rows.put(J.transpose() * (v / speed), caps[part]);
      if (size > most[part]) rows.put(J.transpose() * (change / size), change.dot(v_prev) / size + most[part]);
    }
  }

  void towards(const Vector6& brake, const double* most, const double* caps, Vector6& qd, Vector6& V) const {
    const Vector6 base = J_ * brake;
    double t = 1.0;
    for (int part = 0; part < 2; ++part)
      for (const bool acceleration : {false, true}) {
        Vector3 b = base.segment<3>(3 * part);
        const Vector3 c = V.segment<3>(3 * part) - b;
        if (acceleration) b -= twist.segment<3>(3 * part);
        const double largest = acceleration ? most[part] : caps[part], bc = b.dot(c), cc = c.squaredNorm();
        const double room = largest * largest - b.squaredNorm(), root = std::max(bc * bc + cc * room, 0.0);
        if (cc > 0.0 && cc * t * t + 2.0 * bc * t > room) t = clip((std::sqrt(root) - bc) / cc, 0.0, t);
      }
    qd = brake + t * (qd - brake);
    V = J_ * qd;
  }

  // 5  Law and desired twist each bear what was not realised in proportion to their size.
  void advance(const Vector6& law, const Vector6& desired, const Vector6& wanted, const Vector6& realised, Vector6& x,
               Vector6& v, const Matrix3& E, double dt) {
    Vector6 lost, shift = desired;
    for (int k = 0; k < 6; k += 3) {
      const double of_law = law.segment<3>(k).norm(), of_desired = desired.segment<3>(k).norm();
      const double total = of_law + of_desired + (wanted - law - desired).segment<3>(k).norm();
      const Vector3 deficit = (realised - wanted).segment<3>(k) / (total > 0.0 ? total : kInfinity);
      lost.segment<3>(k) = of_law * deficit;
      shift.segment<3>(k) += of_desired * deficit;
    }
    lost.tail<3>() = left_jacobian_inverse(offset_.tail<3>(), lost.tail<3>());
    Vector6 absorbed = Vector6::Zero();
    for (int i = 0; i < 6; ++i) {
      if (p_.enabled[i] == 0.0) {
        absorbed[i] = offset_[i];
        continue;
      }
      x[i] += lost[i] * dt;
      v[i] += lost[i];
      if (stiffness_[i] == 0.0) {  // a free axis keeps no offset
        absorbed[i] = x[i];
        x[i] = 0.0;
      }
    }
    turn(R_ref_, dt * (E.transpose() * shift.tail<3>()));
    offset_ = x;
    rate_ = v;
    p_ref_ += dt * shift.head<3>() + absorbed.head<3>();
    if (!absorbed.tail<3>().isZero(0.0)) {
      const Matrix3 kept = exp_so3(offset_.tail<3>()), whole = exp_so3(offset_.tail<3>() + absorbed.tail<3>());
      turn(R_ref_, log_so3(kept.transpose() * whole));
    }
  }

  void hold_when_quiet(bool silent, const Vector6& desired, double dt) {
    bool moving = !desired.isZero(0.0) || !desired_wrench_.isZero(0.0);
    for (int i = 0; i < 6; ++i) moving |= stiffness_[i] == 0.0 && std::abs(rate_[i]) > p_.drift_reset_threshold;
    quiet_time_ = moving || !silent ? 0.0 : quiet_time_ + dt;
    if (quiet_time_ < k_.quiet) return;
    Vector6 shift = pose_error(exp_so3(offset_.tail<3>()));
    for (int i = 0; i < 6; ++i) {
      if (stiffness_[i] == 0.0) rate_[i] = 0.0;
      if (stiffness_[i] != 0.0 || p_.enabled[i] == 0.0) shift[i] = 0.0;
    }
    p_ref_ -= shift.head<3>();
    if (!shift.tail<3>().isZero(0.0)) turn(R_ref_, -shift.tail<3>());
  }

  void move_joints(const Matrix6& J, const Vector6& qd, double dt) {
    const Vector6 next = J * qd;
    acceleration_ += smoothing(k_.acceleration_cutoff_hz, dt) * ((next - twist).head<3>() / dt - acceleration_);
    twist = next;
    const double late = p_.response_time > 0.0 ? std::exp(-dt / p_.response_time) : 0.0;
    lag_ = late * lag_ + (1.0 - late) * p_.response_time * twist;
    qd_command = qd;
    q_command += dt * qd;
  }

  // How far the command leads the arm, beyond what its speed explains.
  void observe_lead(const Sample& u) {
    const double forget = std::exp(-u.dt / p_.following_time);
    for (int i = 0; i < 6; ++i) {
      recent_speed_[i] = std::max(std::abs(qd_command[i]), forget * recent_speed_[i]);
      const double lead = q_command[i] - u.q[i];
      unexplained_[i] = std::copysign(std::max(0.0, std::abs(lead) - p_.following_time * recent_speed_[i]), lead);
    }
    if (unexplained_.cwiseAbs().maxCoeff() > 2.0 * p_.max_following_error) fail("the arm does not follow");
  }

  // A command that leads the arm waits for it.
  double top_speed(int i, double direction) const {
    const double ahead = direction * unexplained_[i], most = p_.max_following_error;
    if (ahead <= most) return p_.velocity[i];
    return std::min(p_.velocity[i], recent_speed_[i]) * clip(2.0 - ahead / most, 0.0, 1.0);
  }

  void keep_inside(const Sample& u) {
    for (int i = 0; i < 6; ++i)
      if (p_.lower[i] <= u.q[i] && u.q[i] <= p_.upper[i]) q_command[i] = clip(q_command[i], p_.lower[i], p_.upper[i]);
  }

  Parameters p_;
  Constants k_;
  KDL::ChainFkSolverPos_recursive fk_;
  KDL::ChainJntToJacSolver jacobian_;
  KDL::Frame frame_;
  KDL::Jacobian kdl_jacobian_{6};
  KDL::JntArray q_{6};
  Matrix3 R_, R_ref_, R_middle_;
  Vector3 p_tcp_, p_ref_, p_middle_, acceleration_;
  Matrix6 J_;
  Quadratic solver_;
  Vector6 filtered_, wrench_, offset_, rate_, lag_, stiffness_, desired_wrench_, recent_speed_, unexplained_;
  double ramp_ = 0.0, quiet_time_ = 0.0;
  bool filter_ready_ = false;
};

KDL::Vector vector(const std::vector<double>& v, int k) { return {v.at(k), v.at(k + 1), v.at(k + 2)}; }

KDL::Rotation rotation(const std::vector<double>& v, int k) {
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
  p.R_tcp_sensor = Eigen::Map<const RowMatrix3>(in.at("R_tcp_sensor").data()), p.p_tcp_sensor = three("p_tcp_sensor");
  p.tool_weight_base = three("tool_weight_base"), p.tool_com = three("tool_com");
  p.tool_inertia_mass = one("tool_inertia_mass"), p.elbow_margin = one("elbow_margin");
  p.response_time = one("response_time");
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
  p.max_following_error = one("max_following_error"), p.following_time = one("following_time");
  p.joint_timeout = one("joint_state_timeout"), p.wrench_timeout = one("wrench_timeout");
  return p;
}

Constants constants(const Values& in) {
  const auto one = [&](const char* name) { return in.at(name).at(0); };
  Constants k;
  k.longest_period = one("LONGEST_PERIOD"), k.quiet = one("QUIET");
  k.acceleration_cutoff_hz = one("ACCELERATION_CUTOFF_HZ");
  k.braking = one("BRAKING"), k.planned = one("PLANNED"), k.far = one("FAR"), k.near_rate = one("NEAR_RATE");
  k.speed = one("SPEED"), k.turning = one("TURNING"), k.sliding = one("SLIDING");
  k.singular = one("SINGULAR"), k.damping = one("DAMPING"), k.curve = one("CURVE"), k.ahead = one("AHEAD");
  k.elbow = static_cast<int>(one("ELBOW")), k.cuts = static_cast<int>(one("CUTS")), k.norm_kept = one("NORM_KEPT");
  k.tolerances = {one("KEPT"), one("VIOLATED"), static_cast<int>(one("STEPS"))};
  return k;
}

double nanoseconds(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double, std::nano>(b - a).count();
}

double clock_cost() {
  std::vector<double> costs(5001);
  for (double& cost : costs) {
    const auto begin = Clock::now();
    cost = nanoseconds(begin, Clock::now());
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

// One controller and the arm that it moves.
struct Loop {
  Loop(const Values& in, size_t first_row)
      : controller(parameters(in), constants(in)), pushes(in.at("wrench")), row(first_row) {
    sample.dt = in.at("dt").at(0);
    controller.activate(Vector6(in.at("q").data()));
  }
  void perfect_servo() {
    sample.q = controller.q_command;
    sample.qd = controller.qd_command;
    sample.wrench = Vector6(&pushes[6 * (row++ % (pushes.size() / 6))]);
  }
  Controller controller;
  const std::vector<double>& pushes;
  Sample sample;
  size_t row;
};

std::vector<double> time_ticks(const Values& in, size_t ticks) {
  Loop loop(in, 0);
  std::vector<double> durations(ticks);
  const double cost = clock_cost();
  for (double& duration : durations) {
    loop.perfect_servo();
    const auto begin = Clock::now();
    loop.controller.tick(loop.sample);
    duration = nanoseconds(begin, Clock::now()) - cost;
  }
  return durations;
}

// Every controller at another phase of the push. The threads wait for each other at the beginning and end of a tick.
std::vector<double> time_batch(const Values& in, size_t ticks, size_t controllers, size_t threads) {
  std::vector<std::unique_ptr<Loop>> loops;
  for (size_t i = 0; i < controllers; ++i) loops.push_back(std::make_unique<Loop>(in, i));
  std::barrier gate(static_cast<std::ptrdiff_t>(threads));
  const auto share = [&](size_t thread) {
    for (size_t i = thread * controllers / threads; i < (thread + 1) * controllers / threads; ++i)
      loops[i]->controller.tick(loops[i]->sample);
  };
  std::vector<std::thread> others;
  for (size_t thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      for (size_t k = 0; k < ticks; ++k) {
        gate.arrive_and_wait();
        share(thread);
        gate.arrive_and_wait();
      }
    });
  std::vector<double> durations(ticks);
  const double cost = clock_cost();
  for (double& duration : durations) {
    for (auto& loop : loops) loop->perfect_servo();
    const auto begin = Clock::now();
    gate.arrive_and_wait();
    share(0);
    gate.arrive_and_wait();
    duration = nanoseconds(begin, Clock::now()) - cost;
  }
  for (std::thread& other : others) other.join();
  return durations;
}

void replay(const Values& in) {  // rows of q, qd, wrench, reference twist
  const std::vector<double>& samples = in.at("samples");
  Controller controller(parameters(in), constants(in));
  Sample u;
  u.dt = in.at("dt").at(0);
  controller.activate(Vector6(samples.data()));
  for (size_t k = 0; k + 24 <= samples.size(); k += 24) {
    u.q = Vector6(&samples[k]), u.qd = Vector6(&samples[k + 6]);
    u.wrench = Vector6(&samples[k + 12]), u.reference_twist = Vector6(&samples[k + 18]);
    controller.tick(u);
    for (const Vector6& part : {controller.q_command, controller.qd_command, controller.twist})
      for (int i = 0; i < 6; ++i) std::printf("%.17g ", part[i]);
  }
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
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string request;
    size_t ticks = 0, controllers = 1, threads = 1;
    words >> request >> ticks >> controllers >> threads;
    if (request == "replay") {
      replay(in);
    } else {
      const auto durations = request == "time" ? time_ticks(in, ticks) : time_batch(in, ticks, controllers, threads);
      for (const double duration : durations) std::printf("%.0f ", duration);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
