// Evaluator: collects the operands of a fused body, and emits the loads and the arithmetic of its
// values.
#include "compiler/kernels/elementwise/evaluate.h"

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {
namespace {

// An attribute of the arithmetic type, from the bits of one element of `dtype`.
mlir::TypedAttr scalar_attribute(mlir::OpBuilder& builder, DType dtype, uint64_t bits) {
  mlir::Type type = arithmetic_type(builder.getContext(), dtype);
  if (mlir::isa<mlir::FloatType>(type)) {
    const llvm::fltSemantics& semantics = dtype == DType::kF16    ? llvm::APFloat::IEEEhalf()
                                          : dtype == DType::kBF16 ? llvm::APFloat::BFloat()
                                          : dtype == DType::kF32  ? llvm::APFloat::IEEEsingle()
                                                                  : llvm::APFloat::IEEEdouble();
    llvm::APFloat value(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits));
    bool loses_digits = false;
    // The conversion is exact: 16-bit floats are widened to f32, and other types keep their format.
    value.convert(mlir::cast<mlir::FloatType>(type).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &loses_digits);
    return builder.getFloatAttr(type, value);
  }
  if (dtype == DType::kBool) bits = bits != 0;
  return builder.getIntegerAttr(type, llvm::APInt(type.getIntOrFloatBitWidth(), bits));
}

}  // namespace

Evaluator::Evaluator(KernelBuilder& k, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
                     llvm::ArrayRef<int> tags, int inner_tag)
    : k_(k), body_(body) {
  for (mlir::Operation* op : body.ops)
    for (mlir::Value operand : op->getOperands()) collect(operand);
  // A group may yield one of its operands.
  for (mlir::Value result : body.results) collect(result);
  llvm::SmallVector<llvm::ArrayRef<DimExpr>> shapes;
  for (const Leaf& leaf : leaves_) shapes.push_back(graph::type_of(leaf.value).getShape());
  space_ = make_space(dims, tags, shapes);
  if (inner_tag >= 0) space_.require_inner(inner_tag);
  for (DimExpr dim : space_.dims) sizes_.push_back(k.param(dim));
  size_t last = space_.dims.size() - 1;
  for (size_t i = 0; i < leaves_.size(); ++i)
    for (size_t dim = 0; dim <= last; ++dim) {
      const AxisAccess& axis = space_.operands[i][dim];
      bool is_known =
          axis.motion == Motion::kBroadcast || (dim == last && axis.motion == Motion::kFull);
      leaves_[i].strides.push_back(is_known ? Term() : k.param(axis.stride));
    }
}

void Evaluator::collect(mlir::Value value) {
  if (body_.computes(value) || immediates_.contains(value) || is_leaf(value)) return;
  mlir::Value outer = body_.outer(value);
  // A constant that is required in a memory scope is read from that scope. The kernel does not
  // embed it.
  mlir::ElementsAttr elements = k_.context().constant_of(outer);
  if (elements && !graph::has_scope(outer.getType()))
    if (const auto bits = graph::splat_bits(elements, graph::type_of(outer).getDtype())) {
      immediates_[value] = *bits;
      return;
    }
  for (const Leaf& leaf : leaves_)
    // Two arguments of a group can stand for one value. They share a buffer of the kernel.
    if (body_.outer(leaf.value) == outer) return leaves_.push_back({value, leaf.buffer, {}});
  leaves_.push_back({value, k_.operand(outer, Elements::kNumbers), {}});
}

bool Evaluator::is_leaf(mlir::Value value) const {
  return llvm::any_of(leaves_, [&](const Leaf& leaf) { return leaf.value == value; });
}

Terms Evaluator::sizes(size_t first, size_t end) const {
  Terms terms;
  for (size_t dim = first; dim < end; ++dim) terms.push_back(size(dim));
  return terms;
}

void Evaluator::allow_in_place(Buffer result, mlir::Operation* row_op) {
  llvm::SetVector<mlir::Value> late;
  if (row_op) late = read_late(row_op);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    // A second leaf of the same buffer could read elements after the result has overwritten them.
    bool read_twice = llvm::count_if(leaves_, [&](const Leaf& other) {
                        return other.buffer.memref == leaf.buffer.memref;
                      }) > 1;
    // If a linear leaf has elements of the result's size, element i of the leaf is stored where
    // element i of the result is written. It is read before this write. A row kernel stores
    // intermediate values in the result's row, so leaves that are read after the row op are
    // excluded.
    if (space_.is_linear(i) && byte_size(leaf.buffer.dtype) == byte_size(result.dtype) &&
        !late.contains(leaf.value) && !read_twice)
      k_.allow_in_place(result, leaf.buffer);
  }
}

// The values that are evaluated after the row op: the results and their transitive operands. Values
// that only the first operand of the row op requires are not among them.
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

Evaluator::Row Evaluator::at(llvm::ArrayRef<Term> index, Term linear) {
  Row row;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    Term base = k_.index(0);
    if (linear && space_.is_linear(i)) {
      base = linear;
    } else {
      for (size_t dim = 0; dim < index.size(); ++dim)
        if (leaf.strides[dim]) base = base + index[dim] * leaf.strides[dim];
    }
    row.bases.push_back(base);
    bool stays = space_.operands[i].back().motion == Motion::kBroadcast;
    // An operand that is constant along the row is loaded once, outside the loop over lanes.
    row.held.push_back(stays ? k_.load_number(leaf.buffer, base) : Term());
  }
  return row;
}

Term Evaluator::load(size_t i, const Row& row, const Lanes& lanes) {
  const Leaf& leaf = leaves_[i];
  if (row.held[i]) return k_.splat(row.held[i], lanes.count);
  auto moving = [&] {
    return k_.load_number(leaf.buffer, row.bases[i] + lanes.offset, lanes.count, lanes.mask);
  };
  if (space_.operands[i].back().motion == Motion::kFull) return moving();
  mlir::Type type = k_.vector(k_.number_type(leaf.buffer), lanes.count);
  return k_.branch(
      // Only the request determines whether this dim is broadcast. LLVM can move the branch out of
      // the loop over lanes, because its condition does not change there.
      leaf.strides.back() == 0, type,
      [&] { return Terms{k_.splat(k_.load_number(leaf.buffer, row.bases[i]), lanes.count)}; },
      [&] { return Terms{moving()}; })[0];
}

Term Evaluator::immediate(mlir::Value value, int64_t count) {
  mlir::ImplicitLocOpBuilder& builder = k_.builder();
  DType dtype = graph::type_of(value).getDtype();
  mlir::Type type = k_.vector(arithmetic_type(builder.getContext(), dtype), count);
  mlir::TypedAttr scalar = scalar_attribute(builder, dtype, immediates_.lookup(value));
  return k_.term(splat(builder, builder.getLoc(), type, scalar));
}

Term Evaluator::evaluate(mlir::Value value, const Row& row, const Lanes& lanes, TermMap& known) {
  if (Term found = known.lookup(value)) return found;
  Term result;
  if (immediates_.contains(value)) {
    result = immediate(value, lanes.count);
  } else if (body_.computes(value)) {
    Terms operands;
    for (mlir::Value operand : value.getDefiningOp()->getOperands())
      operands.push_back(evaluate(operand, row, lanes, known));
    result = k_.term(emit_elementwise(k_.builder(), value.getDefiningOp(), values_of(operands)));
  } else {
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (leaves_[i].value == value) result = load(i, row, lanes);
  }
  known[value] = result;
  return result;
}

}  // namespace scopevm::compiler::kernels
