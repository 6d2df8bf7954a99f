// The file config.json of a model in the repository: docs/serve.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/state.h"
#include "scopevm/status.h"

namespace scopevm::serve {

// The versions of a model that are served.
struct VersionPolicy {
  // The given numbers, or if there are none, the `latest` greatest ones.
  std::vector<int64_t> numbers;
  size_t latest = 1;
};

struct SequenceConfig {
  std::vector<StatePair> pairs;  // in addition to those that the module declares
  // Dims of states that the inputs of a request do not contain, such as a capacity.
  std::map<std::string, int64_t> dims;
  std::chrono::milliseconds idle_timeout{60'000};
  size_t max = 1000;  // sequences at the same time
};

// Requests are joined along a dimension.
struct BatchConfig {
  std::string dim;  // empty: the only batch dim of the module
  int64_t max = 32;
  // Whether requests can be joined along a dimension that is not a batch dim of the module: the
  // owner of the model asserts that each row of the outputs depends only on the same row of the
  // inputs.
  bool is_asserted = false;
};

// The generation ends after a step if each element of the output was one of the values, in this
// step or in a former one.
struct StopValues {
  std::string output;
  std::vector<int64_t> values;
};

// How the calls of a generation follow each other.
struct GenerateConfig {
  std::vector<StatePair> feedback;  // the output of a call is the input of the next one
  std::vector<StopValues> stops;
  int64_t steps = 1000;  // at most, and of requests without the parameter `steps`
};

struct ModelConfig {
  VersionPolicy versions;
  int priority = 0;                     // of requests without the parameter `priority`
  std::chrono::microseconds timeout{};  // of requests without the parameter `timeout`; 0: none
  size_t max_requests = 10'000;         // that wait or run at the same time
  std::vector<ScopeLimit> data_budgets;
  std::vector<std::map<std::string, int64_t>> warm_up;  // dims of calls before the model is ready
  std::vector<std::string> compile;                     // options of `scopevm compile`
  SequenceConfig sequences;
  std::optional<BatchConfig> batch;        // none: requests run alone
  std::optional<GenerateConfig> generate;  // none: the model is not for generations
};

// Errors: kInvalidArgument (not JSON, an unknown member, or a value out of range; the message names
// the member).
Result<ModelConfig> parse_model_config(std::string_view text);

}  // namespace scopevm::serve
