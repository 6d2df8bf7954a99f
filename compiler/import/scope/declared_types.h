// The types that an ONNX graph declares for its values, and those that the import infers.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/scope/scope.h"
#include "onnx/onnx_pb.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// Compares declared with inferred types. Named dims agree with all dims, and the dims of the
// elements of sequences and optionals are not compared.
class DeclaredTypes {
 public:
  // Compares the types of the inputs, values and outputs of a graph whose nodes are imported. An
  // optional that a loop or a branch carries is not compared.
  void check(const onnx::GraphProto& graph, const Scope& scope);

  // The first contradiction of element types, or of a tensor and a sequence or an optional.
  // kInvalidModel: ONNX Runtime refuses the model, too.
  const Status& contradiction() const { return contradiction_; }
  // Contradictions of ranks and dims. ONNX Runtime warns, too.
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

 private:
  void check(const char* kind, const onnx::ValueInfoProto& declared, const Scope& scope);

  Status contradiction_;
  std::vector<std::string> warnings_;
};

}  // namespace scopevm::compiler::frontend
