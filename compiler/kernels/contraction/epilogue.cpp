// Epilogues on vectors or scalars; see the header.
#include "compiler/kernels/contraction/epilogue.h"

#include "compiler/graph/values/elements.h"
#include "compiler/kernels/generator.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
using mlir::Value;

DType dtype_of(Value value) { return mlir::cast<TensorType>(value.getType()).getDtype(); }

// A splat constant as a scalar of its storage type.
Value splat_constant(Emitter& e, graph::ConstantOp constant) {
  DType dtype = dtype_of(constant.getResult());
  uint64_t bits = 0;
  graph::is_splat(constant.getValue(), dtype, bits);
  mlir::Type type = storage_type(e.builder.getContext(), dtype);
  llvm::APInt raw(type.getIntOrFloatBitWidth(), bits);
  mlir::TypedAttr attribute;
  if (auto real = mlir::dyn_cast<mlir::FloatType>(type))
    attribute = mlir::FloatAttr::get(type, llvm::APFloat(real.getFloatSemantics(), raw));
  else
    attribute = mlir::IntegerAttr::get(type, raw);
  return e.builder.create<mlir::arith::ConstantOp>(e.location, attribute);
}

Value widen(Emitter& e, Value scalar, int64_t lanes) {
  return lanes == 1 ? scalar : e.splat(scalar, mlir::VectorType::get({lanes}, scalar.getType()));
}

Value add(Emitter& e, Value a, Value b) {
  if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a.getType())))
    return e.builder.create<mlir::arith::AddFOp>(e.location, a, b);
  return e.add(a, b);
}

}  // namespace

Epilogue::Epilogue(const FusedContraction& fused, const OutputAxes& axes, Value bias)
    : fused_(fused), axes_(axes), bias_(bias) {
  if (bias) {
    Access access{.dtype = dtype_of(bias), .row_stride = 1};
    access.batch_strides.assign(axes.rows, DimExpr(0));
    operands_.push_back({bias, access});
  }
  llvm::DenseSet<Value> seen;
  for (mlir::Operation* op : fused.epilogue)
    for (Value operand : op->getOperands())
      if (mlir::isa<mlir::BlockArgument>(operand) && seen.insert(operand).second)
        operands_.push_back({operand, *fusion::access_of(mlir::cast<TensorType>(operand.getType()),
                                                         fused.type(), axes)});
  for (Value result : fused.results)
    results_.push_back(
        {result, *fusion::access_of(mlir::cast<TensorType>(result.getType()), fused.type(), axes)});
}

bool Epilogue::batch_is_one() const {
  return llvm::all_of(operands_, [](const Tensor& t) { return t.access.batch_is_one; });
}

void Epilogue::collapse_batch() {
  for (Tensor& tensor : operands_) fusion::collapse_batch(tensor.access);
  for (Tensor& tensor : results_) fusion::collapse_batch(tensor.access);
}

void Epilogue::declare(Launch& launch, LoweringContext& context) {
  auto declare_strides = [&](Tensor& tensor) {
    for (DimExpr stride : tensor.access.batch_strides)
      tensor.batch_strides.push_back(launch.param(stride));
    tensor.row_stride = launch.param(tensor.access.row_stride);
  };
  for (Tensor& tensor : operands_) {
    tensor.buffer =
        launch.operand(context.value_of(fused_.outer(tensor.value)), tensor.access.dtype);
    declare_strides(tensor);
  }
  for (auto [tensor, outer] : llvm::zip(results_, fused_.op->getResults())) {
    tensor.buffer = launch.result(context.value_of(outer), tensor.access.dtype);
    declare_strides(tensor);
  }
  for (Tensor& result : results_)
    for (Tensor& operand : operands_)
      if (byte_size(result.access.dtype) == byte_size(operand.access.dtype) &&
          mlir::cast<TensorType>(operand.value.getType()).getShape() == fused_.type().getShape())
        launch.allow_in_place(result.buffer, operand.buffer);
}

void Epilogue::enter(Emitter& emit, const Launch& launch, mlir::ValueRange coordinates) {
  auto start = [&](Tensor& tensor) {
    tensor.start = emit.index(0);
    for (auto [coordinate, stride] : llvm::zip(coordinates, tensor.batch_strides))
      tensor.start = emit.add(tensor.start, emit.mul(coordinate, launch[stride]));
  };
  for (Tensor& tensor : operands_) start(tensor);
  for (Tensor& tensor : results_) start(tensor);
}

Value Epilogue::at(Emitter& emit, const Launch& launch, const Tensor& tensor, Value row,
                   Value column) {
  Value at = emit.add(tensor.start, emit.mul(row, launch[tensor.row_stride]));
  return tensor.access.by_column ? emit.add(at, column) : at;
}

Value Epilogue::load(Emitter& e, const Launch& launch, const Tensor& tensor, Value row,
                     Value column, int64_t lanes, Value mask) {
  Value buffer = launch[tensor.buffer];
  Value position = at(e, launch, tensor, row, column);
  DType dtype = tensor.access.dtype;
  if (lanes == 1 || !tensor.access.by_column)
    return widen(e, load_convert(e.builder, e.location, dtype, e.load(buffer, position)), lanes);
  auto type = mlir::VectorType::get({lanes}, storage_type(e.builder.getContext(), dtype));
  Value stored =
      mask ? e.load_masked(buffer, position, mask, type) : e.load(buffer, position, type);
  return load_convert(e.builder, e.location, dtype, stored);
}

Epilogue::ValueMap Epilogue::evaluate(Emitter& e, const Launch& launch, Value sum, Value row,
                                      Value column, int64_t lanes, Value mask) {
  ValueMap values;
  llvm::ArrayRef<Tensor> operands = operands_;
  if (bias_) {
    sum = add(e, sum, load(e, launch, operands.front(), row, column, lanes, mask));
    operands = operands.drop_front();
  }
  values[fused_.contraction->getResult(0)] = sum;
  for (const Tensor& tensor : operands)
    values[tensor.value] = load(e, launch, tensor, row, column, lanes, mask);
  for (mlir::Operation* op : fused_.epilogue) {
    if (auto constant = mlir::dyn_cast<graph::ConstantOp>(op)) {
      Value scalar = load_convert(e.builder, e.location, dtype_of(constant.getResult()),
                                  splat_constant(e, constant));
      values[constant.getResult()] = widen(e, scalar, lanes);
      continue;
    }
    llvm::SmallVector<Value> arguments;
    for (Value operand : op->getOperands()) arguments.push_back(values[operand]);
    values[op->getResult(0)] = emit_elementwise(e.builder, op, arguments);
  }
  return values;
}

void Epilogue::emit(Emitter& e, const Launch& launch, Value sum, Value row, Value column,
                    int64_t lanes, Value mask) {
  ValueMap values = evaluate(e, launch, sum, row, column, lanes, mask);
  for (const Tensor& tensor : results_) {
    Value stored = store_convert(e.builder, e.location, tensor.access.dtype, values[tensor.value]);
    Value position = at(e, launch, tensor, row, column);
    if (mask)
      e.store_masked(stored, launch[tensor.buffer], position, mask);
    else
      e.store(stored, launch[tensor.buffer], position);
  }
}

}  // namespace scopevm::compiler::kernels
