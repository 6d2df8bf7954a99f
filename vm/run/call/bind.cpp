// Checks inputs against the signature and binds dimensions; see bind.h.
#include "vm/run/call/bind.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/tensor/shape.h"
#include "vm/run/bound/request_check.h"

namespace scopevm::vm {
namespace {

// The dims in the signature of a list whose elements can have any rank.
const std::vector<std::string> kAnyRank = {format::kAnyDims};

// `role`: "input" or "output".
Status mismatch(std::string_view role, const TensorSignature& signature, const Tensor& given,
                const std::string& what, int axis = -1) {
  std::string expected = declared_text(signature);
  std::string type = runtime::type_text(given.dtype(), given.dims());
  std::string message = std::string(role) + " \"" + signature.name + "\": " + what + ": expected " +
                        expected + ", given " + type;
  return {StatusCode::kInvalidArgument,
          std::move(message),
          {signature.name, axis, std::move(expected), std::move(type)}};
}

Status missing(const TensorSignature& signature, std::string message) {
  return {StatusCode::kInvalidArgument,
          std::move(message),
          {signature.name, -1, declared_text(signature), {}}};
}

// The first input axis whose dim is a given dimension. It determines the value of the dimension.
struct Witness {
  size_t input;
  size_t axis;
  int64_t value;  // -1: not bound yet
};

Status bind_dimension(const LoadedModule& module, int32_t dimension, const Witness& here,
                      Witness& first) {
  const Signature& signature = module.signature();
  const DimensionSignature& declared = signature.dimensions[dimension];
  const std::string& input = signature.inputs[here.input].name;
  // Bounds were checked when the first axis bound the dimension.
  if (first.value == here.value) return {};
  if (first.value >= 0) {
    const std::string& other = signature.inputs[first.input].name;
    return {StatusCode::kInvalidArgument,
            "input \"" + input + "\": dim " + std::to_string(here.axis) + " is " +
                std::to_string(here.value) + ", but it must equal dim " +
                std::to_string(first.axis) + " of input \"" + other + "\", which is " +
                std::to_string(first.value) + " (dimension " + declared.name + ")",
            {input, static_cast<int>(here.axis), std::to_string(first.value),
             std::to_string(here.value)}};
  }
  first = here;
  // This runs in every call, so the message is formatted on failure only.
  if (here.value >= declared.min && here.value <= declared.max &&
      (declared.multiple_of <= 1 || here.value % declared.multiple_of == 0))
    return {};
  return check_dimension(declared, here.value,
                         "input \"" + input + "\": dim " + std::to_string(here.axis));
}

bool overlaps(const Tensor& a, const Tensor& b) {
  // std::less is a total order of all pointers. The operator < is unspecified for pointers into
  // different objects.
  const std::less<> before;
  const auto* a_begin = static_cast<const char*>(a.data());
  const auto* b_begin = static_cast<const char*>(b.data());
  return a.bytes() > 0 && b.bytes() > 0 && before(a_begin, b_begin + b.bytes()) &&
         before(b_begin, a_begin + a.bytes());
}

Status check_overlap(const LoadedModule& module, const Request& request) {
  const Signature& signature = module.signature();
  const auto are_in_place = [&](size_t output, size_t input) {
    const format::TensorDecl& declared = module.main().decl->inputs[input];
    return declared.is_in_place && std::cmp_equal(declared.state_output, output) &&
           request.outputs[output].tensor.data() == request.inputs[input].data();
  };
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const Tensor& output = request.outputs[i].tensor;
    if (output.is_empty()) continue;
    // The call could overwrite an input that shares bytes with a buffer, and read it afterwards.
    for (size_t j = 0; j < request.inputs.size(); ++j)
      if ((overlaps(output, request.inputs[j]) && !are_in_place(i, j)) ||
          std::ranges::any_of(request.list_inputs[j].elements,
                              [&](const Tensor& element) { return overlaps(output, element); }))
        return {StatusCode::kInvalidArgument, "output \"" + signature.outputs[i].name +
                                                  "\" overlaps input \"" +
                                                  signature.inputs[j].name + "\""};
    for (size_t j = 0; j < i; ++j)
      if (overlaps(output, request.outputs[j].tensor))
        return {StatusCode::kInvalidArgument, "output \"" + signature.outputs[i].name +
                                                  "\" overlaps output \"" +
                                                  signature.outputs[j].name + "\""};
  }
  return {};
}

}  // namespace

