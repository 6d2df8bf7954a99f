// Splits inputs into steps, collects the outputs, and reads and writes states; see stream.h.
#include "tools/scopevm/commands/run/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "runtime/state_pairs.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/small_type.h"
#include "tools/command_line/arguments.h"
#include "tools/files/file.h"

namespace scopevm::tool {
namespace {

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

const TensorSignature* find(const std::vector<TensorSignature>& declared, const std::string& name) {
  const auto found = std::ranges::find(declared, name, &TensorSignature::name);
  return found == declared.end() ? nullptr : &*found;
}

// Parses "x=0", "audio=1:512" and "attention_mask=1:+1".
Result<Steps> parse_steps(const std::string& text, const Signature& signature) {
  const auto error = [&] {
    return invalid("--steps " + text +
                   ": expected INPUT=AXIS, INPUT=AXIS:SIZE or INPUT=AXIS:+SIZE, "
                   "such as x=1:512");
  };
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedText> named,
                           parse_named({text}, signature.inputs, "the steps of"));
  std::string value = named[0].text;
  const size_t colon = value.find(':');
  const bool grows = colon != std::string::npos && value.substr(colon + 1, 1) == "+";
  if (grows) value.erase(colon + 1, 1);
  const Result<int64_t> axis = parse_number(value.substr(0, colon));
  const Result<int64_t> size =
      colon == std::string::npos ? Result<int64_t>(1) : parse_number(value.substr(colon + 1));
  if (!axis.ok() || !size.ok() || *axis < 0 || *size < 1) return error();
  const TensorSignature* input = find(signature.inputs, named[0].name);
  if (input == nullptr)
    return invalid("--steps: the module has no input \"" + named[0].name + "\"");
  if (input->kind != ValueKind::kTensor || input->dtype == DType::kStr)
    return invalid("--steps: input \"" + input->name + "\" is not a tensor of numbers");
  return Steps{named[0].name, *axis, *size, grows};
}

// The pairs of --state, and those that the module declares: if --state names one of them, or if
// neither --state nor --input names an input of them.
Result<std::vector<NamedText>> state_pairs(const std::vector<std::string>& states,
                                           const std::vector<NamedText>& given,
                                           const Signature& signature) {
  std::vector<std::string> inputs, outputs;
  for (const TensorSignature& input : signature.inputs) inputs.push_back(input.name);
  for (const TensorSignature& output : signature.outputs) outputs.push_back(output.name);
  std::vector<NamedText> pairs;
  for (const std::string& text : states) {
    auto parsed = runtime::parse_state_pairs(text, inputs, outputs);
    if (!parsed.ok()) return std::move(parsed).status().with_context("--state " + text);
    for (const auto& [input, output] : *parsed) pairs.push_back({input, output});
  }
  const auto is_declared = [&](const std::vector<NamedText>& named, const TensorSignature& input) {
    return input.state_output >= 0 &&
           std::ranges::find(named, input.name, &NamedText::name) != named.end();
  };
  const auto has_declared = [&](const std::vector<NamedText>& named) {
    return std::ranges::any_of(
        signature.inputs, [&](const TensorSignature& input) { return is_declared(named, input); });
  };
  if (states.empty() ? has_declared(given) : !has_declared(pairs)) return pairs;
  for (const TensorSignature& input : signature.inputs)
    if (input.state_output >= 0 && !is_declared(pairs, input))
      pairs.push_back({input.name, outputs[static_cast<size_t>(input.state_output)]});
  return pairs;
}

size_t product(std::span<const int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

}  // namespace

Result<StreamPlan> parse_stream(const StreamOptions& options, const std::vector<NamedText>& given,
                                const Signature& signature) {
  StreamPlan plan;
  SCOPEVM_ASSIGN_OR_RETURN(plan.pairs, state_pairs(options.states, given, signature));
  plan.file = options.file;
  if (!plan.file.empty() && plan.pairs.empty())
    return invalid("--state-file: expected also --state, because the module declares no state");
  for (const std::string& text : options.steps) {
    SCOPEVM_ASSIGN_OR_RETURN(const Steps steps, parse_steps(text, signature));
    if (std::ranges::find(plan.pairs, steps.input, &NamedText::name) != plan.pairs.end())
      return invalid("--steps: input \"" + steps.input + "\" has a state");
    if (std::ranges::find(plan.steps, steps.input, &Steps::input) != plan.steps.end())
      return invalid("--steps: input \"" + steps.input + "\" is given twice");
    plan.steps.push_back(steps);
  }
  return plan;
}

Status Stream::set_input(Call& call, const std::string& name, Tensor tensor) {
  if (std::ranges::find(plan_.pairs, name, &NamedText::name) != plan_.pairs.end()) {
    initial_[name] = std::move(tensor);
    return {};
  }
  if (std::ranges::find(plan_.steps, name, &Steps::input) != plan_.steps.end()) {
    sequences_[name].all = std::move(tensor);
    return {};
  }
  if (const TensorSignature* declared = find(signature_.inputs, name);
      declared != nullptr && declared->dims.size() == tensor.dims().size())
    for (size_t axis = 0; axis < declared->dims.size(); ++axis)
      dims_.emplace(declared->dims[axis], tensor.dims()[axis]);
  return call.set_input(name, tensor);
}

// The dims of a step are those of the tensor, with the size of a step. If the tensor has one axis
// more than the input, the axis is removed. Sets the input to the tensor of the first step.
Status Stream::split(const Steps& steps, Call& call) {
  auto& [all, step] = sequences_[steps.input];
  if (all.is_empty()) return invalid("--steps: input \"" + steps.input + "\" is not given");
  const TensorSignature& declared = *find(signature_.inputs, steps.input);
  const std::string where = "input \"" + steps.input + "\"";
  const std::span<const int64_t> given = all.dims();
  if (steps.axis >= all.rank())
    return invalid(fmt::format("{}: axis {} of --steps is not in {}", where, steps.axis,
                               runtime::shape_text(given)));
  const auto axis = static_cast<size_t>(steps.axis);
  if (given[axis] == 0 || given[axis] % steps.size != 0)
    return invalid(
        fmt::format("{}: dim {} is {}, expected a positive multiple of {}, the size of a step",
                    where, axis, given[axis], steps.size));
  if (const DType dtype = all.dtype(); static_cast<int64_t>(product(given.subspan(axis + 1))) *
                                           steps.size % elements_per_byte(dtype) !=
                                       0)
    return invalid(
        fmt::format("{}: a step begins inside a byte of {} elements", where, name(dtype)));
  const int64_t count = given[axis] / steps.size;
  if (&steps != plan_.steps.data() && count != count_)
    return invalid(fmt::format("{}: the number of steps is {}, expected {} as of input \"{}\"",
                               where, count, count_, plan_.steps[0].input));
  count_ = count;
  std::vector<int64_t> dims(given.begin(), given.end());
  if (dims.size() == declared.dims.size() + 1 && steps.size == 1 && !steps.grows)
    dims.erase(dims.begin() + steps.axis);
  else
    dims[axis] = steps.size;
  SCOPEVM_ASSIGN_OR_RETURN(step, Tensor::allocate(all.dtype(), dims));
  if (dims.size() == declared.dims.size())
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis || !steps.grows) dims_.emplace(declared.dims[i], dims[i]);
  return call.set_input(steps.input, step);
}

