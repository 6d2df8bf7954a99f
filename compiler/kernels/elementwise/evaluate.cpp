// See the header.
#include "compiler/kernels/elementwise/evaluate.h"

#include "compiler/graph/elements.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/generator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

namespace scf = mlir::scf;
namespace vector = mlir::vector;

// The bits of one element as an attribute of its arithmetic type.
mlir::TypedAttr scalar_attribute(mlir::OpBuilder& builder, DType dtype, uint64_t bits) {
  mlir::Type type = arithmetic_type(builder.getContext(), dtype);
  if (mlir::isa<mlir::FloatType>(type)) {
    const llvm::fltSemantics& semantics = dtype == DType::kF16    ? llvm::APFloat::IEEEhalf()
                                          : dtype == DType::kBF16 ? llvm::APFloat::BFloat()
                                          : dtype == DType::kF32  ? llvm::APFloat::IEEEsingle()
                                                                  : llvm::APFloat::IEEEdouble();
    llvm::APFloat value(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits));
    bool loses_digits = false;
    value.convert(mlir::cast<mlir::FloatType>(type).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &loses_digits);
    return builder.getFloatAttr(type, value);
  }
  if (dtype == DType::kBool) bits = bits != 0;
  return builder.getIntegerAttr(type, llvm::APInt(type.getIntOrFloatBitWidth(), bits));
}

}  // namespace

Evaluator::Evaluator(KernelDraft& draft, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
                     llvm::ArrayRef<int> tags, int inner_tag)
    : draft_(draft), body_(body) {
  for (mlir::Operation* op : body.ops)
    for (mlir::Value operand : op->getOperands()) collect(operand);
  // A group may give back what it gets.
  for (mlir::Value result : body.results) collect(result);
  llvm::SmallVector<llvm::ArrayRef<DimExpr>> shapes;
  for (const Leaf& leaf : leaves_) shapes.push_back(tensor_type(leaf.value).getShape());
  space_ = make_space(dims, tags, shapes);
  if (inner_tag >= 0) space_.require_inner(inner_tag);
  for (DimExpr dim : space_.dims) sizes_.push_back(draft.param(dim));
  size_t last = space_.dims.size() - 1;
  for (size_t i = 0; i < leaves_.size(); ++i)
    for (size_t dim = 0; dim <= last; ++dim) {
      const AxisAccess& axis = space_.operands[i][dim];
      bool is_known =
          axis.motion == Motion::kBroadcast || (dim == last && axis.motion == Motion::kFull);
      leaves_[i].strides.push_back(is_known ? Param() : draft.param(axis.stride));
    }
}

void Evaluator::collect(mlir::Value value) {
  if (body_.computes(value) || immediates_.contains(value) || is_leaf(value)) return;
  mlir::Value outer = body_.outer(value);
  uint64_t bits = 0;
  if (mlir::ElementsAttr elements = draft_.context().constant_of(outer))
    if (graph::is_splat(elements, tensor_type(outer).getDtype(), bits)) {
      immediates_[value] = bits;
      return;
    }
  leaves_.push_back({value, draft_.operand(outer), {}});
}

bool Evaluator::is_leaf(mlir::Value value) const {
  return llvm::any_of(leaves_, [&](const Leaf& leaf) { return leaf.value == value; });
}

llvm::SmallVector<mlir::Value> Evaluator::sizes(size_t first, size_t end) const {
  llvm::SmallVector<mlir::Value> values;
  for (size_t dim = first; dim < end; ++dim) values.push_back(size(dim));
  return values;
}

void Evaluator::allow_in_place(Buffer result, mlir::Operation* row_op) {
  llvm::SetVector<mlir::Value> late;
  if (row_op) late = read_late(row_op);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    bool read_twice = llvm::count_if(leaves_, [&](const Leaf& other) {
                        return other.buffer.index == leaf.buffer.index;
                      }) > 1;
    if (space_.is_linear(i) && byte_size(leaf.buffer.dtype) == byte_size(result.dtype) &&
        !late.contains(leaf.value) && !read_twice)
      draft_.in_place(result, leaf.buffer);
  }
}

