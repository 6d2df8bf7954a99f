// ImportOptions::outputs: the outputs of a model that are kept, and what they need.
#pragma once

#include <onnx/onnx_pb.h>

#include <set>
#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The part of an ONNX graph that the kept outputs need. Nodes that read the names of others in
// their inner graphs need those, too.
class NeededPart {
 public:
  // The whole graph if `kept` is empty. Errors: kInvalidArgument (an unknown output).
  static Result<NeededPart> of(const onnx::GraphProto& graph, const std::vector<std::string>& kept);

  bool contains_output(const std::string& name) const { return is_all_ || outputs_.contains(name); }
  // Of a value.
  bool contains(const std::string& name) const { return is_all_ || names_.contains(name); }
  bool contains(const onnx::NodeProto& node) const;

 private:
  bool is_all_ = true;
  std::set<std::string> outputs_, names_;
};

// Removes the other outputs of a function, and the ops that only they need. An empty list keeps
// all. Errors: as for NeededPart::of().
Status keep_outputs(mlir::func::FuncOp main, const std::vector<std::string>& kept);

}  // namespace scopevm::compiler::frontend
