// com.microsoft ops on weights that are quantised in blocks: MatMulNBits, MatMulBnb4 and
// GatherBlockQuantized. Those of MatMulNBits stay packed, unless their columns are permuted; others
// are dequantised to f32, constants of MatMulBnb4 when the model is compiled.
#include "compiler/import/ops/microsoft/block_quantised.h"

#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/graph/values/elements.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr int64_t kMostElements = int64_t{1} << 40;

}  // namespace

Value unpack_bits(Node& n, Value packed, int64_t bits, bool high_first) {
  if (bits == 8 || n.has_failed()) return packed;
  const int64_t count = 8 / bits;
  std::vector<char> shifts;
  for (int64_t i = 0; i < count; ++i)
    shifts.push_back(static_cast<char>(bits * (high_first ? count - 1 - i : i)));
  Dims dims(n.shape(packed));
  dims.back() = dims.back() * DimExpr(count);
  Value shifted = n.emit<ShiftRightOp>(
      {n.unsqueeze(packed, {n.rank(packed)}), n.constant({count}, DType::kU8, shifts)});
  const double mask = static_cast<double>((1 << bits) - 1);
  return n.reshape(n.emit<BitAndOp>({shifted, n.scalar(mask, DType::kU8)}), dims);
}

Value unpacked_constant(Node& n, mlir::ElementsAttr packed, std::array<int64_t, 2> dims,
                        int64_t bits) {
  const Constant source = constant_of_elements(packed, DType::kU8);
  const auto [rows, count] = dims;
  const int64_t bytes = (count * bits + 7) / 8;  // of a row
  std::vector<char> numbers(static_cast<size_t>(rows * count) * sizeof(float));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bit = i * bits;
      const int integer = source.data[row * bytes + bit / 8] >> (bit % 8) & ((1 << bits) - 1);
      const auto number = static_cast<float>(integer);
      std::memcpy(numbers.data() + (row * count + i) * 4, &number, 4);
    }
  return n.constant({rows, count}, DType::kF32, numbers);
}

