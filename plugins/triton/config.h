// The model configuration (config.pbtxt, which Triton provides as JSON): what it declares, whether
// this agrees with the signature of the module, and its completion from the signature.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/module.h"
#include "scopevm/status.h"

namespace scopevm::triton {

// An input or output that the configuration declares.
struct TensorConfig {
  std::string name;
  std::string type;           // "TYPE_FP32"
  std::vector<int64_t> dims;  // as the model sees them (`reshape`), without the batch; -1: any size
};

// A state that Triton stores for each sequence: the value of an output becomes that of an input.
struct StateConfig {
  std::string input;
  std::string output;
};

struct Config {
  int64_t max_batch_size = 0;  // 0: requests have no batch dim, and are not joined
  std::vector<TensorConfig> inputs;
  std::vector<TensorConfig> outputs;
  std::vector<StateConfig> states;
  std::vector<std::string> control_inputs;  // of the sequence batcher, which sets them
  int threads = 1;
  std::vector<ScopeLimit> memory_limits;
  nlohmann::json json;  // the complete configuration
};

// Errors: kInvalidArgument (not JSON, or a field or parameter with another form than expected).
Result<Config> read_config(std::string_view text);

// Errors: kInvalidArgument (max_batch_size is above 0, and the inputs and outputs do not have one
// named dimension as their first dim, or it is smaller), kUnsupported (Triton cannot represent an
// input or output).
Status check_module(const Config& config, const Signature& signature);

// Adds inputs and outputs to config.json if it has none. Returns whether anything was added.
// REQUIRES: check_module() returned ok.
bool complete_config(Config& config, const Signature& signature);

// Errors: kInvalidArgument (the configuration differs from the signature; the message names the
// input or output and both values). REQUIRES: check_module() returned ok.
Status check_config(const Config& config, const Signature& signature);

}  // namespace scopevm::triton
