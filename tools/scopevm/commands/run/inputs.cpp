// Reads and generates the inputs of a call; see inputs.h.
#include "tools/scopevm/commands/run/inputs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/command_line/arguments.h"
#include "tools/tensors/npy.h"
#include "tools/tensors/random_tensor.h"
#include "tools/tensors/scalar_tensor.h"
#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kString = "string:";
constexpr std::string_view kNoValue = "none";

template <typename Declared>
std::vector<std::string> names_of(const std::vector<Declared>& declared) {
  std::vector<std::string> names;
  for (const Declared& item : declared) names.push_back(item.name);
  return names;
}

Status check_given_once(const std::string& what, const std::vector<NamedText>& named) {
  for (size_t i = 0; i < named.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (named[i].name == named[j].name)
        return {StatusCode::kInvalidArgument, what + " \"" + named[i].name + "\" is given twice"};
  return {};
}

// Returns a string tensor of the given rank, with the elements along its last axis. For rank 0,
// the list must have one element.
Result<Tensor> make_strings(std::string_view list, size_t rank) {
  const std::vector<std::string> strings = split_strings(list);
  std::vector<int64_t> dims(rank, 1);
  if (rank > 0) dims.back() = static_cast<int64_t>(strings.size());
  return Tensor::from_strings(std::vector<std::string_view>(strings.begin(), strings.end()), dims);
}

// The declaration of an input; null if the module has no such input, which set_input() reports.
const TensorSignature* find_input(const std::string& name, const Signature& signature) {
  const auto declared = std::ranges::find(signature.inputs, name, &TensorSignature::name);
  return declared == signature.inputs.end() ? nullptr : &*declared;
}

Result<Tensor> make_tensor(const std::string& text, const TensorSignature* declared,
                           uint64_t seed) {
  const DType dtype = declared != nullptr ? declared->dtype : DType::kF32;
  if (text.starts_with(kString))
    return make_strings(std::string_view(text).substr(kString.size()),
                        declared != nullptr ? declared->dims.size() : 1);
  if (text.starts_with(kRandom)) {
    SCOPEVM_ASSIGN_OR_RETURN(const RandomTensor request, parse_random(text.substr(kRandom.size())));
    return random_tensor(dtype, request, seed);
  }
  if (!is_scalar(text)) {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, read_npy(text));
    if (!is_small(dtype)) return tensor;
    Result<Tensor> small = to_small(tensor, dtype);
    return small.ok() ? small : std::move(small).status().with_context(text);
  }
  const bool has_rank = declared != nullptr && declared->dims != std::vector<std::string>{"..."};
  return scalar_tensor(dtype, has_rank ? declared->dims.size() : 0, text);
}

Result<Tensor> make_input(const NamedText& input, const Signature& signature, uint64_t seed) {
  Result<Tensor> tensor = make_tensor(input.text, find_input(input.name, signature), seed);
  // An error of a file has the path as its context.
  const bool is_file = !input.text.starts_with(kRandom) && !is_scalar(input.text);
  if (tensor.ok() || is_file) return tensor;
  return std::move(tensor).status().with_context("input \"" + input.name + "\"");
}

// Parses comma-separated elements; an empty string is an empty sequence. A backslash escapes a
// comma of a string.
Result<std::vector<Tensor>> make_sequence(const NamedText& input, const Signature& signature,
                                          uint64_t& seed) {
  std::vector<Tensor> elements;
  for (size_t at = 0; at < input.text.size();) {
    const size_t end = find_comma(input.text, at);
    SCOPEVM_ASSIGN_OR_RETURN(
        Tensor element,
        make_input({input.name, input.text.substr(at, end - at)}, signature, seed++));
    elements.push_back(std::move(element));
    at = end + 1;
  }
  return elements;
}

// Checks that the tensor of an input has the given dims.
Status check_dims(const Tensor& tensor, const TensorSignature& declared,
                  const std::map<std::string, int64_t>& dims) {
  if (tensor.dims().size() != declared.dims.size()) return {};  // reported by set_input()
  for (size_t axis = 0; axis < declared.dims.size(); ++axis) {
    const auto given = dims.find(declared.dims[axis]);
    if (given != dims.end() && tensor.dims()[axis] != given->second)
      return {StatusCode::kInvalidArgument,
              "input \"" + declared.name + "\": dim " + std::to_string(axis) + " is " +
                  std::to_string(tensor.dims()[axis]) + ", expected " + given->first + "=" +
                  std::to_string(given->second) + ", as given"};
  }
  return {};
}

