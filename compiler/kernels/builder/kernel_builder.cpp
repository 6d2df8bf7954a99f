// KernelBuilder: translates declarations to the function's signature and the step.
#include "compiler/kernels/builder/kernel_builder.h"

#include "llvm/ADT/STLExtras.h"

namespace scopevm::compiler::kernels {
namespace {

// The smallest number of bytes that a task should move: about 2 us of cache traffic. A loop of two
// tasks takes 1.5 us more than one task on a thread.
constexpr int64_t kTaskBytes = 65536;

// The number of arguments after the buffers and params of a kernel: begin, end, worker, first.
constexpr unsigned kCallArguments = 4;

mlir::OpBuilder at_end_of(KernelModule& module) {
  return mlir::OpBuilder::atBlockEnd(module.module().getBody());
}

}  // namespace

KernelBuilder::KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind)
    : KernelBuilder(context, op, kind, at_end_of(context.kernels())) {}

KernelBuilder::KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind,
                             mlir::OpBuilder module)
    : CodeBuilder(module, op->getLoc(), context.kernels().target()),
      context_(context),
      kind_(kind) {
  llvm::SmallVector<mlir::Type> types(kCallArguments, index_type());
  function_ =
      builder().create<mlir::func::FuncOp>("building", builder().getFunctionType(types, {}));
  entry_ = function_.addEntryBlock();
  builder().setInsertionPointToStart(entry_);
}

KernelBuilder::~KernelBuilder() {
  if (function_) function_.erase();
}

mlir::Type KernelBuilder::element_type(DType dtype, Elements elements) {
  if (elements == Elements::kNumbers) return storage_type(builder().getContext(), dtype);
  return builder().getIntegerType(static_cast<unsigned>(byte_size(dtype)) * 8);
}

Buffer KernelBuilder::add_buffer(unsigned position, mlir::Type element, DType dtype) {
  return {entry_->insertArgument(position, buffer_type(element), builder().getLoc()), dtype};
}

Buffer KernelBuilder::operand(ValueId value, DType dtype, Elements elements) {
  auto position = static_cast<unsigned>(step_.operands.size());
  step_.operands.push_back(value);
  Buffer buffer = add_buffer(position, element_type(dtype, elements), dtype);
  operands_.push_back(buffer.memref);
  return buffer;
}

Buffer KernelBuilder::operand(mlir::Value value, Elements elements) {
  return operand(context_.value_of(value), dtype_of(value), elements);
}

Buffer KernelBuilder::result(ValueId value, DType dtype, Elements elements) {
  // The arguments are operands, results, temporaries and params, then the arguments of the call. An
  // insertion moves the later arguments; the mlir::Values that refer to them stay valid.
  auto position = static_cast<unsigned>(step_.operands.size() + step_.results.size());
  step_.results.push_back(value);
  Buffer buffer = add_buffer(position, element_type(dtype, elements), dtype);
  results_.push_back(buffer.memref);
  return buffer;
}

Buffer KernelBuilder::result(mlir::Value value, Elements elements) {
  return result(context_.value_of(value), dtype_of(value), elements);
}

Scratch KernelBuilder::scratch(DimExpr elements, DType dtype) {
  std::vector<Temporary>& temporaries = launch_step().temporaries;
  auto position =
      static_cast<unsigned>(step_.operands.size() + step_.results.size() + temporaries.size());
  temporaries.push_back({.bytes = elements * DimExpr(byte_size(dtype)), .per_worker = true});
  Buffer buffer = add_buffer(position, element_type(dtype, Elements::kNumbers), dtype);
  // The VM rounds the temporary of each worker up to whole cache lines, so that two workers never
  // share a line. The start must use the same size; see Temporary::per_worker.
  constexpr int64_t kLineBytes = 64;
  return {buffer, worker() * param(round_up(elements, kLineBytes / byte_size(dtype)))};
}

bool KernelBuilder::allow_in_place(const Buffer& result, const Buffer& operand) {
  auto index_in = [](llvm::ArrayRef<mlir::Value> buffers, const Buffer& buffer) {
    return static_cast<int>(llvm::find(buffers, buffer.memref) - buffers.begin());
  };
  int r = index_in(results_, result), o = index_in(operands_, operand);
  if (llvm::count(step_.operands, step_.operands[o]) != 1) return false;
  launch_step().in_place.push_back({r, o});
  return true;
}

Term KernelBuilder::param(DimExpr value) {
  launch_step().params.push_back(value);
  unsigned position = entry_->getNumArguments() - kCallArguments;
  return term(entry_->insertArgument(position, index_type(), builder().getLoc()));
}

Term KernelBuilder::stride(DimExpr value) { return value.is_constant(0) ? index(0) : param(value); }

Term KernelBuilder::argument_from_end(unsigned count) {
  return term(entry_->getArgument(entry_->getNumArguments() - count));
}
Term KernelBuilder::begin() { return argument_from_end(4); }
Term KernelBuilder::end() { return argument_from_end(3); }
Term KernelBuilder::worker() { return argument_from_end(2); }
Term KernelBuilder::first() { return argument_from_end(1); }

Term KernelBuilder::items_done(Term item, Term group_begin) {
  return item - max(first(), group_begin);
}

llvm::LogicalResult KernelBuilder::launch(DimExpr grid, DimExpr grain) {
  builder().setInsertionPointToEnd(entry_);
  builder().create<mlir::func::ReturnOp>();
  // The arguments were added one by one, so the function type is set last.
  function_.setFunctionType(builder().getFunctionType(entry_->getArgumentTypes(), {}));
  step::Launch& launch = launch_step();
  auto buffers =
      static_cast<int>(step_.operands.size() + step_.results.size() + launch.temporaries.size());
  launch.kernel =
      context_.kernels().intern(function_, kind_, buffers, static_cast<int>(launch.params.size()));
  function_ = nullptr;
  launch.grid = grid;
  launch.grain = grain;
  context_.launch(std::move(step_));
  return mlir::success();
}

DimExpr grain_of_bytes(DimExpr item_bytes) { return grain_of(kTaskBytes, item_bytes); }

}  // namespace scopevm::compiler::kernels
