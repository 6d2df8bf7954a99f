// Random models with states: caches to which calls append, and states of one size. How a model is
// distributed over ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"
#include "tests/ranks/random/random.h"

namespace scopevm::ranks {

struct RandomModel {
  std::string text;  // assembly
  std::map<std::string, DimBound> dims;
  std::vector<std::string> states;  // CompileOptions::states
  // The other pairs that State::create() ties: an input and an output.
  std::vector<std::pair<std::string, std::string>> pairs;
  struct Buffer {
    size_t axis = 0;   // along which calls append rows
    std::string rows;  // the input with their number
  };
  std::map<std::string, Buffer> buffers;  // by the input of `states`
  std::vector<std::map<std::string, DimBound>> variants;
  bool reorders = false;
  // Of the distributed module.
  std::string split, machine_json;
  std::vector<std::string> places;

  // The options for a module of one rank, and for the distributed one. `path`: of the assembly.
  CompileOptions options(const std::string& path, bool is_distributed) const;
  std::string description() const;
};

// Equal seeds give equal models.
RandomModel random_model(uint64_t seed);

}  // namespace scopevm::ranks
