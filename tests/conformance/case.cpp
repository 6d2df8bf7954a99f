// Runs a conformance case: compiles the model, loads it, calls it, and compares the results.
#include "tests/conformance/case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/conformance/memory_use.h"
#include "tests/conformance/reference_tensor.h"

namespace scopevm::conformance {
namespace {

namespace fs = std::filesystem;

Outcome fail(std::string detail) { return {Verdict::kFail, "", std::move(detail)}; }
Outcome fail(const Status& status) { return fail(std::string(status.message())); }

void collect_ops(const onnx::GraphProto& graph, std::set<std::string>& ops) {
  for (const onnx::NodeProto& node : graph.node()) {
    ops.insert(node.op_type());
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) collect_ops(attribute.g(), ops);
  }
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    bool starts = at == 0 || !is_word_character(text[at - 1]);
    size_t end = at + word.size();
    if (starts && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

// The message of a rejection must name a node's op and its opset. Any other rejection is a failure.
Outcome refused(const std::string& model_path, const std::string& message) {
  onnx::ModelProto model;
  std::ifstream file(model_path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) return fail("not an ONNX file: " + message);
  std::set<std::string> ops;
  collect_ops(model.graph(), ops);
  std::string text = message;
  if (text.starts_with(model_path)) text = text.substr(model_path.size());
  if (has_word(text, "opset") && has_word(text, "node"))
    for (const std::string& op : ops)
      if (has_word(text, op)) return {Verdict::kUnsupported, op, message};
  return fail("the error names no op and opset of the model: " + message);
}

// Reads the files STEM0.pb, STEM1.pb, ... in order, until one does not exist. `stem` is "input_" or
// "output_".
Result<std::vector<ReferenceValue>> read_all(const fs::path& folder, const std::string& stem,
                                             const std::vector<TensorSignature>& signature) {
  std::vector<ReferenceValue> values;
  for (size_t i = 0;; ++i) {
    fs::path path = folder / (stem + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return values;
    ValueKind kind = i < signature.size() ? signature[i].kind : ValueKind::kTensor;
    SCOPEVM_ASSIGN_OR_RETURN(ReferenceValue value, read_value(path.string(), kind));
    values.push_back(std::move(value));
  }
}

// Changes the type of tensors for which the model declares bfloat16: the data files store bfloat16
// values as unsigned 16-bit integers.
void retype_bfloat16(std::vector<ReferenceValue>& values,
                     const std::vector<TensorSignature>& signature) {
  for (size_t i = 0; i < std::min(values.size(), signature.size()); ++i)
    for (Tensor& tensor : values[i].tensors) {
      if (tensor.dtype() != DType::kU16 || signature[i].dtype != DType::kBF16) continue;
      Result<Tensor> same_bits = Tensor::allocate(DType::kBF16, tensor.dims());
      if (!same_bits.ok()) return;
      std::ranges::copy(tensor.elements<uint16_t>(), same_bits->elements<uint16_t>().begin());
      tensor = *std::move(same_bits);
    }
}

// Returns whether a data file has another rank than the model declares, as in four of the cases.
bool contradicts(const std::vector<ReferenceValue>& values,
                 const std::vector<TensorSignature>& signature) {
  for (size_t i = 0; i < std::min(values.size(), signature.size()); ++i)
    if (signature[i].kind == ValueKind::kTensor &&
        static_cast<size_t>(values[i].tensors[0].rank()) != signature[i].dims.size())
      return true;
  return false;
}

Status set_inputs(Call& call, const std::vector<ReferenceValue>& inputs,
                  const std::vector<TensorSignature>& signature) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i >= signature.size())
      return {StatusCode::kInvalidArgument, std::to_string(inputs.size()) + " inputs given"};
    const ReferenceValue& input = inputs[i];
    ValueKind kind = signature[i].kind;
    if (!input.has_value)
      SCOPEVM_RETURN_IF_ERROR(call.set_no_value(signature[i].name));
    else if (kind == ValueKind::kTensor || kind == ValueKind::kOptional)
      SCOPEVM_RETURN_IF_ERROR(call.set_input(i, input.tensors[0]));
    else
      SCOPEVM_RETURN_IF_ERROR(call.set_sequence(signature[i].name, input.tensors));
  }
  return {};
}

// Describes the first difference between result `i` and `expected`. Empty if they agree.
std::string result_difference(const Call& call, size_t i, const ReferenceValue& expected,
                              const Target& target) {
  Result<bool> has_value = call.has_value(i);
  Result<std::span<const Tensor>> actual = call.elements(i);
  if (!has_value.ok()) return std::string(has_value.status().message());
  if (*has_value != expected.has_value) return *has_value ? "has a value" : "has no value";
  if (actual->size() != expected.tensors.size())
    return std::to_string(actual->size()) + " elements, expected " +
           std::to_string(expected.tensors.size());
  for (size_t e = 0; e < actual->size(); ++e)
    if (std::string found = difference(expected.tensors[e], (*actual)[e], target.tolerance);
        !found.empty())
      return found;
  return "";
}

// The values of the named dims of the inputs.
std::map<std::string, int64_t> dims_of(const std::vector<ReferenceValue>& inputs,
                                       const std::vector<TensorSignature>& signature) {
  std::map<std::string, int64_t> dims;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (signature[i].kind != ValueKind::kTensor) continue;
    const auto given = inputs[i].tensors[0].dims();
    for (size_t axis = 0; axis < given.size(); ++axis) dims[signature[i].dims[axis]] = given[axis];
  }
  return dims;
}

