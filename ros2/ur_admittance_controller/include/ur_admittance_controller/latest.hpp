// The newest value of one thread for another one. Neither ever waits: of three places each side owns one, and they
// exchange theirs for the third.

#pragma once

#include <array>
#include <atomic>

namespace ur_admittance_controller
{
template <typename T>
class Latest
{
public:
  T & next() { return places_[next_]; }  // for the writer to fill
  void publish() { next_ = third_.exchange(next_ | kNew) & kPlace; }

  bool take()  // false: nothing new since the last time
  {
    if (!(third_.load() & kNew)) return false;
    taken_ = third_.exchange(taken_) & kPlace;
    return true;
  }
  const T & taken() const { return places_[taken_]; }

private:
  static constexpr unsigned kPlace = 3, kNew = 4;
  std::array<T, 3> places_{};
  std::atomic<unsigned> third_{2};
  unsigned next_{0}, taken_{1};
};
}  // namespace ur_admittance_controller
