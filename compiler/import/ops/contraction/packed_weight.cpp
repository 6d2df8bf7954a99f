// Products with constant weights of at most 4 bits that DequantizeLinear reads: the integers stay
// packed in the module (sv.matmul_blocks).
#include <cstring>

#include "compiler/graph/values/constant_array.h"
#include "compiler/import/ops/contraction/contraction.h"
#include "compiler/import/ops/elementwise/quantised.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// A constant operand of the dequantisation, which broadcasts to the shape of the integers.
class Parameter {
 public:
  Parameter(ConstantOp constant, Value value) : array_(constant) {
    for (DimExpr dim : tensor_type(value).getShape()) dims_.push_back(*dim.as_constant());
  }

  // The dim that is aligned with axis `axis` of `rank` axes.
  int64_t dim(int64_t axis, int64_t rank) const {
    const int64_t own = axis - rank + static_cast<int64_t>(dims_.size());
    return own < 0 ? 1 : dims_[static_cast<size_t>(own)];
  }
  double at(llvm::ArrayRef<int64_t> index) const {
    const auto rank = static_cast<int64_t>(index.size());
    int64_t position = 0;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t size = dim(axis, rank);
      position = position * size + (size == 1 ? 0 : index[static_cast<size_t>(axis)]);
    }
    return array_.is_float() ? array_.real(position)
                             : static_cast<double>(array_.integer(position));
  }

 private:
  ConstantArray array_;
  Ints dims_;
};

// The weight [depth, columns], or its transpose. `shape` is that of the integers: if the depth is
// split into blocks, it has one more axis.
struct Weight {
  ConstantArray integers;
  Parameter scale;
  std::optional<Parameter> zero;
  Ints shape;
  bool is_transposed;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool has_blocks() const { return shape.size() == 3; }
  int64_t columns() const { return is_transposed ? shape.front() : shape.back(); }
  int64_t depth() const { return integers.count() / std::max<int64_t>(columns(), 1); }
  // The axis along which the elements of a block are.
  int64_t block_axis() const { return is_transposed ? rank() - 1 : rank() - 2; }
  int64_t block() const {
    return has_blocks() ? shape[static_cast<size_t>(block_axis())] : (depth() + 3) / 4 * 4;
  }
  Ints index(int64_t k, int64_t column) const {
    if (!has_blocks()) return is_transposed ? Ints{column, k} : Ints{k, column};
    const int64_t first = k / block(), second = k % block();
    return is_transposed ? Ints{column, first, second} : Ints{first, second, column};
  }
  int64_t integer(int64_t k, int64_t column) const {
    return integers.integer(is_transposed ? column * depth() + k : k * columns() + column);
  }
};

std::optional<Weight> weight_of(Value b, bool is_transposed) {
  const TensorType type = tensor_type(b);
  if (type.getRank() != 2 || !type.isStatic()) return std::nullopt;
  auto reshape = b.getDefiningOp<ReshapeOp>();
  const auto found = dequantised(reshape ? reshape.getX() : b);
  if (!found) return std::nullopt;
  const TensorType values = tensor_type(found->values);
  ConstantOp integers = constant_source(found->values), scale = constant_source(found->scale),
             zero = found->zero ? constant_source(found->zero) : ConstantOp();
  const auto is_static = [](Value value) { return tensor_type(value).isStatic(); };
  if (!integers || !scale || (found->zero && !zero) || !values.isStatic() ||
      !is_static(found->scale) || (zero && !is_static(found->zero)) ||
      tensor_type(found->scale).getDtype() != DType::kF32)
    return std::nullopt;
  Ints shape;
  for (DimExpr dim : values.getShape()) shape.push_back(*dim.as_constant());
  // A reshape only merges the blocks of the depth.
  const auto dims = type.getShape();
  const auto merged = [&](size_t axis) { return DimExpr(shape[axis] * shape[axis + 1]); };
  if (shape.size() == 3 ? !(is_transposed ? dims[0] == DimExpr(shape[0]) && dims[1] == merged(1)
                                          : dims[0] == merged(0) && dims[1] == DimExpr(shape[2]))
                        : shape.size() != 2 || values.getShape() != dims)
    return std::nullopt;
  Weight weight{ConstantArray(integers), Parameter(scale, found->scale), {}, shape, is_transposed};
  if (zero) weight.zero.emplace(zero, found->zero);
  const auto varies = [&](const Parameter& parameter) {
    return parameter.dim(weight.block_axis(), weight.rank()) != 1;
  };
  if (weight.integers.count() == 0 || weight.block() % 4 != 0 || varies(weight.scale) ||
      (zero && varies(*weight.zero)))
    return std::nullopt;
  return weight;
}

// The fewest bits of 2 and 4 that represent all integers. 0 if they need more.
struct Bits {
  int64_t count = 0, offset = 0;  // offset: added to each integer, so that none is negative
};
Bits bits_of(const ConstantArray& integers) {
  int64_t least = 0, greatest = 0;
  for (int64_t i = 0; i < integers.count(); ++i) {
    least = std::min(least, integers.integer(i));
    greatest = std::max(greatest, integers.integer(i));
  }
  for (int64_t bits : {2, 4}) {
    const int64_t offset = least < 0 ? int64_t{1} << (bits - 1) : 0;
    if (least + offset >= 0 && greatest + offset < int64_t{1} << bits) return {bits, offset};
  }
  return {};
}

}  // namespace

Value packed_product(Node& n, Value a, Value b, bool transpose_b) {
  if (n.has_failed() || n.dtype(a) != DType::kF32 || n.rank(a) < 1) return {};
  const auto weight = weight_of(b, transpose_b);
  const Bits bits = weight ? bits_of(weight->integers) : Bits();
  if (bits.count == 0) return {};
  const int64_t depth = weight->depth(), columns = weight->columns(), block = weight->block();
  const DimExpr own_depth = n.dim(a, n.rank(a) - 1);
  if (own_depth.is_constant() && own_depth != DimExpr(depth)) return {};
  const int64_t bytes = (depth * bits.count + 7) / 8, blocks = (depth + block - 1) / block;
  std::vector<char> packed(static_cast<size_t>(columns * bytes));
  std::vector<char> scales(static_cast<size_t>(columns * blocks) * sizeof(float)), zeros(scales);
  std::optional<float> first_zero;
  bool is_equal = true;
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t bit = k * bits.count;
      packed[static_cast<size_t>(column * bytes + bit / 8)] |=
          static_cast<char>((weight->integer(k, column) + bits.offset) << (bit % 8));
    }
    for (int64_t i = 0; i < blocks; ++i) {
      const Ints index = weight->index(i * block, column);
      const auto scale = static_cast<float>(weight->scale.at(index));
      const auto zero = static_cast<float>((weight->zero ? weight->zero->at(index) : 0) +
                                           static_cast<double>(bits.offset));
      is_equal = is_equal && zero == first_zero.value_or(zero);
      first_zero = first_zero.value_or(zero);
      const auto at = static_cast<size_t>(column * blocks + i) * sizeof(float);
      std::memcpy(scales.data() + at, &scale, sizeof scale);
      std::memcpy(zeros.data() + at, &zero, sizeof zero);
    }
  }
  return n.emit<MatMulBlocksOp>(
      {a, n.constant({columns, bytes}, DType::kU8, packed),
       n.constant({columns, blocks}, DType::kF32, scales),
       is_equal ? n.scalar(*first_zero, DType::kF32)
                : n.constant({columns, blocks}, DType::kF32, zeros)},
      {n.attr("depth", depth), n.attr("bits", bits.count), n.attr("block", block)});
}

}  // namespace scopevm::compiler::frontend
