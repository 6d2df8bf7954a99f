// scopevm run: reads or generates the inputs, makes one or more calls, prints the results, and
// writes them to files.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tools/scopevm/arguments.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/commands/places.h"
#include "tools/scopevm/commands/run_report.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/tensors/npy.h"
#include "tools/scopevm/tensors/random_tensor.h"
#include "tools/scopevm/trace_file.h"

namespace scopevm::tool {
namespace {

struct NamedText {
  std::string name;
  std::string text;
};

// The parsed command line. A syntax error in it is a usage error. The elements of sequences are
// parsed later, because only the signature of the module shows which inputs are sequences.
struct Plan {
  std::vector<NamedText> inputs;
  std::vector<NamedText> outputs;
  SessionOptions session;
};

Result<std::vector<NamedText>> assignments(const std::vector<std::string>& strings) {
  std::vector<NamedText> named;
  for (const std::string& text : strings) {
    SCOPEVM_ASSIGN_OR_RETURN(auto parts, split_assignment(text));
    named.push_back({std::move(parts.first), std::move(parts.second)});
  }
  return named;
}

Status check_given_once(const std::string& what, const std::vector<NamedText>& named) {
  for (size_t i = 0; i < named.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (named[i].name == named[j].name)
        return {StatusCode::kInvalidArgument, what + " \"" + named[i].name + "\" is given twice"};
  return {};
}

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kString = "string:";

Result<Plan> make_plan(const RunOptions& options) {
  Plan plan;
  SCOPEVM_ASSIGN_OR_RETURN(plan.inputs, assignments(options.inputs));
  SCOPEVM_RETURN_IF_ERROR(check_given_once("input", plan.inputs));
  SCOPEVM_ASSIGN_OR_RETURN(plan.outputs, assignments(options.outputs));
  for (const NamedText& input : plan.inputs)
    // A value with a comma can only be that of a sequence.
    if (input.text.starts_with(kRandom) && input.text.find(',') == std::string::npos)
      if (auto request = parse_random(input.text.substr(kRandom.size())); !request.ok())
        return std::move(request).status();
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedText> limits, assignments(options.limits));
  for (const NamedText& limit : limits) {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, parse_bytes(limit.text));
    plan.session.memory_limits.push_back({limit.name, bytes});
  }
  for (const std::string& device : options.devices) {
    SCOPEVM_ASSIGN_OR_RETURN(DeviceBinding binding, parse_binding(device));
    plan.session.devices.push_back(std::move(binding));
  }
  plan.session.threads = options.threads;
  plan.session.emulate = options.emulate;
  return plan;
}

// Returns a string tensor of the given rank, with the elements along its last axis. For rank 0,
// the list must have one element.
Result<Tensor> make_strings(std::string_view list, size_t rank) {
  const std::vector<std::string> strings = split_strings(list);
  std::vector<int64_t> dims(rank, 1);
  if (rank > 0) dims.back() = static_cast<int64_t>(strings.size());
  return Tensor::from_strings(std::vector<std::string_view>(strings.begin(), strings.end()), dims);
}

constexpr std::string_view kNoValue = "none";

ValueKind kind_of(const std::string& input, const Signature& signature) {
  // set_input() reports a name that the module does not have.
  const auto declared = std::ranges::find(signature.inputs, input, &TensorSignature::name);
  return declared == signature.inputs.end() ? ValueKind::kTensor : declared->kind;
}

Result<Tensor> make_input(const NamedText& input, const Signature& signature, uint64_t seed) {
  const bool is_string = input.text.starts_with(kString);
  if (!is_string && !input.text.starts_with(kRandom)) return read_npy(input.text);
  // set_input() reports a name that the module does not have.
  const auto declared = std::ranges::find(signature.inputs, input.name, &TensorSignature::name);
  const bool is_declared = declared != signature.inputs.end();
  if (is_string)
    return make_strings(std::string_view(input.text).substr(kString.size()),
                        is_declared ? declared->dims.size() : 1);
  const DType dtype = is_declared ? declared->dtype : DType::kF32;
  SCOPEVM_ASSIGN_OR_RETURN(const RandomTensor request,
                           parse_random(input.text.substr(kRandom.size())));
  Result<Tensor> tensor = random_tensor(dtype, request, seed);
  if (!tensor.ok()) return std::move(tensor).status().with_context("input \"" + input.name + "\"");
  return tensor;
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

Status set_inputs(Call& call, const Plan& plan, const Signature& signature, uint64_t seed) {
  for (const NamedText& input : plan.inputs) {
    const ValueKind kind = kind_of(input.name, signature);
    if (is_optional(kind) && input.text == kNoValue) {
      SCOPEVM_RETURN_IF_ERROR(call.set_no_value(input.name));
      continue;
    }
    if (kind == ValueKind::kSequence || kind == ValueKind::kOptionalSequence) {
      SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> elements, make_sequence(input, signature, seed));
      SCOPEVM_RETURN_IF_ERROR(call.set_sequence(input.name, std::move(elements)));
      continue;
    }
    // Each tensor has its own seed, so that tensors of equal shape have different elements.
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, make_input(input, signature, seed++));
    SCOPEVM_RETURN_IF_ERROR(call.set_input(input.name, std::move(tensor)));
  }
  return {};
}

// Writes a tensor to the file, or the elements of a sequence or optional to FILE.0.npy, FILE.1.npy,
// ...
Status write_output(const Call& call, const NamedText& output, const Signature& signature) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor tensor, call.output(output.name));
  const auto declared = std::ranges::find(signature.outputs, output.name, &TensorSignature::name);
  if (declared->kind == ValueKind::kTensor) return write_npy(output.text, tensor);
  constexpr std::string_view kSuffix = ".npy";
  std::string stem = output.text;
  if (stem.ends_with(kSuffix)) stem.resize(stem.size() - kSuffix.size());
  SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(output.name));
  for (size_t i = 0; i < elements.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(
        write_npy(stem + "." + std::to_string(i) + std::string(kSuffix), elements[i]));
  return {};
}

Status run_plan(const Plan& plan, const RunOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(options.module));
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, plan.session));
  const auto load_time = std::chrono::steady_clock::now() - began;
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_RETURN_IF_ERROR(set_inputs(call, plan, module.signature(), options.seed));
  TraceFile trace;
  CallOptions call_options;
  if (!options.trace.empty()) call_options.trace = &trace;
  RunReport report;
  report.load_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(load_time).count();
  for (int i = 0; i < options.repeat; ++i) {
    SCOPEVM_RETURN_IF_ERROR(call.run(call_options));
    report.latency_ns.push_back(call.stats().latency_ns);
  }
  for (const NamedText& output : plan.outputs)
    SCOPEVM_RETURN_IF_ERROR(write_output(call, output, module.signature()));
  if (!options.trace.empty()) SCOPEVM_RETURN_IF_ERROR(trace.write(options.trace));
  const std::vector<ScopeUse> memory = concerned_scopes(call.stats());
  report.signature = &module.signature();
  report.function = call.stats().function;
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const bool has_value, call.has_value(i));
    SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(i));
    report.outputs.push_back({has_value, elements});
  }
  report.memory = memory;
  report.copies = call.stats().copies;
  if (options.emulate) report.emulated_seconds = call.stats().emulated_seconds;
  report.has_stats = options.stats;
  options.json ? print_json(report) : print_text(report);
  return {};
}

}  // namespace

int run(const RunOptions& options) {
  const Result<Plan> plan = make_plan(options);
  if (!plan.ok()) return report_usage(std::string(plan.status().message()));
  return report(run_plan(*plan, options));
}

}  // namespace scopevm::tool
