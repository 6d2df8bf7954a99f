// Machines with three devices, and placement rules that distribute a graph over them.
#pragma once

#include <string>
#include <vector>

namespace scopevm::compiler::property {

struct Scatter {
  std::string machine_json;
  std::vector<std::string> places;  // as for --place
};

// The rules are random, and depend only on the graph's assembly. If `has_gpu`, one of the devices
// is an OpenCL device, which shares a pool with CPUs. Otherwise, all devices are CPUs.
Scatter scatter(const std::string& text, bool has_gpu);

}  // namespace scopevm::compiler::property
