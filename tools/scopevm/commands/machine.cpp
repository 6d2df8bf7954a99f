// scopevm machine: what this host offers, in the form that --machine reads.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cuda/cuda.h"
#include "runtime/opencl/opencl.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"

namespace scopevm::tool {
namespace {

// A GPU's units hide the latency of memory with many work items each; a CPU's are its cores.
constexpr int64_t kWorkersPerUnit = 64;

class Description {
 public:
  Description() {
    json_["devices"] = {{{"name", "cpu"}, {"kind", "cpu"}}};
    json_["pools"] = nlohmann::ordered_json::array();
  }

  void add(const std::string& name, const char* kind, int64_t workers, int64_t memory_bytes) {
    json_["devices"].push_back(
        {{"name", name}, {"kind", kind}, {"workers", std::max<int64_t>(1, workers)}});
    for (const char* scope : {"global", "global.workspace"})
      json_["pools"].push_back({{"device", name}, {"scope", scope}, {"limit_bytes", memory_bytes}});
  }

  std::string text() const {
    return json_.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  nlohmann::ordered_json json_;
};

double gigabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

void add_opencl_devices(Description& description) {
  const auto devices = runtime::list_opencl_devices();
  if (!devices.is_ok()) return fmt::print(stderr, "no OpenCL: {}\n", devices.status().message());
  for (size_t i = 0; i < devices->size(); ++i) {
    const runtime::OpenClDeviceFacts& facts = (*devices)[i];
    const std::string name = fmt::format("opencl{}", i);
    fmt::print(stderr, "{}: {} ({}, {}), {:.1f} GB\n", name, facts.name, facts.platform,
               facts.driver_version, gigabytes(facts.memory_bytes));
    description.add(name, "opencl",
                    facts.compute_units * (facts.shares_host_memory ? 1 : kWorkersPerUnit),
                    facts.memory_bytes);
  }
}

void add_cuda_devices(Description& description) {
  const auto devices = runtime::list_cuda_devices();
  if (!devices.is_ok()) return fmt::print(stderr, "no CUDA: {}\n", devices.status().message());
  for (size_t i = 0; i < devices->size(); ++i) {
    const runtime::CudaDeviceFacts& facts = (*devices)[i];
    const std::string name = fmt::format("cuda{}", i);
    fmt::print(stderr, "{}: {} (compute capability {}, driver {}), {:.1f} GB{}\n", name, facts.name,
               facts.compute_capability, facts.driver_version, gigabytes(facts.memory_bytes),
               facts.shares_host_memory ? " of the host's memory" : "");
    description.add(name, "cuda", facts.multiprocessors * kWorkersPerUnit, facts.memory_bytes);
  }
  fmt::print(stderr, "kernels are not compiled for CUDA: reach these devices by OpenCL\n");
}

}  // namespace

int machine() {
  Description description;
  add_opencl_devices(description);
  add_cuda_devices(description);
  fmt::print("{}\n", description.text());
  return kExitOk;
}

}  // namespace scopevm::tool
