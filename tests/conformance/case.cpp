// Compile, load, call, compare.
#include "tests/conformance/case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
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

// What a refusal of the whole model is about: its opset, or a kind of value at its border.
std::string refused_whole(const std::string& message) {
  if (size_t at = message.find("opset "); at != std::string::npos)
    if (message.find("is the first that is") != std::string::npos)
      return "opset:" + message.substr(at + 6, message.find(' ', at + 6) - at - 6);
  if (message.find("only tensors") != std::string::npos) return "type:container";
  if (message.find("element type") != std::string::npos) return "type:element";
  return "";
}

// A refusal must name an op of the model and its opset, or an input and what is wrong with its
// type, or the model's opset; one that does neither is a failure.
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
  if (std::string about = refused_whole(text); !about.empty())
    return {Verdict::kUnsupported, about, message};
  return fail("a refusal that names no op and opset: " + message);
}

// All of input_0.pb, input_1.pb, ... (or output_) in order.
Result<std::vector<Tensor>> read_all(const fs::path& folder, const std::string& stem) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    fs::path path = folder / (stem + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return tensors;
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, read_tensor(path.string()));
    tensors.push_back(std::move(tensor));
  }
}

// The data files hold bfloat16 values as unsigned 16-bit integers.
void retype_bfloat16(std::vector<Tensor>& tensors, const std::vector<TensorSignature>& signature) {
  for (size_t i = 0; i < std::min(tensors.size(), signature.size()); ++i) {
    Tensor& tensor = tensors[i];
    if (tensor.dtype() != DType::kU16 || signature[i].dtype != DType::kBF16) continue;
    Result<Tensor> same_bits = Tensor::allocate(DType::kBF16, tensor.dims());
    if (!same_bits.is_ok()) return;
    std::ranges::copy(tensor.elements<uint16_t>(), same_bits->elements<uint16_t>().begin());
    tensor = *std::move(same_bits);
  }
}

// Four cases feed a tensor of another rank than their model declares.
bool contradicts(const std::vector<Tensor>& tensors,
                 const std::vector<TensorSignature>& signature) {
  for (size_t i = 0; i < std::min(tensors.size(), signature.size()); ++i)
    if (static_cast<size_t>(tensors[i].rank()) != signature[i].dims.size()) return true;
  return false;
}

Outcome run_data_set(const Session& session, const fs::path& folder) {
  Result<std::vector<Tensor>> inputs = read_all(folder, "input_");
  if (!inputs.is_ok()) return fail(inputs.status());
  Result<std::vector<Tensor>> expected = read_all(folder, "output_");
  if (!expected.is_ok()) return fail(expected.status());
  retype_bfloat16(*inputs, session.signature().inputs);
  retype_bfloat16(*expected, session.signature().outputs);
  Result<std::vector<Tensor>> actual = session.call(*inputs);
  if (!actual.is_ok() && contradicts(*inputs, session.signature().inputs))
    return {Verdict::kUnsupported, "data:rank", std::string(actual.status().message())};
  // Inputs that ask for a mode which the model's op does not have here.
  if (!actual.is_ok() &&
      actual.status().message().find("mode is not supported") != std::string::npos)
    return {Verdict::kUnsupported, "data:mode", std::string(actual.status().message())};
  if (!actual.is_ok()) return fail(actual.status());
  if (actual->size() != expected->size())
    return fail(std::to_string(actual->size()) + " outputs, expected " +
                std::to_string(expected->size()));
  for (size_t i = 0; i < expected->size(); ++i)
    if (std::string found = difference((*expected)[i], (*actual)[i]); !found.empty())
      return fail("output " + std::to_string(i) + ": " + found);
  return {Verdict::kPass, "", ""};
}

}  // namespace

Outcome run_case(const std::string& folder) {
  CompileOptions options;
  options.model_path = folder + "/model.onnx";
  options.threads = 1;
  Result<CompileOutput> compiled = compile(options);
  if (!compiled.is_ok()) {
    Status status = compiled.status();
    if (status.code() == StatusCode::kUnsupported)
      return refused(options.model_path, std::string(status.message()));
    return fail(status);
  }
  Result<Module> module = Module::load_bytes(compiled->module);
  if (!module.is_ok()) return fail(module.status());
  Result<Session> session = Session::create(*module);
  if (!session.is_ok()) return fail(session.status());
  int sets = 0;
  for (;; ++sets) {
    fs::path set = fs::path(folder) / ("test_data_set_" + std::to_string(sets));
    if (!fs::exists(set)) break;
    Outcome outcome = run_data_set(*session, set);
    if (outcome.verdict != Verdict::kPass) return outcome;
  }
  return sets > 0 ? Outcome{Verdict::kPass, "", ""} : fail("no test data");
}

}  // namespace scopevm::conformance