namespace {

// The first `count` elements along the last axis.
Value first_of_last(Node& n, Value x, DimExpr count) {
  if (n.has_failed() || n.rank(x) == 0) return {};
  Dims sizes(n.shape(x));
  if (sizes.back() == count) return x;
  sizes.back() = count;
  return n.slice(x, Dims(sizes.size(), DimExpr(0)), sizes);
}

Value repeat(Node& n, Value x, int64_t axis, int64_t count) {
  if (n.has_failed()) return {};
  Dims split(n.shape(x)), whole(n.shape(x));
  split.insert(split.begin() + axis + 1, DimExpr(1));
  Value one = n.reshape(x, split);
  split[axis + 1] = count;
  whole[axis] = whole[axis] * DimExpr(count);
  return n.reshape(n.expand(one, split), whole);
}

// --- MatMulNBits. -------------------------------------------------------------------------------

struct BlockFormat {
  int64_t rows, depth, bits, block;  // of the weight: [rows, depth]
  int64_t blocks() const { return (depth + block - 1) / block; }
};

BlockFormat read_format(Node& n) {
  BlockFormat f{required_within(n, "N", 1, kMostElements),
                required_within(n, "K", 1, kMostElements), n.integer("bits", 4),
                required_within(n, "block_size", 16, int64_t{1} << 20)};
  if (f.bits != 2 && f.bits != 4 && f.bits != 8) {
    n.fail("bits is " + llvm::Twine(f.bits) + ", expected 2, 4 or 8");
    f.bits = 8;
  }
  if ((f.block & (f.block - 1)) != 0)
    n.fail("block_size is " + llvm::Twine(f.block) + ", expected a power of two");
  if (n.integer("weight_prepacked", 0) != 0)
    n.unsupported("weight_prepacked is " + llvm::Twine(n.integer("weight_prepacked", 0)) +
                  "; only weights in the layout of the operator are supported");
  return f;
}

// The zero point of each block, as f32 [rows, blocks]. Null if none is given.
Value zero_points(Node& n, const BlockFormat& f) {
  Value given = n.input_or(3, Value());
  if (!given || n.has_failed()) return {};
  if (n.dtype(given) != DType::kU8) {
    if (n.rank(given) == 1)
      given = shaped(n, given, "zero_points", {f.rows * f.blocks()});
    else
      given = shaped(n, given, "zero_points", {f.rows, f.blocks()});
    return n.cast(n.reshape(given, {f.rows, f.blocks()}), DType::kF32);
  }
  const int64_t bytes = (f.blocks() * f.bits + 7) / 8;
  if (n.rank(given) == 1)
    given = shaped(n, given, "zero_points", {f.rows * bytes});
  else
    given = shaped(n, given, "zero_points", {f.rows, bytes});
  if (n.has_failed()) return {};
  if (auto constant = n.input(3).getDefiningOp<ConstantOp>())
    return unpacked_constant(n, constant.getValue(), {f.rows, f.blocks()}, f.bits);
  Value numbers = unpack_bits(n, n.reshape(given, {f.rows, bytes}), f.bits);
  return n.cast(first_of_last(n, numbers, f.blocks()), DType::kF32);
}

struct QuantisedWeight {
  Value integers, scales;  // u8 [rows, bytes] and f32 [rows, blocks]
  Value zeros;             // f32 [rows, blocks] or a scalar
};

QuantisedWeight quantised_weight(Node& n, const BlockFormat& f) {
  const DimExpr rows = f.rows, blocks = f.blocks();
  Value b = n.input(1), scales = n.input(2);
  if (!check_dtype(n, b, "B", {DType::kU8}) || !is_float(n.dtype(scales)))
    return n.fail("scales is " + text_of(n.type(scales)) + ", expected floats"), QuantisedWeight();
  const int64_t bytes = f.block * f.bits / 8;
  b = shaped(n, b, "B", {rows, blocks, bytes});
  scales = n.rank(scales) == 1 ? shaped(n, scales, "scales", {rows * blocks})
                               : shaped(n, scales, "scales", {rows, blocks});
  Value zeros = zero_points(n, f);
  if (n.has_failed()) return {};
  if (!zeros) zeros = n.scalar(static_cast<double>(1 << (f.bits - 1)), DType::kF32);
  return {n.reshape(b, {rows, blocks * DimExpr(bytes)}),
          n.cast(n.reshape(scales, {rows, blocks}), DType::kF32), zeros};
}

// The weight as f32 [rows, depth]. Column k belongs to block group[k]. The integers are stored in
// the order of the columns.
Value weight_of_groups(Node& n, const BlockFormat& f, const QuantisedWeight& weight, Value group) {
  if (!check_dtype(n, group, "g_idx", {DType::kI32})) return {};
  Value integers = first_of_last(n, unpack_bits(n, weight.integers, f.bits), f.depth);
  const auto by_column = [&](Value blocks) { return Formula(n, blocks).gather(group, 1); };
  const Formula numbers = Formula(n, integers).as(DType::kF32);
  const bool is_single = n.rank(weight.zeros) == 0;
  const Formula zeros = is_single ? Formula(n, weight.zeros) : by_column(weight.zeros);
  return (numbers - zeros) * by_column(weight.scales);
}

// Checks a and converts it to f32.
Value left_operand(Node& n, Value a) {
  if (n.has_failed()) return {};
  if (is_float(n.dtype(a)) && n.rank(a) >= 1) return n.cast(a, DType::kF32);
  return n.fail("A is " + text_of(n.type(a)) + ", expected floats of rank 1 or more"), Value();
}

// a * weight^T, computed in f32. The result has the element type of a.
Value product_with(Node& n, Value a, Value weight) {
  const Value left = left_operand(n, a);
  if (!left) return {};
  return n.cast(n.emit<MatMulOp>({left, weight}, {n.attr("transpose_b", true)}), n.dtype(a));
}

Values matmul_nbits(Node& n) {
  Value a = n.input(0);
  const BlockFormat f = read_format(n);
  if (n.has_failed()) return Value();
  Value bias = shaped_input(n, 5, "bias", {f.rows});
  const QuantisedWeight weight = quantised_weight(n, f);
  const Value left = left_operand(n, a);
  if (!left) return Value();
  const DimExpr own_depth = n.dim(left, n.rank(left) - 1);
  if (own_depth.is_constant() && own_depth != DimExpr(f.depth))
    return n.fail("A is " + text_of(n.type(a)) + ", expected a last dim of " +
                  llvm::Twine(f.depth));
  Value y;
  if (Value group = shaped_input(n, 4, "g_idx", {f.depth}))
    y = n.emit<MatMulOp>({left, weight_of_groups(n, f, weight, group)},
                         {n.attr("transpose_b", true)});
  else
    y = n.emit<MatMulBlocksOp>(
        {left, weight.integers, weight.scales, weight.zeros},
        {n.attr("depth", f.depth), n.attr("bits", f.bits), n.attr("block", f.block)});
  if (bias) y = n.emit<AddOp>({y, n.cast(bias, DType::kF32)});
  return n.cast(y, n.dtype(a));
}

// --- MatMulBnb4. --------------------------------------------------------------------------------

// The numbers that the 4-bit codes of bitsandbytes denote, for FP4 and NF4.
constexpr float kCodes[2][16] = {
    {0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, 0.0f,
     -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
     0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f},
};

// The weight as a constant f32 [rows, depth]. Null if an operand is not a constant, or if the
// weight is large. Dequantising in each call takes a hundred times as long as the product.
Value constant_weight(Node& n, int64_t rows, int64_t depth, int64_t block, int64_t kind) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const int64_t count = rows * depth;
  auto packed = n.input(1).getDefiningOp<ConstantOp>();
  auto absmax = n.input(2).getDefiningOp<ConstantOp>();
  if (!packed || !absmax || count > kMost || !is_float(n.dtype(n.input(2)))) return {};
  const Constant codes = constant_of_elements(packed.getValue(), DType::kU8);
  const ConstantArray scales(absmax);
  std::vector<char> numbers(static_cast<size_t>(count) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(codes.data[i / 2]);
    const int code = i % 2 == 0 ? byte >> 4 : byte & 15;
    const float number = kCodes[kind][code] * static_cast<float>(scales.real(i / block));
    std::memcpy(numbers.data() + i * 4, &number, 4);
  }
  return n.constant({rows, depth}, DType::kF32, numbers);
}

