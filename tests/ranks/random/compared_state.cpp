#include "tests/ranks/random/compared_state.h"

#include <algorithm>

#include "tests/ranks/random/tensors.h"

namespace scopevm::ranks {
namespace {

bool is_number(const std::string& dim) {
  return !dim.empty() && std::ranges::all_of(dim, [](char c) { return c >= '0' && c <= '9'; });
}

std::string output_of(const RandomModel& model, const Signature& signature,
                      const TensorSignature& input) {
  if (input.state_output >= 0)
    return signature.outputs[static_cast<size_t>(input.state_output)].name;
  for (const auto& [name, output] : model.pairs)
    if (name == input.name) return output;
  return "";
}

// The value without the elements after the rows.
Result<Tensor> value_of(const State& state, const TiedInput& tied, const std::string& name) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor value, state.value(name));
  if (tied.capacity_axis < 0) return value;
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor rows, state.value(tied.rows));
  return slice_of(value, static_cast<size_t>(tied.capacity_axis), 0, rows.dims()[0]);
}

}  // namespace

std::vector<Tensor> TiedInput::divide(const Tensor& whole) const {
  std::vector<Tensor> result;
  int64_t start = 0;
  for (const TensorSignature& part : parts) {
    size_t axis = 0;
    while (axis < part.dims.size() && part.dims[axis] == type.dims[axis]) ++axis;
    if (axis == part.dims.size()) return {whole};
    const int64_t size = std::stoll(part.dims[axis]);
    result.push_back(slice_of(whole, axis, start, size));
    start += size;
  }
  return result;
}

std::vector<TiedInput> tied_inputs(const RandomModel& model, const Signature& plain,
                                   const Signature& distributed) {
  std::vector<TiedInput> result;
  for (const TensorSignature& input : plain.inputs) {
    TiedInput tied{.type = input, .output = output_of(model, plain, input)};
    if (tied.output.empty()) continue;
    if (const auto buffer = model.buffers.find(input.name); buffer != model.buffers.end()) {
      tied.capacity_axis = static_cast<int>(buffer->second.axis);
      tied.rows = buffer->second.rows;
    }
    for (const TensorSignature& output : plain.outputs)
      if (output.name == tied.output) tied.has_one_size = output.dims == input.dims;
    for (const TensorSignature& part : distributed.inputs)
      if (part.name == input.name || part.name.starts_with(input.name + ".rank")) {
        tied.parts.push_back(part);
        tied.parts_outputs.push_back(output_of(model, distributed, part));
      }
    result.push_back(std::move(tied));
  }
  return result;
}

std::vector<int64_t> shape_of(const TensorSignature& type,
                              const std::map<std::string, int64_t>& values) {
  std::vector<int64_t> shape;
  for (const std::string& dim : type.dims)
    shape.push_back(is_number(dim) ? std::stoll(dim) : values.at(dim));
  return shape;
}

std::string ComparedState::difference_of(std::span<const TiedInput> inputs) const {
  for (const TiedInput& tied : inputs) {
    const std::string& name = tied.type.name;
    const Result<Tensor> expected = value_of(plain, tied, name);
    if (!expected.ok()) return name + ": " + std::string(expected.status().message());
    for (const auto& [text, state] : {std::pair("one process", &alone), {"job", &job}}) {
      std::vector<Tensor> parts;
      for (const TensorSignature& part : tied.parts) {
        const Result<Tensor> value = value_of(*state, tied, part.name);
        if (!value.ok()) return part.name + ": " + std::string(value.status().message());
        parts.push_back(*value);
      }
      const std::string wrong = difference(joined(parts, expected->dims()), *expected);
      if (!wrong.empty()) return std::string(text) + ", state " + name + ": " + wrong;
    }
  }
  return alone.steps() == job.steps() && plain.steps() == job.steps() ? ""
                                                                      : "another number of steps";
}

}  // namespace scopevm::ranks