// The results' operands, and theirs, but not what only the row op's first operand needs.
llvm::SetVector<mlir::Value> Evaluator::read_late(mlir::Operation* row_op) const {
  llvm::SetVector<mlir::Value> late(body_.results.begin(), body_.results.end());
  for (size_t i = 0; i < late.size(); ++i) {
    mlir::Operation* op = late[i].getDefiningOp();
    if (!body_.computes(late[i])) continue;
    for (mlir::Value operand : op->getOperands().drop_front(op == row_op ? 1 : 0))
      late.insert(operand);
  }
  return late;
}

Evaluator::Row Evaluator::at(llvm::ArrayRef<mlir::Value> index, mlir::Value linear) {
  Row row;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    Term base = draft_.index(0);
    if (linear && space_.is_linear(i)) {
      base = draft_.term(linear);
    } else {
      for (size_t dim = 0; dim < index.size(); ++dim)
        if (leaf.strides[dim].index >= 0)
          base = base + draft_.term(index[dim]) * draft_.term(draft_.param(leaf.strides[dim]));
    }
    row.bases.push_back(base.value);
    bool stays = space_.operands[i].back().motion == Motion::kBroadcast;
    row.held.push_back(stays ? load_scalar(draft_, leaf.buffer, base.value) : nullptr);
  }
  return row;
}

mlir::Value Evaluator::load(size_t i, const Row& row, const Lanes& lanes) {
  const Leaf& leaf = leaves_[i];
  mlir::OpBuilder& builder = draft_.builder();
  mlir::Location location = draft_.location();
  auto spread = [&](mlir::Value scalar) -> mlir::Value {
    return builder.create<vector::BroadcastOp>(location, lanes_type(scalar.getType(), lanes.count),
                                               scalar);
  };
  if (row.held[i]) return spread(row.held[i]);
  auto moving = [&] {
    mlir::Value at = (draft_.term(row.bases[i]) + draft_.term(lanes.offset)).value;
    return load_lanes(draft_, leaf.buffer, at, lanes);
  };
  if (space_.operands[i].back().motion == Motion::kFull) return moving();
  Term stays = equal(draft_.term(draft_.param(leaf.strides.back())), draft_.index(0));
  mlir::Type element = arithmetic_type(builder.getContext(), leaf.buffer.dtype);
  auto either = builder.create<scf::IfOp>(
      location, mlir::TypeRange{lanes_type(element, lanes.count)}, stays.value, true);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(either.thenBlock());
  mlir::Value one = spread(load_scalar(draft_, leaf.buffer, row.bases[i]));
  builder.create<scf::YieldOp>(location, one);
  builder.setInsertionPointToStart(either.elseBlock());
  mlir::Value many = moving();
  builder.create<scf::YieldOp>(location, many);
  return either.getResult(0);
}

mlir::Value Evaluator::immediate(mlir::Value value, int count) {
  mlir::OpBuilder& builder = draft_.builder();
  DType dtype = tensor_type(value).getDtype();
  mlir::Type type = lanes_type(arithmetic_type(builder.getContext(), dtype), count);
  return splat(builder, draft_.location(), type,
               scalar_attribute(builder, dtype, immediates_.lookup(value)));
}

mlir::Value Evaluator::evaluate(mlir::Value value, const Row& row, const Lanes& lanes,
                                ValueMap& known) {
  if (mlir::Value found = known.lookup(value)) return found;
  mlir::Value result;
  if (immediates_.contains(value)) {
    result = immediate(value, lanes.count);
  } else if (body_.computes(value)) {
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : value.getDefiningOp()->getOperands())
      operands.push_back(evaluate(operand, row, lanes, known));
    result = emit_elementwise(draft_.builder(), value.getDefiningOp(), operands);
  } else {
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (leaves_[i].value == value) result = load(i, row, lanes);
  }
  known[value] = result;
  return result;
}

}  // namespace scopevm::compiler::kernels
