// Machines with several devices, and options that distribute a graph over them.
#pragma once

#include <string>
#include <vector>

namespace scopevm::compiler::property {

struct Scatter {
  std::string machine_json;
  std::vector<std::string> places;  // as for --place
};

enum class Devices {
  kCpus,
  kGpu,    // one of them is an OpenCL device, which shares a pool with CPUs
  kRanks,  // CPUs of different ranks
};

// The rules are random, and depend only on the graph's assembly.
Scatter scatter(const std::string& text, Devices devices);

struct RandomSplit {
  std::string machine_json;  // links are so fast that small ops are divided as well
  std::string split;         // as for --split
};

// The same for a split over two to four ranks.
RandomSplit random_split(const std::string& text);

}  // namespace scopevm::compiler::property