Values matmul_bnb4(Node& n) {
  Value a = n.input(0);
  const int64_t rows = required_within(n, "N", 1, int64_t{1} << 20);
  const int64_t depth = required_within(n, "K", 1, int64_t{1} << 20);
  const int64_t block = required_within(n, "block_size", 1, kMostElements);
  const int64_t kind = required_within(n, "quant_type", 0, 1);
  if (n.integer("training_mode", 0) != 0) n.unsupported("training mode is not supported");
  if (!n.flag("transB", true)) n.unsupported("transB = 0 is not supported");
  const int64_t count = rows * depth, blocks = (count + block - 1) / block;
  Value b = n.input(1);
  if (n.has_failed() || !check_dtype(n, b, "B", {DType::kU8})) return Value();
  if (n.rank(b) == 2)
    b = shaped(n, b, "B", {(count + 1) / 2, 1});
  else
    b = shaped(n, b, "B", {(count + 1) / 2});
  Value absmax = shaped(n, n.input(2), "absmax", {blocks});
  if (n.has_failed()) return Value();
  if (Value weight = constant_weight(n, rows, depth, block, kind))
    return product_with(n, a, weight);
  Value codes = n.cast(unpack_bits(n, n.reshape(b, {(count + 1) / 2}), 4, true), DType::kI32);
  Formula numbers = Formula(n, n.constant(llvm::ArrayRef<float>(kCodes[kind]))).gather(codes, 0);
  numbers = Formula(n, first_of_last(n, numbers, count));
  Value scales = n.cast(absmax, DType::kF32);
  if (blocks * block == count) {
    numbers = numbers.reshape({blocks, block}) * Formula(n, scales).unsqueeze({1});
  } else {
    numbers = numbers * Formula(n, first_of_last(n, repeat(n, scales, 0, block), count));
  }
  return product_with(n, a, numbers.reshape({rows, depth}));
}

// --- GatherBlockQuantized. ----------------------------------------------------------------------

struct GatherFormat {
  int64_t gather_axis, axis, bits, block;
  double default_zero;
};

GatherFormat read_gather_format(Node& n, Value data) {
  GatherFormat f{n.axis(n.integer("gather_axis", 0), n.rank(data)),
                 n.axis(n.integer("quantize_axis", 1), n.rank(data)), n.integer("bits", 4),
                 integer_within(n, "block_size", 128, 16, int64_t{1} << 20), 0};
  if (n.small_type(0)) {
    if (f.bits != 4) n.fail("bits is " + llvm::Twine(f.bits) + ", but data has 4-bit elements");
    f.bits = 8;  // the elements of the carrier are not packed
  } else if (f.bits == 2 || f.bits == 4 || f.bits == 8) {
    f.default_zero = static_cast<double>(1 << (f.bits - 1));
  } else {
    n.fail("bits is " + llvm::Twine(f.bits) + ", expected 2, 4 or 8");
  }
  if ((f.block & (f.block - 1)) != 0)
    n.fail("block_size is " + llvm::Twine(f.block) + ", expected a power of two");
  const int64_t last = n.rank(data) - 1;
  if (n.has_failed()) return f;
  if (f.bits < 8 && (f.axis != last || f.gather_axis == last))
    n.fail("gather_axis is " + llvm::Twine(f.gather_axis) + " and quantize_axis " +
           llvm::Twine(f.axis) + "; packed data must be quantised along the last axis, and " +
           "gathered along another one");
  else if (f.axis == f.gather_axis)
    n.fail("gather_axis and quantize_axis are both " + llvm::Twine(f.axis));
  return f;
}

