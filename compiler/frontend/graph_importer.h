// An ONNX graph -> the body of a graph function, node by node.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "compiler/frontend/control_flow.h"
#include "compiler/frontend/external_ops.h"
#include "compiler/frontend/import.h"
#include "compiler/frontend/lists.h"
#include "compiler/frontend/node.h"
#include "compiler/frontend/onnx_file.h"
#include "mlir/IR/Builders.h"

namespace mlir::func {
class FuncOp;
}

namespace scopevm::compiler::frontend {

// The type of a sequence or optional. Errors: kUnsupported for other types, and if the elements are
// not tensors of a supported element type.
Result<graph::ListType> list_type_of(mlir::MLIRContext& context, const onnx::TypeProto& proto);

class GraphImporter {
 public:
  // If the branches of an If return results of different number, rank or element type, only one
  // branch is imported. Entry i of `choices` selects the branch for the i-th such If: true for the
  // then-branch. For an If without an entry, the importer selects the then-branch and appends true
  // to `choices`.
  GraphImporter(std::shared_ptr<OnnxFile> file, const ImportOptions& options,
                mlir::MLIRContext& context, std::vector<bool>& choices);

  // Errors name the node, not the file.
  Result<ImportedModule> run();

  // --- For Node. ---
  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location location() const { return location_; }
  mlir::ModuleOp module() const { return module_; }
  graph::SymbolicValues& symbols() { return *symbols_; }
  const std::shared_ptr<OnnxFile>& file() const { return file_; }
  Value value(const std::string& name) const;
  // The MLIR diagnostics reported since the last call.
  std::string take_diagnostics();
  std::vector<std::string>& diagnostics() { return diagnostics_; }
  // A new runtime-defined symbol whose name ends in `what`, or in `what` and a number.
  std::string fresh_symbol(llvm::StringRef what);
  ControlFlowBuilder control_flow();

 private:
  Status read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);
  Status declare_inputs(mlir::func::FuncOp function);
  Result<mlir::Type> type_of_input(const onnx::ValueInfoProto& input);
  DimExpr dim_named(const std::string& name);
  DimExpr unnamed_dim(const std::string& input, size_t axis);
  Status import_initializers(const onnx::GraphProto& graph);
  Status import_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  Status import_node(const onnx::NodeProto& node, size_t index);
  Status import_with_handler(Handler handler, const onnx::NodeProto& node, int opset);
  Status import_external(const std::string& op, const onnx::NodeProto& node, int opset);
  Status bind_outputs(Node& node, const Values& values);
  Status import_function_body(const onnx::NodeProto& node, int opset);
  Status import_with_subgraphs(const onnx::NodeProto& node, int opset);
  Status bind(const onnx::NodeProto& node, size_t output, Value value);
  Result<std::vector<Value>> collect_outputs(mlir::func::FuncOp function);
  // Checks the declared types of the inputs, values and outputs of a graph whose nodes are
  // imported.
  // The type of the tensor or list of a name; null if there is none.
  mlir::Type type_of(const std::string& name) const;
  bool is_widened(const std::string& name) const;
  void check_declared_types(const onnx::GraphProto& graph);
  Status check_dim_options() const;
  bool is_produced_later(const std::string& name) const;