Status Stream::set_step(Call& call, int64_t step) {
  for (const Steps& steps : plan_.steps) {
    auto& [all, part] = sequences_.at(steps.input);
    const auto axis = static_cast<size_t>(steps.axis);
    const std::span<const int64_t> dims = all.dims();
    if (steps.grows) {
      std::vector<int64_t> longer(dims.begin(), dims.end());
      longer[axis] = (step + 1) * steps.size;
      SCOPEVM_ASSIGN_OR_RETURN(part, Tensor::allocate(all.dtype(), longer));
      SCOPEVM_RETURN_IF_ERROR(call.set_input(steps.input, part));
    }
    // The tensor has `rows` ranges with parts of `bytes` bytes. A step has one part of each, or the
    // first parts.
    const size_t rows = product(dims.first(axis)), first = static_cast<size_t>(step);
    const auto bytes = static_cast<size_t>(
        byte_size(all.dtype(), static_cast<int64_t>(product(dims.subspan(axis + 1))) * steps.size));
    const size_t copied = steps.grows ? bytes * (first + 1) : bytes;
    const auto* from = static_cast<const char*>(all.data());
    auto* to = static_cast<char*>(part.data());
    for (size_t row = 0; row < rows; ++row)
      std::memcpy(to + row * copied,
                  from + (row * static_cast<size_t>(count_) + (steps.grows ? 0 : first)) * bytes,
                  copied);
  }
  return {};
}

