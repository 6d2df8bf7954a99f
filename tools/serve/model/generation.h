// The steps of a generation: calls of a model one after the other, where a call gets outputs of the
// one before as inputs. docs/serve.md ("Generation").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/state.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "tools/serve/model/model_config.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// Fails unless the model has the inputs and outputs of the configuration, with the same types, and
// no input is one of the states. Errors: kInvalidArgument.
Status check_generation(const Signature& signature, const GenerateConfig& config,
                        const std::vector<StatePair>& states);

class Generation {
 public:
  // The configuration and the signature outlive the generation. `steps` is at least 1.
  Generation(const GenerateConfig& config, const Signature& signature, int64_t steps)
      : config_(config), signature_(signature), steps_(steps), stopped_(config.stops.size()) {}

  // Takes the outputs of a step. Returns whether another one follows, with inputs(). Errors:
  // kOutOfMemory.
  Result<bool> advance(std::span<const Tensor> outputs);
  // Copies: between steps, a generation has no memory of a pool.
  const std::vector<NamedTensor>& inputs() const { return inputs_; }

 private:
  bool is_stopped(const StopValues& stop, const Tensor& output, std::vector<bool>& stopped) const;

  const GenerateConfig& config_;
  const Signature& signature_;
  int64_t steps_;  // that remain
  // By stop and element: whether the element was one of the values in some step.
  std::vector<std::vector<bool>> stopped_;
  std::vector<NamedTensor> inputs_;
};

}  // namespace scopevm::serve
