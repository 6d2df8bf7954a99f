// Constant folding: see fold_constants.h.
#include "compiler/graph/rewrite/fold_constants.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/graph/constant_array.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace scopevm::compiler::graph {
namespace {

// A result may have this many bytes, or as many as its operands together, or as many elements as
// one of them: weights that were stored as bytes become the floats that kernels take.
constexpr int64_t kFreeBytes = 4096;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

using Arrays = llvm::SmallVector<ConstantArray, 3>;

// Walks the positions of a shape in row-major order, keeping an offset into an array with strides.
class Cursor {
 public:
  Cursor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t start = 0)
      : dims_(dims), strides_(strides.begin(), strides.end()), index_(dims.size(), 0), at_(start) {}
  int64_t at() const { return at_; }
  void next() {
    for (size_t axis = dims_.size(); axis-- > 0;) {
      at_ += strides_[axis];
      if (++index_[axis] < dims_[axis]) return;
      at_ -= strides_[axis] * dims_[axis];
      index_[axis] = 0;
    }
  }

 private:
  llvm::ArrayRef<int64_t> dims_;
  llvm::SmallVector<int64_t> strides_;
  llvm::SmallVector<int64_t> index_;
  int64_t at_;
};

llvm::SmallVector<int64_t> row_major_strides(llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) strides[axis] = stride;
  return strides;
}

// Strides that read `x` as broadcast to `rank` dims.
llvm::SmallVector<int64_t> broadcast_strides(const ConstantArray& x, size_t rank) {
  llvm::SmallVector<int64_t> strides(rank, 0), own = row_major_strides(x.dims());
  size_t shift = rank - own.size();
  for (size_t axis = 0; axis < own.size(); ++axis)
    strides[shift + axis] = x.dims()[axis] == 1 ? 0 : own[axis];
  return strides;
}

using Real = std::optional<double>;
using Integer = std::optional<int64_t>;

