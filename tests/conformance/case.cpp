// Compile, load, call, compare.
#include "tests/conformance/case.h"

#include <onnx/onnx_pb.h>

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

// A refusal must name an op of the model and an opset, or the kind of value it cannot carry; one
// that does neither is a failure.
Outcome refused(const std::string& model_path, const std::string& message) {
  onnx::ModelProto model;
  std::ifstream file(model_path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) return fail("not an ONNX file: " + message);
  std::set<std::string> ops;
  collect_ops(model.graph(), ops);
  if (has_word(message, "opset"))
    for (const std::string& op : ops)
      if (has_word(message, op)) return {Verdict::kUnsupported, op, message};
  for (const char* kind : {"string", "sequence", "optional", "complex64", "complex128"})
    if (has_word(message, kind))
      return {Verdict::kUnsupported, std::string("type:") + kind, message};
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

Outcome run_data_set(const Session& session, const fs::path& folder) {
  Result<std::vector<Tensor>> inputs = read_all(folder, "input_");
  if (!inputs.is_ok()) return fail(inputs.status());
  Result<std::vector<Tensor>> expected = read_all(folder, "output_");
  if (!expected.is_ok()) return fail(expected.status());
  Result<std::vector<Tensor>> actual = session.call(*inputs);
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
