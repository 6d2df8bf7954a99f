// Machine descriptions that tests complete or modify.
#pragma once

#include <string>

#include "compiler/codegen/backends.h"

namespace scopevm::testing {

inline Result<compiler::Machine> parse(std::string_view json) {
  return compiler::parse_machine(json, "m.json", compiler::codegen::built_in_backends().kinds());
}

// A description with a CPU, an NPU of kind cpu, an OpenCL device, and the given pools.
inline std::string with_pools(const std::string& pools) {
  return R"({"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "npu", "kind": "cpu"},
                         {"name": "gpu", "kind": "opencl"}], "pools": [)" +
         pools + "]}";
}

// A description with a CPU, followed by the given device.
inline std::string with_device(const std::string& device) {
  return R"({"devices": [{"name": "cpu", "kind": "cpu"}, )" + device + "]}";
}

}  // namespace scopevm::testing
