// Fast Fourier transforms; see fourier.h. A length with a divisor is split into two shorter
// transforms (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier
// series", 1965). Short ones are matrix products. A long prime length becomes a convolution, which
// is computed by transforms whose length is a power of two (Bluestein, "A linear filtering approach
// to the computation of discrete Fourier transform", 1970).
#include "compiler/import/ops/signal/fourier.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr double kFullTurn = 2 * std::numbers::pi;
// The longest transform that is a matrix product.
constexpr int64_t kMostByMatrix = 64;

using Elements = llvm::SmallVector<std::complex<double>>;

// e^(2 pi i * steps / count). The reduction in integers keeps the angle exact.
std::complex<double> unit_root(int64_t steps, int64_t count) {
  return std::polar(1.0,
                    kFullTurn * static_cast<double>(steps % count) / static_cast<double>(count));
}

// A power-of-two transform of constants, in place.
void transform_constants(Elements& x) {
  const size_t count = x.size();
  for (size_t i = 1, j = 0; i < count; ++i) {  // bit reversal
    size_t bit = count / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < count; half *= 2)
    for (size_t start = 0; start < count; start += 2 * half)
      for (size_t k = 0; k < half; ++k) {
        const auto root = unit_root(-static_cast<int64_t>(k), static_cast<int64_t>(2 * half));
        const auto even = x[start + k], odd = x[start + k + half] * root;
        x[start + k] = even + odd;
        x[start + k + half] = even - odd;
      }
}

class FastTransform {
 public:
  FastTransform(Node& n, DType dtype) : n_(n), dtype_(dtype) {}

  // x: [lines, length].
  Complex along_last(const Complex& x, int64_t length, int sign) {
    if (length <= kMostByMatrix) return by_matrix(x, length, sign);
    const int64_t divisor = middle_divisor(length);
    return divisor == 1 ? by_convolution(x, length, sign) : split(x, divisor, length, sign);
  }

 private:
  // The largest divisor up to the square root.
  static int64_t middle_divisor(int64_t length) {
    int64_t best = 1;
    for (int64_t i = 2; i * i <= length; ++i)
      if (length % i == 0) best = i;
    return best;
  }

  Complex constants(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::complex<double>> elements) {
    const auto part = [&](auto of) {
      std::vector<char> bytes(elements.size() * 8);
      for (size_t i = 0; i < elements.size(); ++i) {
        const double number = of(elements[i]);
        std::memcpy(bytes.data() + i * 8, &number, 8);
      }
      return Formula(n_, n_.constant(shape, DType::kF64, bytes)).as(dtype_);
    };
    return {part([](auto x) { return x.real(); }), part([](auto x) { return x.imag(); })};
  }

  static Complex product(const Complex& a, const Complex& b) {
    if (!a.imaginary) return {a.real * b.real, a.real * *b.imaginary};
    return {a.real * b.real - *a.imaginary * *b.imaginary,
            a.real * *b.imaginary + *a.imaginary * b.real};
  }

  // Applies a change to both parts.
  template <typename Change>
  static Complex changed(const Complex& x, Change change) {
    return {change(x.real), x.imaginary ? std::optional(change(*x.imaginary)) : std::nullopt};
  }

  Complex by_matrix(const Complex& x, int64_t length, int sign) {
    Elements roots;
    for (int64_t j = 0; j < length; ++j)
      for (int64_t k = 0; k < length; ++k) roots.push_back(unit_root(sign * j * k, length));
    const Complex matrix = constants({length, length}, roots);
    const auto times = [](const Formula& a, const Formula& b) { return a.binary<MatMulOp>(b); };
    const Formula real = times(x.real, matrix.real), imaginary = times(x.real, *matrix.imaginary);
    if (!x.imaginary) return {real, imaginary};
    return {real - times(*x.imaginary, *matrix.imaginary),
            imaginary + times(*x.imaginary, matrix.real)};
  }

  // Index j of the input is (j1, j2) = (j / b, j % b), and index k of the result is
  // k1 + a * k2 for length = a * b.
  Complex split(const Complex& x, int64_t a, int64_t length, int sign) {
    const int64_t b = length / a;
    const DimExpr lines = n_.dim(x.real, 0);
    const auto columns = [&](const Formula& part) {
      return part.reshape({lines, DimExpr(a), DimExpr(b)})
          .transpose({0, 2, 1})
          .reshape({lines * DimExpr(b), DimExpr(a)});
    };
    Complex y = along_last(changed(x, columns), a, sign);
    Elements roots;
    for (int64_t j2 = 0; j2 < b; ++j2)
      for (int64_t k1 = 0; k1 < a; ++k1) roots.push_back(unit_root(sign * j2 * k1, length));
    y = product(
        changed(y,
                [&](const Formula& part) { return part.reshape({lines, DimExpr(b), DimExpr(a)}); }),
        constants({b, a}, roots));
    const auto rows = [&](const Formula& part) {
      return part.transpose({0, 2, 1}).reshape({lines * DimExpr(a), DimExpr(b)});
    };
    y = along_last(changed(y, rows), b, sign);
    return changed(y, [&](const Formula& part) {
      return part.reshape({lines, DimExpr(a), DimExpr(b)})
          .transpose({0, 2, 1})
          .reshape({lines, DimExpr(length)});
    });
  }

  // j * k = (j^2 + k^2 - (k - j)^2) / 2 turns the sums into a convolution with a chirp.
  Complex by_convolution(const Complex& x, int64_t length, int sign) {
    const auto chirp = [&](int64_t j) {  // e^(sign * pi i * j^2 / length)
      const auto square = static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(j);
      const auto steps = static_cast<int64_t>(square % static_cast<unsigned __int128>(2 * length));
      return unit_root(sign * steps, 2 * length);
    };
    const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
    Elements chirps, filter(static_cast<size_t>(padded));
    for (int64_t j = 0; j < length; ++j) {
      chirps.push_back(chirp(j));
      filter[static_cast<size_t>(j)] = std::conj(chirps.back());
      filter[static_cast<size_t>((padded - j) % padded)] = std::conj(chirps.back());
    }
    transform_constants(filter);
    for (auto& element : filter) element /= static_cast<double>(padded);
    const Complex waves = constants({length}, chirps);
    const Complex start = changed(product(x, waves), [&](const Formula& part) {
      return Formula(n_, n_.pad(part, {DimExpr(0), DimExpr(0), DimExpr(0), padded - length}));
    });
    Complex y = product(along_last(start, padded, -1), constants({padded}, filter));
    y = changed(along_last(y, padded, 1), [&](const Formula& part) {
      return Formula(
          n_, n_.slice(part, {DimExpr(0), DimExpr(0)}, {n_.dim(x.real, 0), DimExpr(length)}));
    });
    return product(y, waves);
  }

  Node& n_;
  DType dtype_;
};

}  // namespace

Complex fast_transform(Node& n, const Complex& x, int64_t length, int sign) {
  return FastTransform(n, x.real.dtype()).along_last(x, length, sign);
}

}  // namespace scopevm::compiler::frontend
