#include "compiler/layouts/expand.h"

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "compiler/layouts/blocked.h"
#include "compiler/layouts/candidate.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

// The weights of the product: [m * taps, c, 1...] for w, [c, m, kernel...].
mlir::Value product_weights(mlir::OpBuilder& builder, graph::ConstantOp w) {
  const Constant source = graph::constant_of_elements(w.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t channels = source.dims[0];
  const int64_t rows = *type_of(w.getResult()).getElementCount().as_constant() / channels;
  std::vector<float> elements(channels * rows);
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t row = 0; row < rows; ++row)
      elements[row * channels + channel] = from[channel * rows + row];
  llvm::SmallVector<int64_t> dims(source.dims.size(), 1);
  dims[0] = rows;
  dims[1] = channels;
  return constant_of(builder, w, dims, elements);
}

void expand(graph::ConvTransposeOp op) {
  mlir::OpBuilder builder(op);
  const TensorType x = type_of(op.getX()), w = type_of(op.getW()), type = type_of(op.getResult());
  const mlir::Value weights =
      product_weights(builder, op.getW().getDefiningOp<graph::ConstantOp>());
  const int64_t spatial = x.getRank() - 2;
  llvm::SmallVector<DimExpr> product(x.getShape());
  product[1] = type_of(weights).getDim(0);
  // [n, m, kernel 0, kernel 1, ..., size 0, size 1, ...] -> [n, m, size 0, kernel 0, ...].
  llvm::SmallVector<DimExpr> split = {x.getDim(0), w.getDim(1)};
  llvm::append_range(split, w.getShape().drop_front(2));
  llvm::append_range(split, x.getShape().drop_front(2));
  llvm::SmallVector<int64_t> order = {0, 1};
  for (int64_t axis = 2; axis < 2 + spatial; ++axis) order.append({axis + spatial, axis});
  const llvm::SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  mlir::Value y = builder.create<graph::ConvOp>(
      op.getLoc(), type.withShape(product), op.getX(), weights, mlir::Value(),
      builder.getDenseI64ArrayAttr(ones), builder.getDenseI64ArrayAttr(zeros),
      builder.getDenseI64ArrayAttr(ones), builder.getI64IntegerAttr(1));
  y = transpose(builder, reshape(builder, y, split), order);
  y = reshape(builder, y, type.getShape());
  if (op.getBias()) {
    llvm::SmallVector<DimExpr> along(x.getRank(), DimExpr(1));
    along[1] = w.getDim(1);
    y = builder.create<graph::AddOp>(op.getLoc(), type, y, reshape(builder, op.getBias(), along));
  }
  op.getResult().replaceAllUsesWith(y);
  op.erase();
}

bool is_expanded(graph::ConvTransposeOp op) {
  const TensorType w = type_of(op.getW());
  return is_disjoint(op) && op.getW().getDefiningOp<graph::ConstantOp>() && !graph::has_scope(w) &&
         w.getDtype() == DType::kF32 && !w.getElementCount().is_constant(0) &&
         type_of(op.getX()).getDim(1) == w.getDim(0) && !graph::has_placement_attributes(op) &&
         !op->hasAttr(graph::kLocalAttribute);
}

// The elements that one element of each channel of x produces. REQUIRES: is_expanded(op).
int64_t block_elements(graph::ConvTransposeOp op) {
  const TensorType w = type_of(op.getW());
  return *w.getElementCount().as_constant() / *w.getDim(0).as_constant();
}

}  // namespace

bool is_disjoint(graph::ConvTransposeOp op) {
  const auto all = [](llvm::ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  const llvm::ArrayRef<DimExpr> kernel = type_of(op.getW()).getShape().drop_front(2);
  return op.getGroup() == 1 && all(op.getPads(), 0) && all(op.getDilations(), 1) &&
         all(op.getOutputPads(), 0) &&
         llvm::equal(kernel, op.getStrides(),
                     [](DimExpr size, int64_t stride) { return size.is_constant(stride); });
}

void expand_transposed(mlir::func::FuncOp function, const Machine& machine, int64_t most) {
  llvm::SmallVector<graph::ConvTransposeOp> found;
  function.walk([&](graph::ConvTransposeOp op) {
    if (is_expanded(op) && may_grow(op, machine) && block_elements(op) <= most) found.push_back(op);
  });
  for (graph::ConvTransposeOp op : found) expand(op);
}

}  // namespace scopevm::compiler::layouts