// The dims that the module does not name are ignored. Without the value of a dim, for instance that
// of a sequence, the memory is not checked.
std::string memory_difference(const Module& module, const Call& call,
                              const std::vector<ReferenceValue>& inputs) {
  const std::map<std::string, int64_t> given = dims_of(inputs, module.signature().inputs);
  std::map<std::string, int64_t> dims;
  for (const DimensionSignature& dimension : module.signature().dimensions) {
    const auto found = given.find(dimension.name);
    if (found == given.end()) return "";
    dims.insert(*found);
  }
  return wrong_memory_use(module, call.stats(), dims);
}

Outcome run_data_set(const Module& module, const Session& session, const fs::path& folder,
                     const Target& target) {
  const Signature& signature = session.signature();
  Result<std::vector<ReferenceValue>> inputs = read_all(folder, "input_", signature.inputs);
  if (!inputs.ok()) return fail(inputs.status());
  Result<std::vector<ReferenceValue>> expected = read_all(folder, "output_", signature.outputs);
  if (!expected.ok()) return fail(expected.status());
  retype_bfloat16(*inputs, signature.inputs);
  retype_bfloat16(*expected, signature.outputs);
  Call call = *session.make_call();
  Status status = set_inputs(call, *inputs, signature.inputs);
  if (status.ok()) status = call.run();
  if (!status.ok() && contradicts(*inputs, signature.inputs))
    return {Verdict::kUnsupported, "data:rank", std::string(status.message())};
  if (!status.ok()) return fail(status);
  if (call.outputs().size() != expected->size())
    return fail(std::to_string(call.outputs().size()) + " outputs, expected " +
                std::to_string(expected->size()));
  for (size_t i = 0; i < expected->size(); ++i)
    if (std::string found = result_difference(call, i, (*expected)[i], target); !found.empty())
      // The random numbers of the data are those of another generator.
      return call.find_input("seed").ok() ? Outcome{Verdict::kUnsupported, "data:random", found}
                                          : fail("output " + std::to_string(i) + ": " + found);
  if (std::string wrong = memory_difference(module, call, *inputs); !wrong.empty())
    return fail("memory: " + wrong);
  return {Verdict::kPass, "", ""};
}

// Allows 0 for each named dim of an input tensor that is 0 in the first data set. By default, a
// named dim is at least 1.
void allow_empty_dims(const fs::path& folder, CompileOptions& options) {
  onnx::ModelProto model;
  std::ifstream file(options.model_path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) return;
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const onnx::TypeProto& type = model.graph().input(i).type();
    if (!type.has_tensor_type()) continue;
    fs::path path = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    Result<ReferenceValue> given = read_value(path.string(), ValueKind::kTensor);
    if (!given.ok()) continue;
    const auto& dims = type.tensor_type().shape().dim();
    for (int axis = 0; axis < std::min(dims.size(), given->tensors[0].rank()); ++axis)
      if (given->tensors[0].dims()[static_cast<size_t>(axis)] == 0 && dims[axis].has_dim_param())
        options.dims[dims[axis].dim_param()].min = 0;
  }
}

}  // namespace

Outcome run_case(const std::string& folder, const Target& target) {
  CompileOptions options;
  options.machine_json = target.machine_json;
  options.places = target.places;
  options.target_cpus = target.target_cpus;
  options.allow_unmatched = true;
  options.model_path = folder + "/model.onnx";
  options.threads = 1;
  allow_empty_dims(folder, options);
  Result<CompileOutput> compiled = compile(options);
  if (!compiled.ok()) {
    Status status = compiled.status();
    if (status.code() == StatusCode::kUnsupported)
      return refused(options.model_path, std::string(status.message()));
    return fail(status);
  }
  Result<Module> module = Module::load_bytes(compiled->module);
  if (!module.ok()) return fail(module.status());
  Result<Session> session = Session::create(*module);
  if (!session.ok()) return fail(session.status());
  int sets = 0;
  for (;; ++sets) {
    fs::path set = fs::path(folder) / ("test_data_set_" + std::to_string(sets));
    if (!fs::exists(set)) break;
    Outcome outcome = run_data_set(*module, *session, set, target);
    if (outcome.verdict != Verdict::kPass) return outcome;
  }
  return sets > 0 ? Outcome{Verdict::kPass, "", ""} : fail("no test data");
}

}  // namespace scopevm::conformance
