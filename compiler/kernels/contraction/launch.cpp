// Launch: declarations -> function signature and step; see the header.
#include "compiler/kernels/contraction/launch.h"

#include "llvm/ADT/STLExtras.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

Launch::Buffer Launch::operand(ValueId value, DType dtype) {
  step_.operands.push_back(value);
  operand_types_.push_back(dtype);
  return {Buffer::Kind::kOperand, step_.operands.size() - 1};
}

Launch::Buffer Launch::result(ValueId value, DType dtype) {
  step_.results.push_back(value);
  result_types_.push_back(dtype);
  return {Buffer::Kind::kResult, step_.results.size() - 1};
}

Launch::Buffer Launch::scratch(DimExpr elements, DType dtype) {
  // Whole cache lines, so that a worker's part starts where the VM says it does.
  elements = round_up(elements, 16);
  step_.temporaries.push_back({.bytes = elements * DimExpr(4), .per_worker = true});
  scratch_sizes_.push_back(param(elements));
  scratch_types_.push_back(dtype);
  return {Buffer::Kind::kTemporary, step_.temporaries.size() - 1};
}

Launch::Param Launch::param(DimExpr value) {
  step_.params.push_back(value);
  return {step_.params.size() - 1};
}

void Launch::allow_in_place(Buffer r, Buffer o) {
  if (llvm::count(step_.operands, step_.operands[o.index]) != 1) return;
  for (const Step::InPlace& other : step_.in_place)
    if (other.result == static_cast<int>(r.index) || other.operand == static_cast<int>(o.index))
      return;
  step_.in_place.push_back({static_cast<int>(r.index), static_cast<int>(o.index)});
}

void Launch::begin_body() {
  mlir::MLIRContext* context = builder_.getContext();
  llvm::SmallVector<mlir::Type> types;
  for (DType dtype : operand_types_) types.push_back(buffer_type(storage_type(context, dtype)));
  for (DType dtype : result_types_) types.push_back(buffer_type(storage_type(context, dtype)));
  for (DType dtype : scratch_types_) types.push_back(buffer_type(storage_type(context, dtype)));
  types.append(step_.params.size() + 3, builder_.getIndexType());
  builder_.setInsertionPointToEnd(context_.kernels().module().getBody());
  function_ = builder_.create<mlir::func::FuncOp>(builder_.getUnknownLoc(), "kernel",
                                                  builder_.getFunctionType(types, {}));
  builder_.setInsertionPointToStart(function_.addEntryBlock());
}

Value Launch::operator[](Buffer buffer) const {
  size_t index = buffer.index;
  if (buffer.kind != Buffer::Kind::kOperand) index += step_.operands.size();
  if (buffer.kind == Buffer::Kind::kTemporary) index += step_.results.size();
  return const_cast<mlir::func::FuncOp&>(function_).getArgument(static_cast<unsigned>(index));
}

Value Launch::operator[](Param param) const {
  size_t buffers = step_.operands.size() + step_.results.size() + step_.temporaries.size();
  return const_cast<mlir::func::FuncOp&>(function_).getArgument(
      static_cast<unsigned>(buffers + param.index));
}

Value Launch::begin() const { return (*this)[Param{step_.params.size()}]; }
Value Launch::end() const { return (*this)[Param{step_.params.size() + 1}]; }

Value Launch::scratch_start(Emitter& emit, Buffer scratch) const {
  Value worker = (*this)[Param{step_.params.size() + 2}];
  return emit.mul(worker, (*this)[scratch_sizes_[scratch.index]]);
}

void Launch::finish(llvm::StringRef kind, DimExpr grid, DimExpr grain) {
  builder_.create<mlir::func::ReturnOp>(builder_.getUnknownLoc());
  step_.grid = grid;
  step_.grain = grain;
  int buffers =
      static_cast<int>(step_.operands.size() + step_.results.size() + step_.temporaries.size());
  step_.kernel =
      context_.kernels().intern(function_, kind, buffers, static_cast<int>(step_.params.size()));
  context_.launch(std::move(step_));
}

}  // namespace scopevm::compiler::kernels
