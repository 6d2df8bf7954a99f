// The state of an import that all nodes of a model share.
#pragma once

#include <functional>
#include <memory>

#include "compiler/import/builder/graph_builder.h"
#include "compiler/import/model/onnx_file.h"
#include "compiler/import/scope/branch_choices.h"
#include "compiler/import/scope/scope.h"
#include "llvm/ADT/DenseSet.h"

namespace scopevm::compiler::frontend {

// The values of the inputs of a nested graph, and the small types of the first of them.
struct SubgraphInputs {
  llvm::ArrayRef<mlir::Value> values;
  llvm::ArrayRef<const SmallType*> small_types;
};

// The outputs of a nested graph, with the small types whose carriers they have (or null).
struct SubgraphOutputs {
  llvm::SmallVector<mlir::Value> values;
  SmallTypes small_types;
};

// A product of dequantised operands: sums * scale + bias in f32, where the sums are i32. `bias` may
// be null.
struct ScaledSums {
  mlir::Value sums, scale, bias;
};

struct ImportState {
  std::shared_ptr<OnnxFile> file;
  GraphBuilder builder;
  Scope scope;
  BranchChoices& choices;
  bool float_products = false;              // ImportOptions::float_products
  llvm::DenseSet<mlir::Value> states = {};  // inputs of the model: ImportOptions::states
  llvm::DenseMap<mlir::Value, ScaledSums> products{};
  // Of the node that is imported: the first outputs of the nodes whose graphs or functions contain
  // it, outermost first, and its own, each after a "/".
  std::string path = {};
  // Imports the nodes of a nested graph at the insertion point, and returns the graph's outputs.
  std::function<Result<SubgraphOutputs>(const onnx::GraphProto&, SubgraphInputs)> import_subgraph;
};

}  // namespace scopevm::compiler::frontend
