// A machine with three devices, and placement rules that distribute a graph over them.
#pragma once

#include <string>
#include <vector>

namespace scopevm::compiler::property {

struct Scatter {
  std::string machine_json;
  std::vector<std::string> places;  // as for --place
};

// The rules are random, and depend only on the graph's assembly.
Scatter scatter(const std::string& text);

}  // namespace scopevm::compiler::property
