// The state of a sequence or a generation.
#pragma once

#include <vector>

#include "scopevm/state.h"
#include "scopevm/status.h"
#include "tools/serve/model/loaded_model.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// A state of the model's pairs. Inputs of its first request give the values of dims, in addition to
// the configuration, and initial values. Errors: those of State::create().
Result<State> create_state(const LoadedModel& model, const std::vector<NamedTensor>& inputs);

}  // namespace scopevm::serve
