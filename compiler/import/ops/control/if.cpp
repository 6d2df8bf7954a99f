// ONNX If.
#include "compiler/import/ops/control/dim_condition.h"
#include "compiler/import/ops/control/results.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/scope/branch_choices.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using BranchResults = Result<llvm::SmallVector<Value>>;

struct Branch {
  const onnx::GraphProto* graph;
  Status status;
  llvm::SmallVector<mlir::Type> types;  // result types
};

BranchResults import_branch(Node& n, Branch& branch) {
  const size_t choices = n.choices().made();
  auto values = n.import_body(*branch.graph, {}, {});
  branch.status = values.status();
  if (values.ok())
    branch.types = llvm::to_vector(mlir::ValueRange(*values).getTypes());
  else if (n.choices().has_open(choices))
    // A choice within the branch may have caused the failure. The whole import is then repeated
    // with another choice (import_onnx()), before the branch is replaced by an assertion.
    n.choices().require_other();
  return values;
}

// Imports only one branch. A call whose condition selects the other branch fails.
BranchResults import_only(Node& n, bool is_then, Value condition, const Branch& then,
                          const Branch& otherwise) {
  if (!is_then) condition = n.emit<graph::LogicalNotOp>({condition});
  n.require(condition,
            std::string("the request selects the ") + (is_then ? "else" : "then") +
                "-branch, but this module was compiled for the other branch, whose results differ "
                "in rank or element type");
  if (n.has_failed()) return n.status();
  return n.import_body(is_then ? *then.graph : *otherwise.graph, {}, {});
}

// Imports the branch of most requests. The others are in a range of a dim, and need a variant.
BranchResults import_common_branch(Node& n, const DimCondition& dim, Value condition,
                                   const Branch& then, const Branch& otherwise) {
  n.choices().need_variant(dim.dim, dim.range);
  return import_only(n, !dim.holds_within, condition, then, otherwise);
}

BranchResults import_chosen_branch(Node& n, Value condition, const Branch& then,
                                   const Branch& otherwise) {
  const bool is_then = n.choices().choose();
  n.choices().warn("node " + runtime::quoted(n.proto().name()) + " (If): only the " +
                   (is_then ? "then" : "else") +
                   "-branch is compiled, because its results differ in rank or element type from "
                   "those of the other branch; requests that select the other one fail");
  return import_only(n, is_then, condition, then, otherwise);
}

// Values of the types in place of the results of a branch that cannot be imported. They are never
// read, because an assertion fails first.
BranchResults fail_in_branch(Node& n, const Status& error, llvm::ArrayRef<mlir::Type> types) {
  n.require(n.constant({}, DType::kBool, {0}),
            "the selected branch could not be compiled: " + std::string(error.message()));
  llvm::SmallVector<Value> values;
  for (mlir::Type type : types) {
    if (auto list = mlir::dyn_cast<graph::ListType>(type)) {
      values.push_back(n.lists().make_empty(list.getKind(), list.getDtype()));
      continue;
    }
    auto tensor = mlir::cast<graph::TensorType>(type);
    Dims dims(tensor.getShape());
    // A symbol that the valid branch defines has no value in this branch.
    for (DimExpr& dim : dims)
      if (is_runtime_defined(dim)) dim = 0;
    values.push_back(n.expand(n.scalar(0, tensor.getDtype()), dims));
  }
  if (n.has_failed()) return n.status();
  return values;
}

// Imports an If with a branch that cannot be imported, for example because an op does not accept
// the given shapes. That branch becomes an assertion: calls that select it fail.
BranchResults import_valid_branch(Node& n, Value condition, Branch& then, Branch& otherwise) {
  const bool is_then_valid = then.status.ok();
  Branch& valid = is_then_valid ? then : otherwise;
  const Branch& invalid = is_then_valid ? otherwise : then;
  if (!is_then_valid) {  // the else-branch has not been imported yet
    mlir::Region region;
    mlir::OpBuilder::InsertionGuard guard(n.builder());
    n.builder().setInsertionPointToEnd(&region.emplaceBlock());
    if (!import_branch(n, valid).ok()) return invalid.status;
  }
  n.builder().forget_known();
  auto import = [&] { return n.import_body(*valid.graph, {}, {}); };
  auto fail = [&] { return fail_in_branch(n, invalid.status, valid.types); };
  return is_then_valid ? n.control_flow().if_else(condition, import, fail)
                       : n.control_flow().if_else(condition, fail, import);
}

BranchResults import_if(Node& n, Value condition, Branch then, Branch otherwise) {
  // A condition over dims is often known at compile time. Only one branch is then imported.
  if (n.is_known(condition, 1)) return n.import_body(*then.graph, {}, {});
  if (n.is_known(condition, 0)) return n.import_body(*otherwise.graph, {}, {});
  if (n.rank(condition) != 0) condition = n.reshape(condition, {});
  if (n.has_failed()) return n.status();
  auto values = n.control_flow().if_else(
      condition, [&] { return import_branch(n, then); },
      [&] { return import_branch(n, otherwise); });
  if (values.ok() || n.choices().needs_other()) return values;
  n.builder().forget_known();
  // The branches return results of different rank or element type. The ops that use the results
  // are therefore imported for the results of one branch only.
  if (then.status.ok() && otherwise.status.ok()) {
    if (const std::optional<DimCondition> dim = dim_condition(n, condition))
      return import_common_branch(n, *dim, condition, then, otherwise);
    return import_chosen_branch(n, condition, then, otherwise);
  }
  // if_else() stops at the first branch that fails. The other one may be valid.
  return import_valid_branch(n, condition, then, otherwise);
}

Values if_else(Node& n) {
  Value condition = n.input(0);
  const onnx::GraphProto* then = n.graph("then_branch");
  const onnx::GraphProto* otherwise = n.graph("else_branch");
  if (n.has_failed()) return {};
  if (then->output_size() != otherwise->output_size())
    n.fail("its branches return different numbers of values: " + llvm::Twine(then->output_size()) +
           " and " + llvm::Twine(otherwise->output_size()));
  if (n.dtype(condition) != DType::kBool)
    n.fail("the condition has element type " + llvm::Twine(name(n.dtype(condition))) +
           ", expected bool");
  if (n.has_failed()) return {};
  return subgraph_results(n, import_if(n, condition, {then, {}, {}}, {otherwise, {}, {}}));
}

}  // namespace

const OpRows kIfOps = {{"If", 1, if_else}};

}  // namespace scopevm::compiler::frontend
