// A small quadratic problem under inequalities, as in core/limits/quadratic.py and core/limits/rows.py, on Eigen's fixed sizes.
//
//   minimise 1/2 x' H x + g' x   under  A x <= b     x: six joint speeds and the common slow-down
//
// Dual active-set method [Goldfarb and Idnani 1983].
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Vector7 = Eigen::Matrix<double, 7, 1>;
using Matrix7 = Eigen::Matrix<double, 7, 7>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Tolerances {
  double kept, violated;
  int steps;
};

// Inequalities of length one.
struct Rows {
  static constexpr int kMost = 48;
  Eigen::Matrix<double, kMost, 7, Eigen::RowMajor> A;
  Eigen::Matrix<double, kMost, 1> b;
  int n = 0;

  void put_joint(int joint, double sign, double bound) {
    A.row(n).setZero();
    A(n, joint) = sign;
    b[n++] = bound;
  }

  void put(const Vector6& normal, double bound) {
    const double square = normal.squaredNorm();
    if (square < 1e-24) return;
    const double length = std::sqrt(square);
    A.row(n) << normal.transpose() / length, 0.0;
    b[n++] = bound / length;
  }

  bool kept(const Vector6& qd, double tolerance) const {
    for (int row = 0; row < n; ++row)
      if (A.row(row).head<6>().dot(qd) - b[row] > tolerance) return false;
    return true;
  }

  void allow(const Vector6& qd) {
    for (int row = 0; row < n; ++row) b[row] = std::max(b[row], A.row(row).head<6>().dot(qd) + 1e-12);
  }
};

class Quadratic {
 public:
  enum class Result { kSolved, kContradiction, kFailed };

  // x at the minimum.
  Result minimise(const Matrix7& H, const Vector7& g, const Rows& rows, const Tolerances& k, Vector7& x) {
    const Eigen::LLT<Matrix7> llt(H);
    if (llt.info() != Eigen::Success) return Result::kFailed;
    J_.setIdentity();
    llt.matrixU().solveInPlace(J_);  // J = L^-T
    x = -(J_ * (J_.transpose() * g));
    q_ = 0;
    for (int step = 0; step < k.steps; ++step) {
      double excess = k.violated;
      const int row = most_violated(rows, x, excess);
      if (row < 0) return Result::kSolved;
      if (!take_in(rows.A.row(row).transpose(), excess, x)) return Result::kContradiction;
    }
    return Result::kFailed;
  }

 private:
  static int most_violated(const Rows& rows, const Vector7& x, double& worst) {
    int at = -1;
    for (int row = 0; row < rows.n; ++row) {
      const double excess = rows.A.row(row).dot(x) - rows.b[row];
      if (excess > worst) worst = excess, at = row;
    }
    return at;
  }

  // x moves until the row is met; rows whose multiplier reaches zero on the way are dropped.
  bool take_in(const Vector7& normal, double excess, Vector7& x) {
    double multiplier = 0.0;
    while (true) {
      Vector7 d = -(J_.transpose() * normal), z = Vector7::Zero(), r;
      for (int k = q_; k < 7; ++k) z += d[k] * J_.col(k);
      for (int i = q_ - 1; i >= 0; --i) {
        double total = d[i];
        for (int k = i + 1; k < q_; ++k) total -= R_(i, k) * r[k];
        r[i] = total / R_(i, i);
      }
      double partial = kInfinity;
      int leaving = -1;
      for (int i = 0; i < q_; ++i)
        if (r[i] > 0.0 && u_[i] / r[i] < partial) partial = u_[i] / r[i], leaving = i;
      const double slope = -z.dot(normal);
      const double full = z.squaredNorm() > 1e-24 && slope > 0.0 ? excess / slope : kInfinity;
      const double step = std::min(partial, full);
      if (step == kInfinity) return false;
      for (int i = 0; i < q_; ++i) u_[i] -= step * r[i];
      multiplier += step;
      if (full < kInfinity) {
        x += step * z;
        excess -= step * slope;
      }
      if (step == full) return add(d, multiplier);
      drop(leaving);
    }
  }

  bool add(Vector7& d, double multiplier) {
    for (int i = 6; i > q_; --i) {
      const double length = std::sqrt(d[i - 1] * d[i - 1] + d[i] * d[i]);
      if (length == 0.0) continue;
      const double c = d[i - 1] / length, s = d[i] / length;
      d[i - 1] = length, d[i] = 0.0;
      rotate_columns(i - 1, i, c, s);
    }
    for (int k = 0; k <= q_; ++k) R_(k, q_) = d[k];
    if (!(std::abs(d[q_]) > 1e-12)) return false;
    u_[q_++] = multiplier;
    return true;
  }

  void drop(int at) {
    --q_;
    for (int i = at; i < q_; ++i) {
      u_[i] = u_[i + 1];
      for (int k = 0; k < i + 2; ++k) R_(k, i) = R_(k, i + 1);
    }
    for (int i = at; i < q_; ++i) {
      const double length = std::sqrt(R_(i, i) * R_(i, i) + R_(i + 1, i) * R_(i + 1, i));
      if (length == 0.0) continue;
      const double c = R_(i, i) / length, s = R_(i + 1, i) / length;
      R_(i, i) = length, R_(i + 1, i) = 0.0;
      for (int k = i + 1; k < q_; ++k) {
        const double one = R_(i, k), two = R_(i + 1, k);
        R_(i, k) = c * one + s * two;
        R_(i + 1, k) = c * two - s * one;
      }
      rotate_columns(i, i + 1, c, s);
    }
  }

  void rotate_columns(int a, int b, double c, double s) {
    const Vector7 one = J_.col(a), two = J_.col(b);
    J_.col(a) = c * one + s * two;
    J_.col(b) = c * two - s * one;
  }

  Matrix7 J_, R_;
  Vector7 u_;
  int q_ = 0;  // active rows
};