// One number for each element of an axis of size `size`, from one for each block.
Formula per_element(Node& n, Value blocks, int64_t axis, int64_t block, DimExpr size) {
  Value all = repeat(n, blocks, axis, block);
  if (n.has_failed()) return {n, Value()};
  Dims sizes(n.shape(all));
  if (sizes[axis] == size) return {n, all};
  sizes[axis] = size;
  return {n, n.slice(all, Dims(sizes.size(), DimExpr(0)), sizes)};
}

Values gather_block_quantized(Node& n) {
  Value data = n.input(0), indices = n.input(1), scales = n.input(2);
  const SmallType* small = n.small_type(0);
  n.set_small_result(nullptr);
  if (small && (small->kind != SmallType::Kind::kInteger || small->bits != 4))
    return n.fail("data has element type " + std::string(name(small->dtype)) +
                  ", expected u8, i4 or u4");
  const DType stored = small ? small->carrier : DType::kU8;
  if (!check_dtype(n, data, "data", {stored}) || !check_rank(n, data, "data", 2, 16) ||
      !check_dtype(n, indices, "indices", {DType::kI32, DType::kI64}))
    return Value();
  GatherFormat f = read_gather_format(n, data);
  if (n.has_failed() || !check_rank(n, scales, "scales", n.rank(data), n.rank(data)))
    return Value();
  const int64_t shift = f.axis > f.gather_axis ? n.rank(indices) - 1 : 0, axis = f.axis + shift;
  const DimExpr count = n.dim(data, f.gather_axis);
  auto rows = [&](Value x) { return Formula(n, x).gather(indices, f.gather_axis); };
  Dims dims(n.shape(data));
  dims[f.axis] = ceildiv(dims[f.axis] * DimExpr(8 / f.bits), f.block);
  const DType dtype = n.dtype(scales);
  scales = shaped(n, scales, "scales", dims);
  Formula q = Formula(n, unpack_bits(n, rows(data), f.bits)).as(DType::kF32);
  if (n.has_failed()) return Value();
  const DimExpr size = n.dim(q, axis);
  Formula zero(n, n.scalar(f.default_zero, DType::kF32));
  if (n.has_input(3)) {
    if (n.small_type(3) != small)
      return n.fail("data and zero_points have different element types");
    if (!check_dtype(n, n.input(3), "zero_points", {stored})) return Value();
    const DimExpr blocks = dims[f.axis];
    dims[f.axis] = ceildiv(blocks, 8 / f.bits);
    Value packed = shaped(n, n.input(3), "zero_points", dims);
    Value numbers = unpack_bits(n, rows(packed), f.bits);
    if (f.bits < 8) numbers = first_of_last(n, numbers, blocks);
    zero = per_element(n, n.cast(numbers, DType::kF32), axis, f.block, size);
  }
  Formula scale = per_element(n, rows(scales), axis, f.block, size).as(DType::kF32);
  Formula y = (q - zero) * scale;
  if (n.has_failed()) return Value();
  // An index out of range selects zeros.
  Formula index = Formula(n, indices).as(DType::kI64), end = number(n, count, DType::kI64);
  Dims aligned(static_cast<size_t>(f.gather_axis), DimExpr(1));
  aligned.append(n.shape(indices).begin(), n.shape(indices).end());
  aligned.append(static_cast<size_t>(n.rank(data) - 1 - f.gather_axis), DimExpr(1));
  Formula is_inside = (index < end) & (0.0 - end <= index);
  return select(is_inside.reshape(aligned), y, 0.0).as(dtype);
}

}  // namespace

const OpRows kBlockQuantisedOps = {
    {"GatherBlockQuantized", 1, gather_block_quantized,
     OpSignature{"data indices scales zero_points?", "bits block_size gather_axis quantize_axis"}},
    {"MatMulBnb4", 1, matmul_bnb4,
     OpSignature{"A B absmax", "K N block_size quant_type training_mode transB"}},
    {"MatMulNBits", 1, matmul_nbits,
     OpSignature{"A B scales zero_points? g_idx? bias?",
                 "K N accuracy_level bits block_size weight_prepacked"}},
};

}  // namespace scopevm::compiler::frontend
