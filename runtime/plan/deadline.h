// The CPU time of the calling thread, and a limit of it.
#pragma once

#include <ctime>

#include <limits>

namespace scopevm::plan {

// In seconds.
inline double thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// REQUIRES: one thread uses it.
class Deadline {
 public:
  explicit Deadline(double limit_s) : start_(thread_cpu_time()), limit_s_(limit_s) {}

  double elapsed_s() const { return thread_cpu_time() - start_; }
  double left_s() const { return limit_s_ - elapsed_s(); }
  bool is_over() const { return left_s() <= 0; }

 private:
  double start_;
  double limit_s_;
};

}  // namespace scopevm::plan
