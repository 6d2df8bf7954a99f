// A machine of three devices, and rules that scatter a graph over it.
#pragma once

#include <string>
#include <vector>

namespace scopevm::compiler::property {

struct Scatter {
  std::string machine_json;
  std::vector<std::string> places;  // as for --place
};

// The rules follow from the graph's text.
Scatter scatter(const std::string& text);

}  // namespace scopevm::compiler::property