Status check_buffer(const TensorSignature& signature, const Tensor& given) {
  if (given.dtype() != signature.dtype)
    return mismatch("output", signature, given, "wrong element type");
  if (given.dims().size() != signature.dims.size())
    return mismatch("output", signature, given, "wrong rank");
  for (size_t axis = 0; axis < signature.dims.size(); ++axis) {
    const std::string& dim = signature.dims[axis];
    int64_t fixed = 0;
    const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), fixed);
    const bool is_fixed = error == std::errc() && end == dim.data() + dim.size();
    if (is_fixed && fixed != given.dims()[axis])
      return mismatch("output", signature, given, "wrong dim " + std::to_string(axis),
                      static_cast<int>(axis));
  }
  return {};
}

std::string declared_text(const TensorSignature& signature) {
  std::string text;
  if (signature.kind != ValueKind::kTensor) text = std::string(name(signature.kind)) + " of ";
  text += std::string(name(signature.dtype)) + "[";
  for (size_t i = 0; i < signature.dims.size(); ++i)
    text += (i > 0 ? ", " : "") + signature.dims[i];
  return text + "]";
}

Status check_list(const LoadedModule& module, size_t index, const ListValue& given) {
  const TensorSignature& signature = module.signature().inputs[index];
  const bool is_tensor = signature.kind == ValueKind::kTensor;
  const bool is_sequence = !is_tensor && signature.kind != ValueKind::kOptional;
  if (given.has_value ? !is_sequence : !is_optional(signature.kind))
    return {StatusCode::kInvalidArgument,
            "input \"" + signature.name + "\": expected " + (is_tensor ? "a tensor " : "") +
                declared_text(signature) + ", given " +
                (given.has_value ? "a sequence" : "no value"),
            {.subject = signature.name,
             .expected = declared_text(signature),
             .given = given.has_value ? "a sequence" : "no value"}};
  for (const Tensor& element : given.elements)
    SCOPEVM_RETURN_IF_ERROR(check_input(module, index, element));
  return {};
}

Status check_input(const LoadedModule& module, size_t index, const Tensor& given) {
  const TensorSignature& signature = module.signature().inputs[index];
  if (given.is_empty())
    return missing(signature, "input \"" + signature.name + "\": expected " +
                                  declared_text(signature) + ", given an empty tensor");
  if (given.dtype() != signature.dtype)
    return mismatch("input", signature, given, "wrong element type");
  if (signature.kind != ValueKind::kTensor && signature.dims == kAnyRank) return {};
  if (given.dims().size() != signature.dims.size())
    return mismatch("input", signature, given, "wrong rank");
  const std::vector<AxisRule>& rules = module.axis_rules()[index];
  for (size_t axis = 0; axis < rules.size(); ++axis)
    if (rules[axis].exact >= 0 && rules[axis].exact != given.dims()[axis])
      return mismatch("input", signature, given, "wrong dim " + std::to_string(axis),
                      static_cast<int>(axis));
  return {};
}

Status bind_inputs(const LoadedModule& module, Request& request) {
  const Signature& signature = module.signature();
  // An array on the stack avoids a heap allocation per call for models with few dimensions.
  constexpr size_t kInline = 16;
  Witness inline_witnesses[kInline];
  std::vector<Witness> more(signature.dimensions.size() > kInline ? signature.dimensions.size()
                                                                  : 0);
  Witness* witnesses = more.empty() ? inline_witnesses : more.data();
  std::fill_n(witnesses, signature.dimensions.size(), Witness{0, 0, -1});
  for (size_t input = 0; input < request.inputs.size(); ++input) {
    const Tensor& given = request.inputs[input];
    const bool is_tensor = signature.inputs[input].kind == ValueKind::kTensor;
    if (is_tensor ? given.is_empty() : !request.list_inputs[input].is_set)
      return missing(signature.inputs[input], "missing input \"" + signature.inputs[input].name +
                                                  "\": expected " +
                                                  declared_text(signature.inputs[input]));
    if (!is_tensor) continue;
    const std::vector<AxisRule>& rules = module.axis_rules()[input];
    for (size_t axis = 0; axis < rules.size(); ++axis)
      if (const int32_t dimension = rules[axis].dimension; dimension >= 0)
        SCOPEVM_RETURN_IF_ERROR(bind_dimension(module, dimension, {input, axis, given.dims()[axis]},
                                               witnesses[dimension]));
  }
  for (size_t i = 0; i < request.dimensions.size(); ++i) request.dimensions[i] = witnesses[i].value;
  return check_overlap(module, request);
}

}  // namespace scopevm::vm
