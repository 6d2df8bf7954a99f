// Elementwise ops: generated definitions and type rules.
#include "compiler/graph/arithmetic/random.h"
#include "compiler/graph/arithmetic/scalar.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/fold.h"
#include "compiler/graph/values/symbolic_values.h"

namespace scopevm::compiler::graph {
namespace {

llvm::LogicalResult infer_power(TypeRule& rule, mlir::ValueRange operands) {
  auto shape = common_shape(rule, operands);
  if (!shape) return mlir::failure();
  return rule.add_result(tensor_type(operands.front()).getDtype(), *shape);
}

llvm::LogicalResult infer_select(TypeRule& rule, mlir::ValueRange operands) {
  if (failed(check_same_dtype(rule, operands.drop_front()))) return mlir::failure();
  auto shape = common_shape(rule, operands);
  if (!shape) return mlir::failure();
  return rule.add_result(tensor_type(operands[1]).getDtype(), *shape);
}

llvm::LogicalResult infer_cast(TypeRule& rule, mlir::Value x, llvm::StringRef to) {
  std::optional<DType> dtype = computed_dtype(to);
  if (!dtype) return rule.fail("\"" + to + "\" is not an element type");
  if (dtype == DType::kStr) return rule.fail("cannot cast to str; use sv.number_to_string");
  return rule.add_result(*dtype, tensor_type(x).getShape());
}

llvm::LogicalResult infer_bit_cast(TypeRule& rule, mlir::Value x, llvm::StringRef to) {
  const TensorType type = tensor_type(x);
  std::optional<DType> dtype = computed_dtype(to);
  if (!dtype) return rule.fail("\"" + to + "\" is not an element type");
  if (dtype == DType::kStr || byte_size(*dtype) != byte_size(type.getDtype()))
    return rule.fail("x is " + text_of(type) + ", whose elements do not have the size of " + to);
  return rule.add_result(*dtype, type.getShape());
}

}  // namespace
}  // namespace scopevm::compiler::graph

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/elementwise/ops.cpp.inc"
