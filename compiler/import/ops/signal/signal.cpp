// ONNX signal ops: Fourier transforms, window functions, mel filter banks. Short transforms, and
// those of a length that is a symbol, are products with a matrix. fourier.h has the other ones.
#include <cmath>
#include <cstring>
#include <numbers>

#include "compiler/graph/type_rule.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/signal/fourier.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr double kTurn = 2 * std::numbers::pi;

// A constant with the elements value(0), value(1), ..., value(count - 1), rounded to `dtype`.
Value table(Node& n, llvm::ArrayRef<int64_t> shape, int64_t count, DType dtype,
            llvm::function_ref<double(int64_t)> value) {
  std::vector<char> bytes(static_cast<size_t>(count * 8));
  for (int64_t i = 0; i < count; ++i) {
    double element = value(i);
    std::memcpy(bytes.data() + i * 8, &element, 8);
  }
  return n.cast(n.constant(shape, DType::kF64, bytes), dtype);
}

// All types except f64 are computed in f32.
DType computed_in(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

// --- Fourier transforms. ------------------------------------------------------------------------

struct Transform {
  DimExpr length;      // of the transform
  DimExpr kept;        // number of frequencies in the result
  int64_t components;  // of the signal: 1 (real) or 2 (complex)
  bool inverse;
};

// A transform matrix with more elements than this is computed at run time instead of being stored
// in the module.
constexpr int64_t kMostConstants = int64_t{1} << 22;

bool has_constant_matrix(const Transform& t) {
  auto length = t.length.as_constant(), kept = t.kept.as_constant();
  return length && kept && *length > 0 && *length <= kMostConstants / 2 &&
         *length * t.components * *kept * 2 <= kMostConstants;
}

// The transform as a matrix: [length * components, kept * 2].
Value matrix_of(Node& n, const Transform& t, DType dtype) {
  double sign = t.inverse ? 1 : -1;
  auto length = t.length.as_constant(), kept = t.kept.as_constant();
  if (has_constant_matrix(t)) {
    double scale = t.inverse ? 1.0 / static_cast<double>(*length) : 1;
    int64_t columns = *kept * 2, rows = *length * t.components;
    return table(n, {rows, columns}, rows * columns, dtype, [&](int64_t i) {
      int64_t row = i / columns, column = i % columns;
      // The reduction modulo the length in integers keeps the angle exact.
      int64_t steps = row / t.components * (column / 2) % *length;
      double angle = kTurn * static_cast<double>(steps) / static_cast<double>(*length);
      // Multiplication by e^(i * sign * angle) as a real 2x2 matrix: cosines on the diagonal, sines
      // of opposite signs off it.
      bool from_imaginary = row % t.components == 1, to_imaginary = column % 2 == 1;
      if (from_imaginary == to_imaginary) return scale * std::cos(angle);
      return (to_imaginary ? sign : -sign) * scale * std::sin(angle);
    });
  }
  // The product of sample and frequency is reduced modulo the length in integers, so angles are
  // small and exact. They are computed in f64, because the error of one matrix element affects
  // every sample.
  Formula steps = iota(n, t.length, DType::kI64).unsqueeze({1}) *
                  iota(n, t.kept, DType::kI64).unsqueeze({0}) % number(n, t.length, DType::kI64);
  Formula size = number(n, t.length, DType::kF64);
  Formula angle = steps.as(DType::kF64) * kTurn / size;
  Formula real = cos(angle), imaginary = sin(angle) * sign;
  if (t.inverse) real = real / size, imaginary = imaginary / size;
  llvm::SmallVector<Formula> rows = {stack({real, imaginary}, 2)};
  // The imaginary part of a sample is multiplied by i: (re, im) becomes (-im, re).
  if (t.components == 2) rows.push_back(stack({0.0 - imaginary, real}, 2));
  Formula matrix = stack(rows, 1).as(dtype);
  return matrix.reshape({t.length * DimExpr(t.components), t.kept * DimExpr(2)});
}

// Transforms lines: [..., length, components] by a fast transform. Result: [lines, kept * 2].
Value fast_lines(Node& n, const Formula& lines, const Transform& t, DimExpr count) {
  const int64_t last = lines.rank() - 1, length = *t.length.as_constant();
  const auto part = [&](int64_t component) {
    return lines.element_at(last, component).reshape({count, t.length});
  };
  Complex x{part(0), t.components == 2 ? std::optional(part(1)) : std::nullopt};
  x = fast_transform(n, x, length, t.inverse ? 1 : -1);
  Formula y = stack({x.real, *x.imaginary}, 2);
  if (t.inverse) y = y * (1.0 / static_cast<double>(length));
  return n.slice(y, Dims(3, DimExpr(0)), {count, t.kept, DimExpr(2)});
}

// Transforms x: [..., size, ..., components] along `axis`, which is not the last axis. Cuts or
// zero-pads x to the transform's length first.
Value transform(Node& n, Value x, int64_t axis, const Transform& t) {
  DType dtype = computed_in(n.dtype(x));
  Formula signal = Formula(n, x).as(dtype);
  auto rank = static_cast<size_t>(signal.rank());
  if (n.dim(signal, axis) != t.length) {
    Dims pads(2 * rank, DimExpr(0));
    // If the signal is longer, the pad is negative and cuts it.
    pads[rank + static_cast<size_t>(axis)] = t.length - n.dim(signal, axis);
    signal = Formula(n, n.pad(signal, pads, n.scalar(0, signal)));
  }
  const int64_t inner = signal.rank() - 2;
  Formula lines = signal.move_axis(axis, inner);
  if (n.has_failed()) return {};
  Dims outer(lines.shape().drop_back(2)), flat = outer, result = outer;
  flat.push_back(t.length * DimExpr(t.components));
  result.append({t.kept, DimExpr(2)});
  // The constants of a longer transform would need too much memory.
  constexpr int64_t kLongest = int64_t{1} << 24;
  const auto length = t.length.as_constant();
  const bool is_fast = length && *length > 0 && *length <= kLongest && !has_constant_matrix(t);
  Value product = is_fast ? fast_lines(n, lines, t, element_count(outer))
                          : n.emit<MatMulOp>({lines.reshape(flat), matrix_of(n, t, dtype)});
  return n.cast(n.move_axis(n.reshape(product, result), inner, axis), n.dtype(x));
}

// The `length`-point transform that the node specifies.
std::optional<Transform> transform_of(Node& n, Value x, DimExpr length, bool inverse,
                                      bool onesided) {
  auto components = n.rank(x) > 0 ? n.dim(x, n.rank(x) - 1).as_constant() : std::nullopt;
  if (n.has_failed()) return std::nullopt;
  if (!components || *components < 1 || *components > 2)
    return n.fail("the last dim of the signal must be 1 or 2, but the signal is " +
                  text_of(n.type(x))),
           std::nullopt;
  if (onesided && inverse)
    return n.unsupported("inverse with onesided is not supported"), std::nullopt;
  // One-sided: the other frequencies of a real signal are complex conjugates of those kept.
  DimExpr kept = onesided ? floordiv(length, 2) + 1 : length;
  return Transform{length, kept, *components, inverse};
}

std::optional<DimExpr> one_dim(Node& n, Value value, llvm::StringRef what) {
  Dims dims = n.dims_of(value, what);
  if (n.has_failed()) return std::nullopt;
  if (dims.size() != 1)
    return n.fail(what + " must have 1 element, given " + llvm::Twine(dims.size())), std::nullopt;
  if (auto constant = dims[0].as_constant(); constant && *constant < 0)
    return n.fail(what + " is " + llvm::Twine(*constant) + ", expected at least 0"), std::nullopt;
  return dims[0];
}

Values dft(Node& n, int64_t axis) {
  Value x = n.input(0);
  axis = n.axis(axis, n.rank(x));
  if (n.has_failed()) return Value();
  if (axis == n.rank(x) - 1)
    return n.fail("axis " + llvm::Twine(axis) +
                  " is the last axis, which holds the real and imaginary parts");
  std::optional<DimExpr> length = n.dim(x, axis);
  if (n.has_input(1)) length = one_dim(n, n.input(1), "the length");
  if (!length) return Value();
  auto t = transform_of(n, x, *length, n.flag("inverse", false), n.flag("onesided", false));
  return t ? transform(n, x, axis, *t) : Value();
}

Values dft_with_attribute(Node& n) { return dft(n, n.integer("axis", 1)); }

Values dft(Node& n) {
  Ints axis = n.has_input(2) ? n.integers_of(n.input(2), "the axis") : Ints{-2};
  if (axis.size() != 1)
    return n.fail("the axis must have 1 element, given " + llvm::Twine(axis.size()));
  return dft(n, axis[0]);
}

// Short-time Fourier transform of a signal [batch, length, components]. Each frame is multiplied by
// the window and transformed.
Values stft(Node& n) {
  Value signal = n.input(0);
  if (n.rank(signal) != 3)
    return n.fail("the signal must have rank 3, but is " + text_of(n.type(signal)));
  std::optional<DimExpr> step = one_dim(n, n.input(1), "the frame step"), length;
  if (n.has_input(3))
    length = one_dim(n, n.input(3), "the frame length");
  else if (n.has_input(2))
    length = n.dim(n.input(2), 0);
  else
    length = n.dim(signal, 1);
  if (!step || !length || n.has_failed()) return Value();
  n.require_at_least(*step, 1, "the frame step is {0}, expected at least {1}");
  DimExpr frames = floordiv(n.dim(signal, 1) - *length, *step) + 1;
  Formula start = iota(n, frames, DType::kI64) * number(n, *step, DType::kI64);
  Formula index = start.unsqueeze({1}) + iota(n, *length, DType::kI64).unsqueeze({0});
  Formula framed = Formula(n, signal).gather(index, 1);
  if (n.has_input(2)) framed = framed * Formula(n, n.input(2)).as(framed.dtype()).unsqueeze({1});
  auto t = transform_of(n, signal, *length, false, n.flag("onesided", true));
  return t ? transform(n, framed, 2, *t) : Value();
}

// --- Windows. -----------------------------------------------------------------------------------

// a - b * cos(angle) + c * cos(2 * angle) at each position of the window. The angle grows from 0 to
// one turn.
Values cosine_window(Node& n, double a, double b, double c) {
  auto dtype = dtype_of_onnx(static_cast<int>(n.integer("output_datatype", 1)));
  std::optional<DimExpr> size = one_dim(n, n.input(0), "the size");
  if (!dtype)
    return n.unsupported("output_datatype " +
                         onnx_type_name(static_cast<int>(n.integer("output_datatype", 1))) +
                         " is not supported");
  if (!size) return Value();
  bool is_periodic = n.flag("periodic", true);
  if (auto constant = size->as_constant(); constant && *constant <= kMostConstants) {
    // The last element of a symmetric window is at the full period, that of a periodic window one
    // step before. The maximum avoids a division by 0 for a window of one element.
    auto period = static_cast<double>(std::max<int64_t>(*constant - (is_periodic ? 0 : 1), 1));
    return table(n, {*constant}, *constant, *dtype, [&](int64_t i) {
      double angle = kTurn * static_cast<double>(i) / period;
      return a - b * std::cos(angle) + c * std::cos(2 * angle);
    });
  }
  DType computed = computed_in(*dtype);
  Formula period = number(n, is_periodic ? *size : *size - 1, computed);
  Formula angle = iota(n, *size, computed) * kTurn / max(period, 1.0);
  return (a - b * cos(angle) + c * cos(angle * 2.0)).as(*dtype);
}

Values hann_window(Node& n) { return cosine_window(n, 0.5, 0.5, 0); }
Values hamming_window(Node& n) { return cosine_window(n, 25.0 / 46, 21.0 / 46, 0); }
Values blackman_window(Node& n) { return cosine_window(n, 0.42, 0.5, 0.08); }

// --- Mel filters. -------------------------------------------------------------------------------

// Triangular filters over the bins of a spectrum, equally wide on the mel scale. Shape:
// [dft_length / 2 + 1, num_mel_bins].
Values mel_weight_matrix(Node& n) {
  auto dtype = dtype_of_onnx(static_cast<int>(n.integer("output_datatype", 1)));
  auto filters = one_dim(n, n.input(0), "the number of bins");
  auto length = one_dim(n, n.input(1), "the length");
  if (!dtype)
    return n.unsupported("output_datatype " +
                         onnx_type_name(static_cast<int>(n.integer("output_datatype", 1))) +
                         " is not supported");
  if (!filters || !length) return Value();
  auto scalar = [&](size_t i) { return Formula(n, n.input(i)).as(DType::kF64).reshape({}); };
  auto mel = [](const Formula& hertz) {
    // mel = 2595 * log10(1 + hertz / 700), as in the ONNX reference implementation.
    return log(hertz / 700.0 + 1.0) * (2595 / std::log(10.0));
  };
  Formula low = mel(scalar(3)),
          step = (mel(scalar(4)) - low) / number(n, *filters + 2, DType::kF64);
  Formula edge = iota(n, *filters + 2, DType::kF64) * step + low;
  Formula hertz = (exp(edge * (std::log(10.0) / 2595)) - 1.0) * 700.0;
  Formula bin = floor(hertz * number(n, *length + 1, DType::kF64) / scalar(2));
  auto part = [&](int64_t first) { return Formula(n, n.slice(bin, {first}, {*filters})); };
  Formula lower = part(0), centre = part(1), higher = part(2);
  Formula j = iota(n, floordiv(*length, 2) + 1, DType::kF64).unsqueeze({1});
  // The maximum avoids a division by 0 if two edges fall into one bin.
  Formula rising = 1.0 - (centre - j) / max(centre - lower, 1.0);
  Formula falling = (higher - j) / max(higher - centre, 1.0);
  Formula rises = select((lower <= j) & (j <= centre), rising, 0.0);
  return select((centre <= j) & (j < higher), falling, rises).as(*dtype);
}

}  // namespace

const OpRows kSignalOps = {
    {"BlackmanWindow", 17, blackman_window},
    {"DFT", 17, dft_with_attribute},
    {"DFT", 20, dft, OpSignature{"input dft_length? axis?", "inverse onesided"}},
    {"HammingWindow", 17, hamming_window},
    {"HannWindow", 17, hann_window},
    {"MelWeightMatrix", 17, mel_weight_matrix},
    {"STFT", 17, stft},
};

}  // namespace scopevm::compiler::frontend
