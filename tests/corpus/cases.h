// The calls of a module of the corpus, with their expected results. A file NAME.cases has one item
// per line, and starts a call with the line `call`:
//
//   tolerance 1e-5                 of the numbers of all outputs, relative to 1 or to the number
//   call
//   input NAME TYPE DIMS VALUES... a tensor: `input x f32 2x2 1 2 3 4`; DIMS can be `scalar`
//   element NAME TYPE DIMS ...     an element of a sequence
//   empty NAME                     an optional without a value
//   output NAME TYPE DIMS VALUES   a result, or an element of one that is a list
//   error TEXT                     the call fails, and its message contains the text
#pragma once

#include <string>
#include <vector>

#include "scopevm/tensor.h"

namespace scopevm::corpus {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct Case {
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> elements;
  std::vector<std::string> empty;
  std::vector<NamedTensor> outputs;
  std::string error;  // empty: the call succeeds
};

struct Cases {
  double tolerance = 0;
  std::vector<Case> calls;
};

// Throws std::runtime_error for a file that cannot be read or is malformed.
Cases read_cases(const std::string& path);

// A description of the first difference, or "". Numbers may differ by the tolerance.
std::string difference(const Tensor& given, const Tensor& expected, double tolerance);

}  // namespace scopevm::corpus
