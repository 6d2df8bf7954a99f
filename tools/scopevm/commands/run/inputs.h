// The inputs of scopevm run: files, random tensors and values of the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "tools/tensors/named_value.h"

namespace scopevm::tool {

struct NamedText {
  std::string name;
  std::string text;
};

// Parses NAME=TEXT for the inputs or the outputs of a module, whose names can contain '='. `what`
// is "input" or "output". Errors: kInvalidArgument, also if a name is given twice.
Result<std::vector<NamedText>> parse_named(const std::vector<std::string>& strings,
                                           const std::vector<TensorSignature>& declared,
                                           const std::string& what);

struct RunInputs {
  std::vector<NamedText> given;
  // If not empty, inputs that are not given are random. Given inputs must have these sizes.
  std::map<std::string, int64_t> dims;
  std::vector<std::string> never_random;  // inputs that are not set unless they are given
  std::vector<std::string> split;         // inputs of other sizes
};

// Parses --input and VALUES. Errors: kInvalidArgument.
Result<RunInputs> parse_inputs(const std::vector<std::string>& given_inputs,
                               const std::vector<std::string>& values, const Signature& signature);

// Reads and generates the inputs. Errors: those of read_npy() and random_tensor().
Result<std::vector<NamedValue>> make_inputs(const RunInputs& inputs, const Module& module,
                                            uint64_t seed);

}  // namespace scopevm::tool