// `seed` is that of the next random tensor. Each tensor has its own, so that tensors of equal shape
// have different elements.
Result<NamedValue> make_given(const NamedText& input, const Signature& signature,
                              const RunInputs& inputs, uint64_t& seed) {
  const TensorSignature* declared = find_input(input.name, signature);
  NamedValue value{input.name, declared != nullptr ? declared->kind : ValueKind::kTensor, true, {}};
  if (is_optional(value.kind) && input.text == kNoValue) {
    value.has_value = false;
    return value;
  }
  if (value.kind == ValueKind::kSequence || value.kind == ValueKind::kOptionalSequence) {
    SCOPEVM_ASSIGN_OR_RETURN(value.elements, make_sequence(input, signature, seed));
    return value;
  }
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, make_input(input, signature, seed++));
  if (declared != nullptr && std::ranges::find(inputs.split, input.name) == inputs.split.end())
    SCOPEVM_RETURN_IF_ERROR(check_dims(tensor, *declared, inputs.dims));
  value.elements.push_back(std::move(tensor));
  return value;
}

bool has_given_dim(const TensorSignature& input, const std::map<std::string, int64_t>& dims) {
  return std::ranges::any_of(input.dims,
                             [&](const std::string& dim) { return dims.contains(dim); });
}

// A random tensor for the input with this index. REQUIRES: the input is a tensor.
Result<NamedValue> make_random(const Module& module, size_t index,
                               const std::map<std::string, int64_t>& dims, uint64_t seed) {
  const TensorSignature& input = module.signature().inputs[index];
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, module.input_shape(index, dims));
  Result<Tensor> tensor = random_tensor(input.dtype, {std::move(shape)}, seed);
  if (!tensor.ok()) return std::move(tensor).status().with_context("input \"" + input.name + "\"");
  return NamedValue{input.name, input.kind, true, {*std::move(tensor)}};
}

}  // namespace

Result<std::vector<NamedText>> parse_named(const std::vector<std::string>& strings,
                                           const std::vector<TensorSignature>& declared,
                                           const std::string& what) {
  std::vector<NamedText> named;
  for (const std::string& text : strings) {
    SCOPEVM_ASSIGN_OR_RETURN(auto parts, split_assignment(text, names_of(declared)));
    named.push_back({std::move(parts.first), std::move(parts.second)});
  }
  SCOPEVM_RETURN_IF_ERROR(check_given_once(what, named));
  return named;
}

Result<RunInputs> parse_inputs(const std::vector<std::string>& given_inputs,
                               const std::vector<std::string>& values, const Signature& signature) {
  RunInputs inputs;
  // A name that is not an input names a dimension. make_inputs() reports an unknown dimension, and
  // an input with another size.
  const std::vector<std::string> dims = names_of(signature.dimensions);
  std::vector<std::string> names = names_of(signature.inputs);
  names.insert(names.end(), dims.begin(), dims.end());
  std::vector<std::string> given = given_inputs;
  for (const std::string& text : values) {
    SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text, names));
    const bool is_dim = std::ranges::find(dims, parts.first) != dims.end();
    if (!is_dim && find_input(parts.first, signature) != nullptr)
      given.push_back(text);
    else
      SCOPEVM_RETURN_IF_ERROR(add_dim_value(parts.first, parts.second, inputs.dims));
  }
  SCOPEVM_ASSIGN_OR_RETURN(inputs.given, parse_named(given, signature.inputs, "input"));
  for (const NamedText& input : inputs.given)
    // A value with a comma can only be that of a sequence.
    if (input.text.starts_with(kRandom) && input.text.find(',') == std::string::npos)
      if (auto request = parse_random(input.text.substr(kRandom.size())); !request.ok())
        return std::move(request).status();
  return inputs;
}

Result<std::vector<NamedValue>> make_inputs(const RunInputs& inputs, const Module& module,
                                            uint64_t seed) {
  const std::vector<std::string> known = names_of(module.signature().dimensions);
  for (const auto& [name, value] : inputs.dims)
    if (std::ranges::find(known, name) == known.end())
      return module.input_shape(0, inputs.dims).status();  // names the unknown dimension
  std::vector<NamedValue> values;
  for (const NamedText& input : inputs.given) {
    SCOPEVM_ASSIGN_OR_RETURN(NamedValue value, make_given(input, module.signature(), inputs, seed));
    values.push_back(std::move(value));
  }
  if (inputs.dims.empty()) return values;
  const std::vector<TensorSignature>& declared = module.signature().inputs;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (std::ranges::find(inputs.given, declared[i].name, &NamedText::name) != inputs.given.end() ||
        std::ranges::find(inputs.never_random, declared[i].name) != inputs.never_random.end())
      continue;
    const uint64_t own_seed = seed++;
    // The call uses the default, or reports that the input is missing.
    if (declared[i].kind != ValueKind::kTensor) continue;
    if (declared[i].has_default && !has_given_dim(declared[i], inputs.dims)) continue;
    SCOPEVM_ASSIGN_OR_RETURN(NamedValue value, make_random(module, i, inputs.dims, own_seed));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace scopevm::tool
