// Constant folding: see fold.h.
#include "compiler/graph/values/fold.h"

#include <algorithm>
#include <vector>

#include "compiler/graph/arithmetic/numbers.h"

namespace scopevm::compiler::graph {
namespace {

// A folded result may always have this many bytes. A larger result may have as many bytes as its
// operands together, or as many elements as its largest operand. The last case permits the
// conversion of weights that are stored as 8-bit integers. No result exceeds kMaxBytes.
constexpr int64_t kFreeBytes = 4096;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// The byte size of a static type. Empty if the type is not static or has more than kMaxBytes
// elements.
std::optional<int64_t> static_bytes(TensorType tensor) {
  std::optional<int64_t> count = tensor.getElementCount().as_constant();
  // The bound on the count also keeps the product below within 64 bits.
  if (!tensor.isStatic() || !count || *count < 0 || *count > kMaxBytes) return std::nullopt;
  return *count * byte_size(tensor.getDtype());
}

bool is_foldable(mlir::Operation* op, llvm::ArrayRef<mlir::Attribute> operands) {
  if (op->getNumResults() != 1 || operands.empty()) return false;
  auto result = mlir::dyn_cast<TensorType>(op->getResult(0).getType());
  if (!result || result.getDtype() == DType::kStr) return false;
  int64_t operand_bytes = 0, most_elements = 0;
  for (auto [value, attribute] : llvm::zip(op->getOperands(), operands)) {
    auto elements = mlir::dyn_cast_or_null<mlir::ElementsAttr>(attribute);
    // Fails for an operand that is not constant, and for strings.
    if (!elements || mlir::isa<StringType>(elements.getElementType())) return false;
    const int64_t bytes = static_bytes(type_of(value)).value_or(0);
    operand_bytes += bytes;
    most_elements = std::max(most_elements, bytes / byte_size(type_of(value).getDtype()));
  }
  const std::optional<int64_t> bytes = static_bytes(result);
  const int64_t limit =
      std::max({kFreeBytes, operand_bytes, most_elements * byte_size(result.getDtype())});
  // Weights of f16 are folded to f32 at any size: each call would cast them otherwise.
  return bytes && *bytes <= std::min(limit, mlir::isa<CastOp>(op) ? INT64_MAX : kMaxBytes);
}

Scalar scalar_at(NumberArithmetic& arithmetic, const ConstantArray& x, int64_t at) {
  if (x.is_float()) return {arithmetic, x.dtype(), x.real(at)};
  return {arithmetic, x.dtype(), x.integer(at)};
}

}  // namespace

llvm::SmallVector<int64_t> row_major_strides(llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) strides[axis] = stride;
  return strides;
}

llvm::SmallVector<int64_t> broadcast_strides(const ConstantArray& x, size_t rank) {
  llvm::SmallVector<int64_t> strides(rank, 0), own = row_major_strides(x.dims());
  // NumPy broadcasting: dims are aligned at the end, and a dim of size 1 repeats its element
  // (stride 0).
  size_t shift = rank - own.size();
  for (size_t axis = 0; axis < own.size(); ++axis)
    strides[shift + axis] = x.dims()[axis] == 1 ? 0 : own[axis];
  return strides;
}

void gather_with(Cursor cursor, const ConstantArray& x, ConstantArray& y) {
  for (int64_t i = 0; i < y.count(); ++i, cursor.next()) y.copy(i, x, cursor.at());
}

mlir::OpFoldResult fold_tensor(
    mlir::Operation* op, llvm::ArrayRef<mlir::Attribute> operands,
    llvm::function_ref<bool(const ConstantArrays& x, ConstantArray& y)> fill) {
  if (!is_foldable(op, operands)) return {};
  ConstantArrays arrays;
  for (auto [value, attribute] : llvm::zip(op->getOperands(), operands))
    arrays.emplace_back(mlir::cast<mlir::ElementsAttr>(attribute), type_of(value).getDtype());
  ConstantArray result(type_of(op->getResult(0)));
  if (!fill(arrays, result)) return {};
  return mlir::Attribute(result.attribute(op->getContext()));
}

namespace {

// The results of an op with one operand whose elements have at most two bytes: each value of an
// element is evaluated once. Weights of f16 have millions of elements.
class ResultsByBits {
 public:
  ResultsByBits(const ConstantArrays& x, ConstantArray& y) : y_(y) {
    constexpr int64_t kLeastElements = 1024;
    if (x.size() != 1 || byte_size(x[0].dtype()) > 2 || x[0].count() != y.count() ||
        y.count() < kLeastElements)
      return;
    x_ = &x[0];
    first_.assign(size_t{1} << (8 * byte_size(x_->dtype())), kUnknown);
  }

  // Copies the result of an earlier element with the bits of element i. Without one, returns false:
  // the result of element i is then set by the caller.
  bool copy(int64_t i) {
    if (!x_) return false;
    int64_t& first = first_[x_->bits(i)];
    if (first == kUnknown) {
      first = i;
      return false;
    }
    y_.copy(i, y_, first);
    return true;
  }

 private:
  static constexpr int64_t kUnknown = -1;
  ConstantArray& y_;
  const ConstantArray* x_ = nullptr;
  std::vector<int64_t> first_;  // by the bits
};

}  // namespace

mlir::OpFoldResult fold_elementwise(ElementwiseOp op, llvm::ArrayRef<mlir::Attribute> operands) {
  return fold_tensor(op, operands, [&](const ConstantArrays& x, ConstantArray& y) {
    NumberArithmetic arithmetic;
    llvm::SmallVector<Cursor, 3> cursors;
    for (const ConstantArray& operand : x)
      cursors.emplace_back(y.dims(), broadcast_strides(operand, y.dims().size()));
    llvm::SmallVector<Scalar, 3> scalars;
    ResultsByBits known(x, y);
    for (int64_t i = 0; i < y.count(); ++i) {
      if (known.copy(i)) {
        cursors.front().next();
        continue;
      }
      scalars.clear();
      for (auto [operand, cursor] : llvm::zip(x, cursors))
        scalars.push_back(scalar_at(arithmetic, operand, cursor.at()));
      const Scalar result = op.evaluate(scalars);
      // An element without a known value, such as an integer power, leaves the op in the graph.
      if (!result.is_known()) return false;
      if (y.is_float())
        y.set(i, result.get<double>());
      else
        y.set_integer(i, result.get<int64_t>());
      for (Cursor& cursor : cursors) cursor.next();
    }
    return true;
  });
}

}  // namespace scopevm::compiler::graph
