// Finds the dims and the initial values; see create_state.h.
#include "tools/serve/model/create_state.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/model/find_tensor.h"

namespace scopevm::serve {
namespace {

// The value of a named dimension in the inputs of a request.
std::optional<int64_t> dim_in(const std::vector<NamedTensor>& inputs, const Signature& signature,
                              const std::string& dimension) {
  for (const NamedTensor& input : inputs) {
    const TensorSignature* const type = find_tensor(signature.inputs, input.name);
    if (type == nullptr) continue;
    const auto axis = std::ranges::find(type->dims, dimension) - type->dims.begin();
    if (static_cast<size_t>(axis) < input.tensor.dims().size() &&
        static_cast<size_t>(axis) < type->dims.size())
      return input.tensor.dims()[static_cast<size_t>(axis)];
  }
  return std::nullopt;
}

// The dims of a state that calls do not change, from the inputs of its first request and from the
// configuration.
std::map<std::string, int64_t> state_dims(const LoadedModel& model,
                                          const std::vector<NamedTensor>& inputs) {
  const Signature& signature = model.module.signature();
  std::map<std::string, int64_t> dims = model.config.sequences.dims;
  for (const StatePair& pair : model.states) {
    const TensorSignature* const input = find_tensor(signature.inputs, pair.input);
    const TensorSignature* const output = find_tensor(signature.outputs, pair.output);
    const size_t rank = std::min(input->dims.size(), output->dims.size());
    for (size_t axis = 0; axis < rank; ++axis) {
      const std::string& name = input->dims[axis];
      const bool is_named =
          std::ranges::find(signature.dimensions, name, &DimensionSignature::name) !=
          signature.dimensions.end();
      if (!is_named || output->dims[axis] != name) continue;
      if (const auto value = dim_in(inputs, signature, name)) dims[name] = *value;
    }
  }
  return dims;
}

}  // namespace

Result<State> create_state(const LoadedModel& model, const std::vector<NamedTensor>& inputs) {
  std::vector<StatePair> pairs = model.states;
  for (StatePair& pair : pairs) {
    const auto given = std::ranges::find(inputs, pair.input, &NamedTensor::name);
    if (given != inputs.end()) pair.initial = given->tensor;
  }
  return State::create(model.session, {std::move(pairs), state_dims(model, inputs)});
}

}  // namespace scopevm::serve