Status Stream::begin(const Session& session, Call& call, std::map<std::string, int64_t> dims) {
  for (const Steps& steps : plan_.steps) SCOPEVM_RETURN_IF_ERROR(split(steps, call));
  outputs_.resize(signature_.outputs.size());
  if (plan_.pairs.empty()) return {};
  StateOptions options{.pairs = {}, .dims = std::move(dims)};
  for (const DimensionSignature& dimension : signature_.dimensions)
    if (const auto known = dims_.find(dimension.name); known != dims_.end())
      options.dims.insert(*known);
  for (const NamedText& pair : plan_.pairs) {
    const auto initial = initial_.find(pair.name);
    options.pairs.push_back(
        {pair.name, pair.text, initial == initial_.end() ? Tensor() : initial->second});
  }
  SCOPEVM_ASSIGN_OR_RETURN(state_, State::create(session, options));
  std::error_code ignored;
  if (!plan_.file.empty() && std::filesystem::exists(plan_.file, ignored)) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(plan_.file));
    SCOPEVM_RETURN_IF_ERROR(state_->restore(bytes).with_context(plan_.file));
  }
  return call.set_state(*state_);
}

bool Stream::is_tied(size_t output) const {
  return std::ranges::find(plan_.pairs, signature_.outputs[output].name, &NamedText::text) !=
         plan_.pairs.end();
}

namespace {

// Copies the elements of a step. Those of small types can share a byte with others, which was 0.
void append(const Tensor& part, int64_t step, const Tensor& all) {
  if (part.bytes() == 0) return;
  if (elements_per_byte(part.dtype()) == 1) {
    std::memcpy(static_cast<char*>(all.data()) + step * part.bytes(), part.data(),
                static_cast<size_t>(part.bytes()));
    return;
  }
  const runtime::SmallType& type = *runtime::small_type(part.dtype());
  const int64_t count = part.element_count();
  for (int64_t i = 0; i < count; ++i)
    runtime::set_pattern(type, all.data(), step * count + i,
                         runtime::pattern_at(type, part.data(), i));
}

}  // namespace

Status Stream::keep_outputs(const Call& call, int64_t step) {
  if (plan_.steps.empty()) return {};
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    const Tensor& output = call.outputs()[i];
    // A tied output has one value. The sizes of strings and sequences differ in each step.
    if (is_tied(i) || output.is_empty() || output.dtype() == DType::kStr) continue;
    if (step == 0) {
      std::vector<int64_t> dims = {count_};
      dims.insert(dims.end(), output.dims().begin(), output.dims().end());
      SCOPEVM_ASSIGN_OR_RETURN(outputs_[i], Tensor::allocate(output.dtype(), dims));
      std::memset(outputs_[i].data(), 0, static_cast<size_t>(outputs_[i].bytes()));
    }
    if (!std::ranges::equal(outputs_[i].dims().subspan(1), output.dims()))
      return invalid(fmt::format("output \"{}\": the dims are {} in step {}, and {} in the first",
                                 signature_.outputs[i].name, runtime::shape_text(output.dims()),
                                 step, runtime::shape_text(outputs_[i].dims().subspan(1))));
    append(output, step, outputs_[i]);
  }
  return {};
}

Status Stream::keep_states(const Call& call) {
  for (const NamedText& pair : plan_.pairs) {
    const auto output = std::ranges::find(signature_.outputs, pair.text, &TensorSignature::name);
    const auto index = static_cast<size_t>(output - signature_.outputs.begin());
    if (!call.outputs()[index].is_empty()) continue;
    SCOPEVM_ASSIGN_OR_RETURN(outputs_[index], state_->value(pair.name));
  }
  return {};
}

const Tensor* Stream::output(size_t index) const {
  return outputs_[index].is_empty() ? nullptr : &outputs_[index];
}

Status Stream::finish() const {
  if (plan_.file.empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, state_->snapshot());
  const std::span<const uint8_t> piece = bytes;
  return write_file(plan_.file, {&piece, 1});
}

}  // namespace scopevm::tool
