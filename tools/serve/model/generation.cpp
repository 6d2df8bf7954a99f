// Copies outputs to inputs, and finds the last step; see generation.h.
#include "tools/serve/model/generation.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/quoted.h"
#include "tools/serve/model/find_tensor.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

Result<Tensor> copy_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::kStr) {
    std::vector<std::string_view> strings;
    for (int64_t i = 0; i < tensor.element_count(); ++i) strings.push_back(tensor.string_at(i));
    return Tensor::from_strings(strings, tensor.dims());
  }
  SCOPEVM_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.dims()));
  if (tensor.bytes() > 0)
    std::memcpy(copy.data(), tensor.data(), static_cast<size_t>(tensor.bytes()));
  return copy;
}

// Calls `visit` with each element of a tensor of booleans or integers, and returns true; false for
// other types.
template <typename Visit>
bool for_each_integer(DType dtype, const Tensor& tensor, const Visit& visit) {
  const auto elements = [&]<typename T>(T) {
    if (!tensor.is_empty())
      for (const T value : tensor.elements<T>()) visit(value);
    return true;
  };
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return elements(uint8_t{});
    case DType::kI8:
      return elements(int8_t{});
    case DType::kI16:
      return elements(int16_t{});
    case DType::kI32:
      return elements(int32_t{});
    case DType::kI64:
      return elements(int64_t{});
    case DType::kU16:
      return elements(uint16_t{});
    case DType::kU32:
      return elements(uint32_t{});
    case DType::kU64:
      return elements(uint64_t{});
    default:
      return false;
  }
}

}  // namespace

Status check_generation(const Signature& signature, const GenerateConfig& config,
                        const std::vector<StatePair>& states) {
  const auto missing = [](const char* kind, const std::string& name) {
    return invalid("the model has no " + std::string(kind) + " " + runtime::quoted(name));
  };
  for (const StatePair& pair : config.feedback) {
    const TensorSignature* const input = find_tensor(signature.inputs, pair.input);
    const TensorSignature* const output = find_tensor(signature.outputs, pair.output);
    if (input == nullptr) return missing("input", pair.input);
    if (output == nullptr) return missing("output", pair.output);
    const bool is_tensor = input->kind == ValueKind::kTensor && output->kind == ValueKind::kTensor;
    if (!is_tensor || input->dtype != output->dtype || input->dims.size() != output->dims.size())
      return invalid("input " + runtime::quoted(pair.input) + " and output " +
                     runtime::quoted(pair.output) +
                     " differ: expected tensors of the same type and rank");
    if (std::ranges::find(states, pair.input, &StatePair::input) != states.end())
      return invalid("input " + runtime::quoted(pair.input) + " is a state");
  }
  for (const StopValues& stop : config.stops) {
    const TensorSignature* const output = find_tensor(signature.outputs, stop.output);
    if (output == nullptr) return missing("output", stop.output);
    if (output->kind != ValueKind::kTensor ||
        !for_each_integer(output->dtype, Tensor(), [](auto) {}))
      return invalid("output " + runtime::quoted(stop.output) +
                     ": expected a tensor of integers or booleans");
  }
  return {};
}

// An element that has stopped remains so: the rows of a batch need not stop in the same step.
bool Generation::is_stopped(const StopValues& stop, const Tensor& output,
                            std::vector<bool>& stopped) const {
  stopped.resize(static_cast<size_t>(output.element_count()));
  size_t next = 0;
  (void)for_each_integer(output.dtype(), output, [&](auto element) {
    const bool is_stop = std::ranges::any_of(stop.values, [&](int64_t value) {
      return std::in_range<decltype(element)>(value) &&
             static_cast<decltype(element)>(value) == element;
    });
    if (is_stop) stopped[next] = true;
    ++next;
  });
  return !stopped.empty() && std::ranges::all_of(stopped, std::identity());
}

Result<bool> Generation::advance(std::span<const Tensor> outputs) {
  const auto output = [&](const std::string& name) -> const Tensor& {
    return outputs[static_cast<size_t>(find_tensor(signature_.outputs, name) -
                                       signature_.outputs.data())];
  };
  bool is_last = --steps_ == 0;
  for (size_t i = 0; i < config_.stops.size(); ++i)
    is_last |= is_stopped(config_.stops[i], output(config_.stops[i].output), stopped_[i]);
  if (is_last) return false;
  inputs_.clear();
  for (const StatePair& pair : config_.feedback) {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor copy, copy_of(output(pair.output)));
    inputs_.push_back({pair.input, std::move(copy)});
  }
  return true;
}

}  // namespace scopevm::serve
