// scopevm machine: what this host offers, in the form that --machine reads.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/opencl/opencl.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"

namespace scopevm::tool {
namespace {

// A GPU's units hide the latency of memory with many work items each; a CPU's are its cores.
constexpr int64_t kWorkersPerUnit = 64;

int64_t workers_of(const runtime::OpenClDeviceFacts& facts) {
  return facts.compute_units * (facts.shares_host_memory ? 1 : kWorkersPerUnit);
}

}  // namespace

int machine() {
  nlohmann::ordered_json out;
  out["devices"] = {{{"name", "cpu"}, {"kind", "cpu"}}};
  out["pools"] = nlohmann::ordered_json::array();
  const auto devices = runtime::list_opencl_devices();
  if (devices.is_ok()) {
    for (size_t i = 0; i < devices->size(); ++i) {
      const runtime::OpenClDeviceFacts& facts = (*devices)[i];
      const std::string name = fmt::format("opencl{}", i);
      fmt::print(stderr, "{}: {} ({}, {}), {:.1f} GB\n", name, facts.name, facts.platform,
                 facts.driver_version, static_cast<double>(facts.memory_bytes) / 1e9);
      out["devices"].push_back(
          {{"name", name}, {"kind", "opencl"}, {"workers", workers_of(facts)}});
      for (const char* scope : {"global", "global.workspace"})
        out["pools"].push_back(
            {{"device", name}, {"scope", scope}, {"limit_bytes", facts.memory_bytes}});
    }
  } else {
    fmt::print(stderr, "no OpenCL: {}\n", devices.status().message());
  }
  fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return kExitOk;
}

}  // namespace scopevm::tool
