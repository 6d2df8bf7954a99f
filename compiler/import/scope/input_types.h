// The types of a model's inputs, and the names of their dims.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

class InputTypes {
 public:
  // `bounds` are those of --dim. REQUIRES: they and the graph outlive the object.
  InputTypes(const onnx::GraphProto& graph, const std::map<std::string, DimBound>& bounds);

  // The type of an input. Errors: kUnsupported.
  Result<mlir::Type> type_of(const onnx::ValueInfoProto& input, mlir::MLIRContext& context);

  // Checks that --dim names only dims of the inputs whose types were computed, and of the buffers
  // of states if there are any. Errors: kInvalidArgument.
  Status check_bounds(bool has_states) const;

 private:
  DimExpr named(const std::string& name);
  DimExpr unnamed(const std::string& input, size_t axis);

  const std::map<std::string, DimBound>& bounds_;
  std::set<std::string> declared_;  // names of dims in the model
  std::set<std::string> names_;     // of the dims of types that were computed
};

}  // namespace scopevm::compiler::frontend
