// ONNX operators with random results. An element of a result is a function of the request's seed,
// of the operator's stream and of the element's index. The results thus depend neither on the
// device nor on the number of threads, and they differ from those of ONNX Runtime.
#include <bit>
#include <cstring>

#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "llvm/Support/xxhash.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::PhiloxOp;
using graph::ShiftRightOp;

Formula u64_constant(Node& n, uint64_t value) {
  std::vector<char> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return {n, n.constant({}, DType::kU64, bytes)};
}

// The stream of the keys of iterations. Those of operators differ.
constexpr uint64_t kIterations = 0;

// Operators with the same attribute `seed` have the same stream. Any other operator has its own,
// which depends only on the names of its first output and of those of the nodes around it.
uint64_t stream_of(Node& n) {
  if (n.has_attribute("seed") && n.proto().op_type() == "Dropout")  // an integer
    return uint64_t{1} << 63 | static_cast<uint64_t>(n.integer("seed", 0));
  if (n.has_attribute("seed"))
    return uint64_t{1} << 32 | std::bit_cast<uint32_t>(n.number("seed", 0));
  return llvm::xxh3_64bits(n.path());
}

// The key at the insertion point: the seed, or in a loop a number for each iteration.
Value key_of(Node& n) {
  GraphBuilder& builder = n.builder();
  Value key;
  for (RandomKeys::Part& part : builder.random_keys().parts()) {
    if (!part.key) {
      const mlir::OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(part.block);
      if (part.index.empty()) {
        part.key = n.cast(builder.random_keys().seed(), DType::kU64);
      } else {
        const Value iteration = n.dims_value({DimExpr::symbol(part.index)}, /*is_scalar=*/true);
        part.key =
            n.emit<PhiloxOp>({n.cast(iteration, DType::kU64), key, u64_constant(n, kIterations)});
      }
    }
    key = part.key;
  }
  return key;
}

// The indices of the elements, in row-major order.
Formula element_indices(Node& n, const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  Formula sum = u64_constant(n, 0);
  DimExpr stride = 1;
  for (int64_t axis = rank - 1; axis >= 0; --axis) {
    Ints others = first_axes(rank);
    others.erase(others.begin() + axis);
    Formula part = iota(n, dims[axis], DType::kU64).unsqueeze(others);
    if (!stride.is_constant(1)) part = part * number(n, stride, DType::kU64);
    sum = sum + part;
    stride = stride * dims[axis];
  }
  return sum;
}

// 64 random bits for each element, as u64.
Formula random_bits(Node& n, const Dims& dims) {
  const Formula indices = element_indices(n, dims);
  return {n, n.emit<PhiloxOp>({indices, key_of(n), u64_constant(n, stream_of(n))})};
}

Formula shifted_right(const Formula& bits, double count) {
  return bits.binary<ShiftRightOp>(bits.scalar(count));
}

// A number in [0, 1) with 53 bits, as f64.
Formula unit_interval(const Formula& bits) {
  return shifted_right(bits, 11).as(DType::kF64) * 0x1p-53;
}

// low + (high - low) * u. The number u is the sum of two parts whose products with an f32 number
// are exact, so that the result does not depend on contraction to fma.
Formula uniform(Node& n, const Dims& dims) {
  const float low = n.number("low", 0), high = n.number("high", 1);
  const double width = high - low;
  const Formula bits = random_bits(n, dims);
  const Formula upper = shifted_right(bits, 35).as(DType::kF64) * 0x1p-29;
  const Formula lower =
      bits.binary<graph::BitAndOp>(bits.scalar(0xFFFFFF)).as(DType::kF64) * 0x1p-53;
  return (upper * width + low) + lower * width;
}

Formula normal(Node& n, const Dims& dims) {
  const Formula z = random_bits(n, dims).unary<graph::NormalFromBitsOp>();
  return z.as(DType::kF64) * n.number("scale", 1) + n.number("mean", 0);
}

// The element type that the attribute `dtype` states.
DType result_dtype(Node& n, DType otherwise) {
  if (!n.has_attribute("dtype")) return otherwise;
  const auto code = static_cast<int>(n.integer("dtype", 0));
  const std::optional<DType> dtype = dtype_of_onnx(code);
  if (!dtype || *dtype == DType::kStr || small_type(code))
    n.unsupported("a result of element type " + onnx_type_name(code) + " is not supported");
  return dtype.value_or(otherwise);
}

using Distribution = Formula (*)(Node&, const Dims&);

Values random(Node& n, const Dims& dims, DType dtype, Distribution distribution) {
  if (!n.has_failed() && !is_float(dtype))
    n.fail("a result of element type " + std::string(name(dtype)) +
           ": expected a floating-point type");
  return n.has_failed() ? Values() : distribution(n, dims).as(dtype);
}

