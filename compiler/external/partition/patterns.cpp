// Parses patterns and checks that they can be matched: see patterns.h.
#include "compiler/external/partition/patterns.h"

#include "compiler/external/partition/partition.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/elements.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace scopevm::compiler::external {
namespace {

Status invalid_patterns(const std::string& message) {
  return {StatusCode::kInvalidArgument, message};
}

bool is_string(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getDtype() == DType::kStr;
}

// The ops that compute the first result.
llvm::SetVector<mlir::Operation*> ops_of_first_result(mlir::Operation* terminator) {
  llvm::SetVector<mlir::Operation*> ops;
  if (mlir::Operation* root = terminator->getOperand(0).getDefiningOp()) ops.insert(root);
  for (size_t i = 0; i < ops.size(); ++i)
    for (mlir::Value operand : ops[i]->getOperands())
      if (operand.getDefiningOp()) ops.insert(operand.getDefiningOp());
  return ops;
}

// Why the op cannot be part of a pattern; empty if it can.
std::string error_of_op(mlir::Operation& op) {
  const std::string name = "op \"" + op.getName().getStringRef().str() + "\"";
  if (!is_pattern_op(&op)) return name + " is not supported in patterns";
  if (is_string(op.getResult(0)) || llvm::any_of(op.getOperands(), is_string))
    return name + " has strings, which external functions do not support";
  if (mlir::isa<graph::ConstantOp>(op) && !graph::splat_bits(&op))
    return "the elements of a constant differ, expected equal elements";
  return "";
}

// Why the function cannot be a pattern; empty if it can.
std::string error_of_pattern(mlir::func::FuncOp pattern) {
  if (pattern.isExternal() || !pattern.getBody().hasOneBlock()) return "has no body of one block";
  mlir::Operation* end = pattern.getBody().front().getTerminator();
  if (end->getNumOperands() == 0) return "has no results, expected at least 1";
  for (mlir::Operation& op : pattern.getBody().front().without_terminator())
    if (std::string error = error_of_op(op); !error.empty()) return error;
  for (mlir::Value result : end->getOperands())
    if (!result.getDefiningOp() || result.getDefiningOp<graph::ConstantOp>())
      return "a result is a parameter or a constant, expected the result of an op";
  const llvm::SetVector<mlir::Operation*> used = ops_of_first_result(end);
  for (mlir::Operation& op : pattern.getBody().front().without_terminator())
    if (!used.contains(&op))
      return "op \"" + op.getName().getStringRef().str() + "\" does not contribute to result 0";
  return "";
}

std::ptrdiff_t op_count(mlir::func::FuncOp pattern) {
  return llvm::count_if(pattern.getBody().front().without_terminator(),
                        [](mlir::Operation& op) { return !mlir::isa<graph::ConstantOp>(op); });
}

}  // namespace

bool is_pattern_op(mlir::Operation* op) {
  return mlir::isa<graph::GraphDialect>(op->getDialect()) && mlir::isPure(op) &&
         op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         mlir::isa<mlir::InferTypeOpInterface>(op) &&
         llvm::all_of(llvm::concat<const mlir::Type>(llvm::to_vector(op->getOperandTypes()),
                                                     llvm::to_vector(op->getResultTypes())),
                      [](mlir::Type type) { return mlir::isa<graph::TensorType>(type); });
}

Result<Patterns> Patterns::parse(std::string_view text, std::string_view library,
                                 mlir::MLIRContext& context) {
  const std::string where = "library \"" + std::string(library) + "\": ";
  std::string error;
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    llvm::raw_string_ostream stream(error);
    if (error.empty()) stream << "patterns: " << diagnostic.getLocation() << ": " << diagnostic;
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  if (!module) return invalid_patterns(where + error);
  Patterns patterns(library, std::move(module));
  for (mlir::Operation& op : *patterns.module_->getBody()) {
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) return invalid_patterns(where + "patterns: expected functions only");
    if (error = error_of_pattern(function); !error.empty())
      return invalid_patterns(where + "pattern \"" + function.getName().str() + "\": " + error);
    patterns.functions_.push_back(function);
  }
  llvm::stable_sort(patterns.functions_, [](mlir::func::FuncOp a, mlir::func::FuncOp b) {
    return op_count(a) > op_count(b);
  });
  return patterns;
}

}  // namespace scopevm::compiler::external
