// Profile: sums the launches of each kernel from the events of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tools/scopevm/commands/bench/kernel_flops.h"

namespace scopevm::tool {

struct KernelTimes {
  std::string kernel;            // its symbol; "copy" for copies between memory scopes
  std::vector<std::string> ops;  // the model's ops, in order of their first launch
  std::string device;
  int64_t launches = 0;
  int64_t ns = 0;                     // on a non-CPU device that measures times: of the executions
  int64_t bytes = 0;                  // TraceEvent::bytes; 0: unknown
  std::optional<double> flops = 0.0;  // floating-point operations; none: unknown for a launch
};

// Not thread-safe: the calls run one after the other.
class Profile final : public TraceSink {
 public:
  explicit Profile(KernelFlops flops) : flops_(std::move(flops)) {}

  void record(const TraceEvent& event) override;
  // The longest total time first.
  std::vector<KernelTimes> kernels() const;
  int64_t call_ns() const { return call_ns_; }  // the sum of all calls
  int64_t calls() const { return calls_; }

 private:
  struct Lanes {
    KernelTimes caller, device;
    std::map<std::string, int64_t> launches;  // of the current call, by ops
  };

  void add_flops(const TraceEvent& call);

  const KernelFlops flops_;
  std::map<std::string, Lanes> kernels_;  // by symbol and device
  int64_t call_ns_ = 0;
  int64_t calls_ = 0;
};

}  // namespace scopevm::tool