Real real_of(mlir::Operation* op, double a, double b) {
  return llvm::TypeSwitch<mlir::Operation*, Real>(op)
      .Case<AddOp>([&](auto) { return a + b; })
      .Case<SubOp>([&](auto) { return a - b; })
      .Case<MulOp>([&](auto) { return a * b; })
      .Case<DivOp>([&](auto) { return a / b; })
      .Case<PowOp>([&](auto) { return std::pow(a, b); })
      .Case<MinOp>([&](auto) { return std::isnan(a) || a < b ? a : b; })
      .Case<MaxOp>([&](auto) { return std::isnan(a) || a > b ? a : b; })
      .Case<AbsOp>([&](auto) { return std::fabs(a); })
      .Case<NegOp>([&](auto) { return -a; })
      .Case<ExpOp>([&](auto) { return std::exp(a); })
      .Case<LogOp>([&](auto) { return std::log(a); })
      .Case<SqrtOp>([&](auto) { return std::sqrt(a); })
      .Case<ReciprocalOp>([&](auto) { return 1 / a; })
      .Case<ErfOp>([&](auto) { return std::erf(a); })
      .Case<TanhOp>([&](auto) { return std::tanh(a); })
      .Case<SigmoidOp>([&](auto) { return 1 / (1 + std::exp(-a)); })
      .Case<ReluOp>([&](auto) { return a < 0 ? 0.0 : a; })
      .Case<FloorOp>([&](auto) { return std::floor(a); })
      .Case<CeilOp>([&](auto) { return std::ceil(a); })
      .Case<RoundOp>([&](auto) { return std::nearbyint(a); })
      .Case<SinOp>([&](auto) { return std::sin(a); })
      .Case<CosOp>([&](auto) { return std::cos(a); })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

Integer integer_of(mlir::Operation* op, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return llvm::TypeSwitch<mlir::Operation*, Integer>(op)
      .Case<AddOp>([&](auto) { return wrap(x + y); })
      .Case<SubOp>([&](auto) { return wrap(x - y); })
      .Case<MulOp>([&](auto) { return wrap(x * y); })
      .Case<NegOp>([&](auto) { return wrap(0 - x); })
      .Case<DivOp>([&](auto) { return b == 0    ? 0
                                      : b == -1 ? wrap(0 - x)
                                                : a / b; })
      .Case<MinOp>([&](auto) { return std::min(a, b); })
      .Case<MaxOp>([&](auto) { return std::max(a, b); })
      .Case<AndOp, BitAndOp>([&](auto) { return a & b; })
      .Case<OrOp, BitOrOp>([&](auto) { return a | b; })
      .Case<BitXorOp>([&](auto) { return a ^ b; })
      .Case<LogicalNotOp>([&](auto) { return a == 0; })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

template <typename T>
Integer compare(mlir::Operation* op, T a, T b) {
  return llvm::TypeSwitch<mlir::Operation*, Integer>(op)
      .template Case<EqualOp>([&](auto) { return a == b; })
      .template Case<LessOp>([&](auto) { return a < b; })
      .template Case<LessEqualOp>([&](auto) { return a <= b; })
      .template Case<GreaterOp>([&](auto) { return a > b; })
      .template Case<GreaterEqualOp>([&](auto) { return a >= b; })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

bool fold_elementwise(mlir::Operation* op, const Arrays& x, ConstantArray& y) {
  size_t rank = y.dims().size();
  llvm::SmallVector<Cursor, 2> cursors;
  for (const ConstantArray& operand : x)
    cursors.emplace_back(y.dims(), broadcast_strides(operand, rank));
  bool is_real = x[0].is_float(), tests = y.dtype() == DType::kBool;
  if (x[0].dtype() == DType::kU64) return false;
  for (int64_t i = 0; i < y.count(); ++i) {
    int64_t at = cursors[0].at(), other = x.size() > 1 ? cursors[1].at() : 0;
    if (is_real) {
      double a = x[0].real(at), b = x.size() > 1 ? x[1].real(other) : 0;
      if (tests) {
        Integer result = compare(op, a, b);
        if (!result) return false;
        y.set_integer(i, *result);
      } else {
        Real result = real_of(op, a, b);
        if (!result) return false;
        y.set(i, *result);
      }
    } else {
      int64_t a = x[0].integer(at), b = x.size() > 1 ? x[1].integer(other) : 0;
      Integer result = integer_of(op, a, b);
      if (!result && tests) result = compare(op, a, b);
      if (!result || (x.size() > 1 && x[1].is_float())) return false;
      y.set_integer(i, *result);
    }
    for (Cursor& cursor : cursors) cursor.next();
  }
  return true;
}

// The nearest number that an integer type has.
int64_t clamp_to(DType dtype, int64_t value) {
  int64_t bits = 8 * byte_size(dtype);
  bool is_unsigned = dtype >= DType::kU8 && dtype <= DType::kU64;
  if (bits == 64) return is_unsigned ? std::max<int64_t>(value, 0) : value;
  int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
  return std::clamp(value, low, low + (int64_t{1} << bits) - 1);
}

bool fold_cast(const ConstantArray& x, ConstantArray& y) {
  for (int64_t i = 0; i < y.count(); ++i) {
    if (y.is_float()) {
      if (x.dtype() == DType::kU64) return false;
      y.set(i, x.real(i));
    } else if (y.dtype() == DType::kBool) {
      y.set_integer(i, x.is_float() ? x.real(i) != 0 : x.integer(i) != 0);
    } else if (x.is_float()) {
      double value = std::trunc(x.real(i));
      if (!(std::fabs(value) < 0x1p62)) return false;
      y.set_integer(i, clamp_to(y.dtype(), static_cast<int64_t>(value)));
    } else {
      y.set_integer(i, x.integer(i));
    }
  }
  return true;
}

bool fold_select(const Arrays& x, ConstantArray& y) {
  llvm::SmallVector<Cursor, 3> cursors;
  for (const ConstantArray& operand : x)
    cursors.emplace_back(y.dims(), broadcast_strides(operand, y.dims().size()));
  for (int64_t i = 0; i < y.count(); ++i) {
    int from = x[0].integer(cursors[0].at()) != 0 ? 1 : 2;
    y.copy(i, x[from], cursors[from].at());
    for (Cursor& cursor : cursors) cursor.next();
  }
  return true;
}

// y[i] = x[what the cursor says].
bool gather_with(Cursor cursor, const ConstantArray& x, ConstantArray& y) {
  for (int64_t i = 0; i < y.count(); ++i, cursor.next()) y.copy(i, x, cursor.at());
  return true;
}

bool fold_transpose(TransposeOp op, const ConstantArray& x, ConstantArray& y) {
  llvm::SmallVector<int64_t> own = row_major_strides(x.dims()), strides;
  for (int64_t axis : op.getPermutation()) strides.push_back(own[axis]);
  return gather_with(Cursor(y.dims(), strides), x, y);
}

bool fold_slice(SliceOp op, const ConstantArray& x, ConstantArray& y) {
  llvm::SmallVector<int64_t> own = row_major_strides(x.dims()), strides;
  int64_t start = 0;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    std::optional<int64_t> from = op.getStarts().getValue()[axis].as_constant();
    if (!from) return false;
    int64_t last = *from + (y.dims()[axis] - 1) * op.getSteps()[axis];
    if (y.dims()[axis] > 0 &&
        (*from < 0 || *from >= x.dims()[axis] || last < 0 || last >= x.dims()[axis]))
      return false;
    start += *from * own[axis];
    strides.push_back(own[axis] * op.getSteps()[axis]);
  }
  return gather_with(Cursor(y.dims(), strides, start), x, y);
}

bool fold_gather(GatherOp op, const Arrays& x, ConstantArray& y) {
  auto axis = static_cast<size_t>(op.getAxis());
  int64_t inner = 1, outer = 1, size = x[0].dims()[axis];
  for (size_t i = 0; i < x[0].dims().size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : x[0].dims()[i];
  int64_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < x[1].count(); ++i) {
      int64_t index = x[1].integer(i);
      if (index < 0) index += size;
      if (index < 0 || index >= size) return false;
      for (int64_t k = 0; k < inner; ++k) y.copy(to++, x[0], (o * size + index) * inner + k);
    }
  return true;
}

// Products of bytes, as they sum the columns of quantised weights; others are not worth it.
bool fold_matmul(MatMulOp op, const Arrays& x, ConstantArray& y) {
  constexpr int64_t kMaxSteps = int64_t{1} << 26;
  llvm::ArrayRef<int64_t> a = x[0].dims(), b = x[1].dims();
  if (byte_size(x[0].dtype()) != 1 || a.size() != 2 || b.size() != 2 || op.getTransposeA() ||
      op.getTransposeB() || a[1] != b[0] || y.count() * b[0] > kMaxSteps)
    return false;
  for (int64_t row = 0; row < a[0]; ++row)
    for (int64_t column = 0; column < b[1]; ++column) {
      int64_t sum = 0;
      for (int64_t k = 0; k < a[1]; ++k)
        sum += x[0].integer(row * a[1] + k) * x[1].integer(k * b[1] + column);
      y.set_integer(row * b[1] + column, sum);
    }
  return true;
}

bool fold_concat(ConcatOp op, const Arrays& x, ConstantArray& y) {
  auto axis = static_cast<size_t>(op.getAxis());
  llvm::SmallVector<int64_t> strides = row_major_strides(y.dims());
  int64_t start = 0;
  for (const ConstantArray& part : x) {
    Cursor cursor(part.dims(), strides, start);
    for (int64_t i = 0; i < part.count(); ++i, cursor.next()) y.copy(cursor.at(), part, i);
    start += part.dims()[axis] * strides[axis];
  }
  return true;
}

bool broadcasts(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  if (from.size() > to.size()) return false;
  for (auto [a, b] : llvm::zip(from, to.take_back(from.size())))
    if (a != 1 && a != b) return false;
  return true;
}

bool fold_into(mlir::Operation* op, const Arrays& x, ConstantArray& y) {
  return llvm::TypeSwitch<mlir::Operation*, bool>(op)
      .Case<CastOp>([&](auto) { return fold_cast(x[0], y); })
      .Case<SelectOp>([&](auto) { return fold_select(x, y); })
      .Case<ExpandOp>([&](auto) {
        return gather_with(Cursor(y.dims(), broadcast_strides(x[0], y.dims().size())), x[0], y);
      })
      .Case<TransposeOp>([&](TransposeOp t) { return fold_transpose(t, x[0], y); })
      .Case<SliceOp>([&](SliceOp s) { return fold_slice(s, x[0], y); })
      .Case<GatherOp>([&](GatherOp g) { return fold_gather(g, x, y); })
      .Case<MatMulOp>([&](MatMulOp m) { return fold_matmul(m, x, y); })
      .Case<ConcatOp>([&](ConcatOp c) { return fold_concat(c, x, y); })
      .Default([&](mlir::Operation*) {
        bool is_broadcast = llvm::all_of(  // not so for a reduction
            x, [&](const ConstantArray& operand) { return broadcasts(operand.dims(), y.dims()); });
        return op->getNumOperands() <= 2 && is_broadcast && fold_elementwise(op, x, y);
      });
}

// A reshape shares the bytes.
mlir::ElementsAttr fold_reshape(ReshapeOp op) {
  auto constant = op.getX().getDefiningOp<ConstantOp>();
  llvm::SmallVector<int64_t> dims;
  for (DimExpr dim : op.getDims().getValue()) dims.push_back(*dim.as_constant());
  auto type = mlir::RankedTensorType::get(dims, constant.getValue().getElementType());
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValue()))
    return mlir::DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return mlir::cast<mlir::DenseElementsAttr>(constant.getValue()).reshape(type);
}