  // --- subgraphs.cpp ---
  static constexpr int kMaxSubgraphDepth = static_cast<int>(kMaxNesting);
  Result<llvm::SmallVector<Value>> import_subgraph(const onnx::GraphProto& graph,
                                                   llvm::ArrayRef<Value> bindings);
  struct Branch {
    const onnx::GraphProto* graph;
    Status status;
    llvm::SmallVector<mlir::Type> types;  // result types
  };
  Result<llvm::SmallVector<Value>> import_if(Node& n);
  Result<llvm::SmallVector<Value>> import_chosen_branch(Node& n, Value condition,
                                                        const onnx::GraphProto& then,
                                                        const onnx::GraphProto& otherwise);
  Result<llvm::SmallVector<Value>> import_valid_branch(Node& n, Value condition, Branch* branches);
  bool choose();
  // True if the choice with index `from` or a later one selected the then-branch, so that another
  // import can try the else-branch.
  bool has_open_choice(size_t from) const;
  Result<llvm::SmallVector<Value>> import_loop(Node& n);
  Result<llvm::SmallVector<Value>> import_scan(Node& n);
  Result<llvm::SmallVector<Value>> scan_along(Node& n, const onnx::GraphProto& body,
                                              llvm::ArrayRef<Value> states,
                                              llvm::ArrayRef<Value> scanned, const Ints& axes,
                                              const Ints& directions);
  Result<llvm::SmallVector<Value>> import_batched_scan(Node& n, const onnx::GraphProto& body,
                                                       llvm::ArrayRef<Value> states,
                                                       llvm::ArrayRef<Value> scanned);
  // --- sequences.cpp ---
  // A list whose length is known at compile time; it has no MLIR value of its own.
  struct Sequence {
    graph::ListType type;
    llvm::SmallVector<Value> items;
  };
  bool is_list(const std::string& name) const;
  Value list_value(const Sequence& list);  // materialises the list as a value
  // The tensor or list value of a name; null if there is none.
  Value any_value(const std::string& name);
  Result<Sequence> sequence_of(llvm::ArrayRef<Value> items);
  Result<Sequence> make_optional(Node& n);
  Result<Sequence> make_empty(Node& n);
  bool is_sequence_op(const onnx::NodeProto& node) const;
  Status import_sequence_op(const onnx::NodeProto& node, int opset);
  using Item = std::variant<Value, Sequence>;
  Result<Item> sequence_op(Node& n);
  Result<std::optional<Item>> op_on_sequence(Node& n, const Sequence& list);
  Result<Item> split_to_sequence(Node& n);
  Result<Value> concat_from_sequence(Node& n, const Sequence& list);
  Status import_sequence_map(Node& n);

  // --- run_time_sequences.cpp ---
  ListBuilder lists();
  Result<Item> op_on_list(Node& n, Value list);
  Result<Value> split_at_run_time(Node& n, int64_t axis, bool keep_dims);
  Result<Value> concat_list(Node& n, Value list);
  Status map_lists(Node& n, const onnx::GraphProto& body);

  void hide_names_of(const onnx::GraphProto& graph);
  void forget_known_values();

  std::shared_ptr<OnnxFile> file_;
  const ImportOptions& options_;
  mlir::MLIRContext& context_;
  mlir::OpBuilder builder_;
  mlir::ModuleOp module_;  // the module that run() creates
  mlir::Location location_;
  ExternalOps external_ops_;
  std::map<std::string, int> opsets_;  // opset version by domain
  // Inputs and initializers of unsupported types, with the reason. An error if a node reads one. A
  // graph input of unsupported type is an error even if it is unused.
  std::map<std::string, std::string> unsupported_;
  std::map<std::string, Value> values_;        // by name, in the current graph or function body
  std::map<std::string, Sequence> sequences_;  // by name
  // The functions whose bodies are being imported, outermost first: "domain.name".
  std::vector<std::string> functions_;
  int64_t function_nodes_ = 0;               // nodes of all function bodies
  std::set<std::string> model_dims_;         // names of dims that the inputs declare
  std::map<std::string, std::string> dims_;  // the model's name of each dim, by identifier
  std::unique_ptr<graph::SymbolicValues> symbols_;
  std::vector<std::string> diagnostics_;
  // The first contradiction of a declared element type. A branch with such an error is not replaced
  // by an assertion, so run() reports it.
  Status contradiction_;
  std::vector<std::string> warnings_;
  int subgraph_depth_ = 0;
  std::vector<bool>& choices_;  // true: then-branch
  size_t choices_made_ = 0;
  bool needs_other_choice_ = false;
  std::map<std::string, int> fresh_counts_;
  std::function<std::string(llvm::StringRef)> fresh_ = [this](llvm::StringRef what) {
    return fresh_symbol(what);
  };
  std::function<void()> forget_ = [this] { forget_known_values(); };
};

}  // namespace scopevm::compiler::frontend
