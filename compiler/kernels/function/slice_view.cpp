// Lowers slices whose elements are contiguous in the operand x to parts of x (ValueOrigin::kPart),
// without a kernel. See function_lowering.h.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::type_of;

// True if the elements of the slice are contiguous in x: the slice is complete on all dims after
// its first dim with several elements.
bool is_contiguous(graph::SliceOp slice) {
  llvm::ArrayRef<DimExpr> sizes = slice.getSizes().getValue();
  llvm::ArrayRef<DimExpr> starts = slice.getStarts().getValue();
  bool is_inside = false;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    // Sizes are compared as expressions. A slice whose size equals the dim only at run time is not
    // a part.
    bool is_whole = sizes[axis] == type_of(slice.getX()).getDim(static_cast<int64_t>(axis)) &&
                    starts[axis].is_constant(0) && slice.getSteps()[axis] == 1;
    if (is_inside && !is_whole) return false;
    if (sizes[axis].is_constant(1)) continue;
    if (slice.getSteps()[axis] != 1) return false;
    is_inside = true;
  }
  return true;
}

// True if the value or a view of it is yielded, returned, put in a list or an operand of a loop or
// branch. Also true for a user outside `block`, unless `block` is null.
bool escapes(mlir::Value value, mlir::Block* block) {
  return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
    if ((block && user->getBlock() != block) || user->hasTrait<mlir::OpTrait::IsTerminator>() ||
        mlir::isa<graph::LoopOp, graph::IfOp, graph::ListOp, graph::ListInsertOp>(user))
      return true;
    auto reshape = mlir::dyn_cast<graph::ReshapeOp>(user);
    return reshape && escapes(reshape.getResult(), block);
  });
}

}  // namespace

// True if the slice can be a part of its operand. Its elements must be contiguous in the operand. A
// step must write the operand once (or a copy, and then a launch: both precede the slice), and the
// operand must have no swap partner. All users must be in the block of the slice, because the first
// user creates the part, again in each iteration.
bool FunctionLowering::is_part(graph::SliceOp slice) {
  mlir::Value root = viewed(slice.getX());
  mlir::Operation* op = root.getDefiningOp();
  if (!op || op->hasTrait<graph::ProvidesStorage>()) return false;
  return is_contiguous(slice) && !escapes(root, nullptr) &&
         !escapes(slice.getResult(), slice->getBlock());
}

void FunctionLowering::lower_part(graph::SliceOp slice) {
  ValueId of = value_of(slice.getX());
  ValueId part = add_value(op_name(slice), slice.getResult().getType());
  Value& value = function_.values[part];
  value.origin = ValueOrigin::kPart;
  value.view_of = of;
  value.place = function_.values[of].place;
  // The offset and strides in bytes; x is row-major.
  DimExpr stride = byte_size(value.dtype), offset = 0;
  for (int64_t axis = type_of(slice.getX()).getRank(); axis-- > 0;) {
    offset = offset + slice.getStarts().getValue()[axis] * stride;
    stride = stride * type_of(slice.getX()).getDim(axis);
  }
  value.offset = offset;
  ids_[slice.getResult()] = part;
}

}  // namespace scopevm::compiler::kernels
