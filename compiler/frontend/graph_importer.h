// An ONNX graph -> the body of a graph function, node by node.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/frontend/import.h"
#include "compiler/frontend/node.h"
#include "compiler/frontend/onnx_file.h"
#include "mlir/IR/Builders.h"

namespace mlir::func {
class FuncOp;
}

namespace scopevm::frontend {

class GraphImporter {
 public:
  GraphImporter(std::shared_ptr<OnnxFile> file, const ImportOptions& options,
                mlir::MLIRContext& context);

  // Errors have the node as context, not the file.
  Result<ImportedModule> run();

  // --- For Node. ---
  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location location() const { return location_; }
  graph::SymbolicValues& symbols() { return *symbols_; }
  const std::shared_ptr<OnnxFile>& file() const { return file_; }
  Value value(const std::string& name) const;
  // What MLIR reported since the last call.
  std::string take_diagnostics();
  std::vector<std::string>& diagnostics() { return diagnostics_; }

 private:
  Status read_opsets();
  Status declare_inputs(mlir::func::FuncOp function);
  Result<graph::TensorType> type_of_input(const onnx::ValueInfoProto& input);
  DimExpr dim_named(const std::string& name, const std::string& fallback);
  Status import_initializers();
  Status import_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  Status import_node(const onnx::NodeProto& node, size_t index);
  Status import_with_handler(Handler handler, const onnx::NodeProto& node, int opset);
  Status import_function_body(const onnx::NodeProto& node, int opset);
  Status bind(const onnx::NodeProto& node, size_t output, Value value);
  Result<std::vector<Value>> collect_outputs(mlir::func::FuncOp function);
  Status check_dim_options() const;
  bool is_produced_later(const std::string& name) const;

  std::shared_ptr<OnnxFile> file_;
  const ImportOptions& options_;
  mlir::MLIRContext& context_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  std::map<std::string, int> opsets_;  // by domain
  // Inputs and initializers of types that no op takes here, and why: an error where one is used.
  std::map<std::string, std::string> unsupported_;
  std::map<std::string, Value> values_;      // of the graph, or of the function body, at hand
  int depth_ = 0;                            // of function bodies
  std::map<std::string, std::string> dims_;  // name in the graph -> the model's name
  std::unique_ptr<graph::SymbolicValues> symbols_;
  std::vector<std::string> diagnostics_;
};

}  // namespace scopevm::frontend
