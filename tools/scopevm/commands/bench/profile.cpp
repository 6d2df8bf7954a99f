// Sums launches by kernel; see profile.h.
#include "tools/scopevm/commands/bench/profile.h"

#include <algorithm>

namespace scopevm::tool {

void Profile::record(const TraceEvent& event) {
  using Kind = TraceEvent::Kind;
  if (event.kind == Kind::kCall) {
    call_ns_ += event.duration_ns;
    ++calls_;
    add_flops(event);
  }
  if (event.kind != Kind::kLaunch && event.kind != Kind::kCopy) return;
  if (event.lane == TraceEvent::Lane::kWorker) return;  // a part of the launch
  const std::string kernel = event.kind == Kind::kCopy ? "copy" : std::string(event.kernel);
  Lanes& lanes = kernels_[kernel + "\n" + std::string(event.device)];
  KernelTimes& times = event.lane == TraceEvent::Lane::kDevice ? lanes.device : lanes.caller;
  times.kernel = kernel;
  if (!event.name.empty() && std::ranges::find(times.ops, event.name) == times.ops.end())
    times.ops.emplace_back(event.name);
  times.device = event.device;
  ++times.launches;
  times.ns += event.duration_ns;
  times.bytes += event.bytes;
  if (event.lane == TraceEvent::Lane::kCaller) ++lanes.launches[std::string(event.name)];
}

// The dims of a call are known at its end.
void Profile::add_flops(const TraceEvent& call) {
  KernelFlops::Dims dims;
  for (const TraceDim& dim : call.dims) dims[std::string(dim.name)] = dim.value;
  for (auto& [key, lanes] : kernels_) {
    std::optional<double>& sum = lanes.caller.flops;
    for (const auto& [ops, count] : lanes.launches) {
      const std::optional<double> flops =
          flops_.of_launch(call.name, lanes.caller.kernel, ops, dims);
      sum = sum && flops ? std::optional(*sum + *flops * static_cast<double>(count)) : std::nullopt;
    }
    lanes.launches.clear();
  }
}

std::vector<KernelTimes> Profile::kernels() const {
  std::vector<KernelTimes> kernels;
  for (const auto& [key, lanes] : kernels_) {
    kernels.push_back(lanes.device.launches > 0 ? lanes.device : lanes.caller);
    kernels.back().flops = lanes.caller.flops;
  }
  std::ranges::stable_sort(kernels, std::ranges::greater(), &KernelTimes::ns);
  return kernels;
}

}  // namespace scopevm::tool