std::optional<int64_t> static_bytes(mlir::Type type) {
  auto tensor = mlir::cast<TensorType>(type);
  std::optional<int64_t> count = tensor.getElementCount().as_constant();
  if (!tensor.isStatic() || !count || *count < 0 || *count > kMaxBytes) return std::nullopt;
  return *count * byte_size(tensor.getDtype());
}

}  // namespace

mlir::ElementsAttr fold_constants(mlir::Operation* op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumRegions() != 0 ||
      !mlir::isa<TensorType>(op->getResult(0).getType()))
    return {};
  int64_t operand_bytes = 0, most_elements = 0;
  for (mlir::Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    if (!constant || mlir::isa<TextType>(constant.getValue().getElementType())) return {};
    int64_t bytes = static_bytes(operand.getType()).value_or(0);
    operand_bytes += bytes;
    most_elements = std::max(
        most_elements, bytes / byte_size(mlir::cast<TensorType>(operand.getType()).getDtype()));
  }
  if (mlir::cast<TensorType>(op->getResult(0).getType()).getDtype() == DType::kStr) return {};
  std::optional<int64_t> bytes = static_bytes(op->getResult(0).getType());
  if (!bytes || *bytes > kMaxBytes) return {};
  auto type = mlir::cast<TensorType>(op->getResult(0).getType());
  if (*bytes > std::max({kFreeBytes, operand_bytes, most_elements * byte_size(type.getDtype())}))
    return {};
  if (auto reshape = mlir::dyn_cast<ReshapeOp>(op)) return fold_reshape(reshape);
  Arrays operands;
  for (mlir::Value operand : op->getOperands())
    operands.emplace_back(operand.getDefiningOp<ConstantOp>());
  ConstantArray result(type);
  if (!fold_into(op, operands, result)) return {};
  return result.attribute(op->getContext());
}

}  // namespace scopevm::compiler::graph
