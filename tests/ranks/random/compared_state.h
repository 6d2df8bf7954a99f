// A state in several executions of a model, and the values that it has in all of them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/state.h"
#include "tests/ranks/random/execution.h"
#include "tests/ranks/random/random_model.h"

namespace scopevm::ranks {

// The inputs of the module of one rank that a state has, and their parts in the distributed one.
struct TiedInput {
  TensorSignature type;
  std::string output;
  std::vector<TensorSignature> parts;      // with their names
  std::vector<std::string> parts_outputs;  // by part
  bool has_one_size = true;                // calls do not change the dims
  int capacity_axis = -1;                  // of a buffer with rows
  std::string rows;                        // the input with their number

  // The parts of a value.
  std::vector<Tensor> divide(const Tensor& whole) const;
};
std::vector<TiedInput> tied_inputs(const RandomModel& model, const Signature& plain,
                                   const Signature& distributed);

// Dims as numbers. REQUIRES: `values` has all their names.
std::vector<int64_t> shape_of(const TensorSignature& type,
                              const std::map<std::string, int64_t>& values);

struct ComparedState {
  std::map<std::string, int64_t> dims;  // without those that calls change
  State plain, alone, job;              // in the executions of these names

  // What differs; empty: nothing. `inputs`: those of the state.
  std::string difference_of(std::span<const TiedInput> inputs) const;
};

}  // namespace scopevm::ranks