template <Distribution distribution>
Values random_of_shape(Node& n) {
  const Ints shape = n.integers("shape");
  for (const int64_t dim : shape)
    if (dim < 0) return n.fail("shape has the dim " + llvm::Twine(dim));
  return random(n, Dims(shape.begin(), shape.end()), result_dtype(n, DType::kF32), distribution);
}

template <Distribution distribution>
Values random_like(Node& n) {
  const Value x = n.input(0);
  const DType dtype = result_dtype(n, n.dtype(x));
  return random(n, Dims(n.shape(x)), dtype, distribution);
}

Values bernoulli(Node& n) {
  const Formula p{n, n.input(0)};
  const DType dtype = result_dtype(n, p.dtype());
  if (n.has_failed()) return {};
  const Formula u = unit_interval(random_bits(n, Dims(p.shape())));
  return (u < p.as(DType::kF64)).as(dtype);
}

// The class with the largest sum of its logarithmic probability and a number with the Gumbel
// distribution (E. Gumbel, 1954).
Values multinomial(Node& n) {
  const Formula x{n, n.input(0)};
  const int64_t samples = n.integer("sample_size", 1);
  const DType dtype = result_dtype(n, DType::kI32);
  if (!n.has_failed() && n.rank(x) != 2)
    n.fail("the probabilities are " + text_of(n.type(x)) + ", expected rank 2");
  if (samples < 0) n.fail("sample_size is " + llvm::Twine(samples));
  if (n.has_failed()) return {};
  const Dims dims = {n.dim(x, 0), samples, n.dim(x, 1)};
  const Formula noise = random_bits(n, dims).unary<graph::GumbelFromBitsOp>();
  const Formula sum = x.as(DType::kF32).unsqueeze({1}) + noise;
  return n.cast(
      n.emit<graph::ArgMaxOp>({sum}, {n.attr("axis", int64_t{2}), n.attr("keep_dims", false)}),
      dtype);
}

// --- Dropout. -----------------------------------------------------------------------------------

// Whether elements are dropped: a bool with 1 element; from opset 12 on, an input.
Value training_mode(Node& n) {
  if (n.opset() < 7) return n.constant({}, DType::kBool, {!n.flag("is_test", false)});
  if (n.opset() < 12 || !n.has_input(2)) return n.constant({}, DType::kBool, {0});
  const Value mode = n.input(2);
  if (n.has_failed()) return {};
  if (n.dtype(mode) != DType::kBool || !n.type(mode).getElementCount().is_constant(1))
    return n.fail("training_mode must be a bool with 1 element, but is " + text_of(n.type(mode)));
  return n.reshape(mode, {});
}

// The probability with which an element is dropped, as an f64 scalar.
Formula dropout_ratio(Node& n) {
  if (n.opset() < 12 || !n.has_input(1)) return {n, n.scalar(n.number("ratio", 0.5), DType::kF64)};
  return Formula(n, n.input(1)).reshape({}).as(DType::kF64);
}

// Output 1 is the mask of kept elements, of type bool from opset 10 on.
Values dropout(Node& n) {
  const Formula x{n, n.input(0)};
  const Value mode = training_mode(n);
  if (n.has_failed()) return {};
  const Dims dims(n.shape(x));
  const DType mask = n.opset() >= 10 ? DType::kBool : x.dtype();
  if (n.is_known(mode, 0)) {
    if (!n.wants_output(1)) return x;
    return {x, n.expand(n.scalar(1, mask), dims)};
  }
  const Formula ratio = dropout_ratio(n);
  const Formula training{n, mode};
  const Formula kept = ratio <= unit_interval(random_bits(n, dims));
  const Formula scale = 1.0 / (1.0 - ratio);
  const Formula is_kept{
      n, n.emit<graph::SelectOp>({training, kept, n.constant({}, DType::kBool, {1})})};
  const Formula factor = select(training, scale, 1).as(x.dtype());
  return {select(is_kept, x * factor, 0), is_kept.as(mask)};
}

}  // namespace

const OpRows kRandomOps = {
    {"Bernoulli", 15, bernoulli, std::nullopt, false, /*is_random=*/true},
    {"Dropout", 1, dropout, std::nullopt, false, /*is_random=*/true},
    {"Multinomial", 7, multinomial, std::nullopt, false, /*is_random=*/true},
    {"RandomNormal", 1, random_of_shape<normal>, std::nullopt, false, /*is_random=*/true},
    {"RandomNormalLike", 1, random_like<normal>, std::nullopt, false, /*is_random=*/true},
    {"RandomUniform", 1, random_of_shape<uniform>, std::nullopt, false, /*is_random=*/true},
    {"RandomUniformLike", 1, random_like<uniform>, std::nullopt, false, /*is_random=*/true},
};

}  // namespace scopevm::compiler::frontend
