// ONNX ops that reorder, join, split, pad, repeat or mask elements.
#include <algorithm>
#include <numeric>

#include "compiler/dims/dim_text.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/layout/run_time_axes.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/count_text.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

Values transpose(Node& n) {
  Value x = n.input(0);
  Ints reversed(static_cast<size_t>(n.rank(x)));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  Ints permutation = n.integers("perm", reversed);
  for (int64_t& axis : permutation) axis = n.axis(axis, n.rank(x));
  return n.transpose(x, permutation);
}

Values concat(Node& n) {
  auto inputs = n.inputs();
  if (n.has_failed()) return Value();
  int64_t axis = n.axis(n.integer("axis"), n.rank(inputs.front()));
  return n.concat(inputs, axis);
}

// --- Split, Pad, Tile. --------------------------------------------------------------------------

// The sizes of the parts of a Split along an axis of size `dim`. Without a list of sizes, the parts
// are equal. If num_outputs is given (from opset 18), the last parts can be smaller.
std::optional<Dims> part_sizes(Node& n, DimExpr dim) {
  int64_t count = static_cast<int64_t>(n.output_count());
  if (count == 0) return n.fail("the node has no outputs, expected at least 1"), std::nullopt;
  if (n.opset() >= 18 && n.integer("num_outputs", count) != count) {
    n.fail("num_outputs is " + llvm::Twine(n.integer("num_outputs", count)) + ", expected " +
           llvm::Twine(count) + ", the number of outputs");
    return std::nullopt;
  }
  if (n.opset() >= 13 && n.has_input(1)) return n.dims_of(n.input(1), "the split");
  if (n.opset() < 13 && n.has_attribute("split")) {
    Ints split = n.integers("split");
    return Dims(split.begin(), split.end());
  }
  // Without num_outputs, a symbolic dim is assumed to be a multiple of `count`. The check of the
  // sum in split() rejects a request whose dim is not a multiple.
  Dims parts(static_cast<size_t>(count), floordiv(dim, count));
  if (!n.has_attribute("num_outputs") || parts.front() * DimExpr(count) == dim) return parts;
  // Each part gets the common size or, if less remains, the rest.
  DimExpr size = ceildiv(dim, count), left = dim;
  for (DimExpr& each : parts) {
    each = min(size, left);
    left = max(left - size, 0);
  }
  return parts;
}

Values split(Node& n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  DimExpr dim = n.dim(x, axis);
  std::optional<Dims> parts = part_sizes(n, dim);
  if (n.has_failed() || !parts) return Value();
  if (parts->size() != n.output_count())
    return n.fail("split has " + runtime::count_text(parts->size(), "part") + ", expected " +
                  llvm::Twine(n.output_count()) + ", one for each output");
  DimExpr total = std::accumulate(parts->begin(), parts->end(), DimExpr(0));
  n.require_equal(total, dim, "the parts add up to {0}, but the dim is {1}");
  llvm::SmallVector<Value> results;
  DimExpr at = 0;
  for (DimExpr part : *parts) {
    Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
    starts[axis] = at;
    sizes[axis] = part;
    results.push_back(n.slice(x, starts, sizes));
    at = at + part;
  }
  return mlir::ValueRange(results);
}

// Periodic padding: reads x modulo its dims. Negative pads remove elements first.
Value wrap(Node& n, Value x, const Dims& pads) {
  auto rank = static_cast<size_t>(n.rank(x));
  const auto is_zero = [](DimExpr pad) { return pad.is_constant(0); };
  Dims removed;
  for (const DimExpr pad : pads) removed.push_back(min(pad, 0));
  if (!llvm::all_of(removed, is_zero)) x = n.pad(x, removed);
  for (size_t axis = 0; axis < rank && !n.has_failed(); ++axis) {
    DimExpr before = max(pads[axis], 0), after = max(pads[rank + axis], 0),
            dim = n.dim(x, static_cast<int64_t>(axis));
    if (is_zero(before) && is_zero(after)) continue;
    n.require_at_least(dim, min(before + after, 1),
                       "an axis has {0} elements, but wrap padding requires at least {1}");
    Formula position = iota(n, dim + before + after, DType::kI64) - number(n, before, DType::kI64);
    x = Formula(n, x).gather(position % number(n, dim, DType::kI64), static_cast<int64_t>(axis));
  }
  return x;
}

// Expands the pads of `axes` to all axes of the input. The pads are all begins, then all ends.
Dims pads_of_axes(Node& n, const Dims& some, const Ints& axes) {
  auto rank = static_cast<size_t>(n.rank(n.input(0)));
  Dims pads(2 * rank, DimExpr(0));
  if (some.size() != 2 * axes.size())
    n.fail(runtime::count_text(some.size(), "pad") + " given, expected " +
           llvm::Twine(2 * axes.size()) + ", two for each axis");
  for (size_t i = 0; i < axes.size() && !n.has_failed(); ++i) {
    auto axis = static_cast<size_t>(n.axis(axes[i], static_cast<int64_t>(rank)));
    pads[axis] = some[i];
    pads[rank + axis] = some[axes.size() + i];
  }
  return pads;
}

// As pads_of_axes, for axes that are only known at run time.
Value pads_of_run_time_axes(Node& n, Value some, Value axes) {
  std::optional<int64_t> count = count_of_axes(n, axes);
  if (!count || n.has_failed()) return {};
  if (n.rank(some) != 1 || !n.dim(some, 0).is_constant(2 * *count))
    return n.fail("pads must have " + llvm::Twine(2 * *count) +
                  " elements, two for each axis, but are " + text_of(n.type(some)));
  llvm::SmallVector<Value> ends;
  for (int64_t end = 0; end < 2; ++end) {
    Value of_end = n.slice(some, {DimExpr(end * *count)}, {DimExpr(*count)});
    ends.push_back(over_all_axes(n, axes, of_end, n.rank(n.input(0)), 0));
  }
  return n.concat(ends, 0);
}

Values pad(Node& n, const Dims& pads, Value value) {
  Value x = n.input(0);
  std::string mode = n.text("mode", "constant");
  if (n.has_failed()) return Value();
  if (mode == "wrap" && n.opset() >= 19 && pads.size() == 2 * static_cast<size_t>(n.rank(x)))
    return wrap(n, x, pads);
  if (pads.size() != 2 * static_cast<size_t>(n.rank(x)))
    return n.fail(runtime::count_text(pads.size(), "pad") + " given, expected " +
                  llvm::Twine(2 * n.rank(x)) + " for " + text_of(n.type(x)));
  if (!symbolizePadMode(mode))
    return n.fail("mode is " + runtime::quoted(mode) + ", expected constant, reflect" +
                  (n.opset() < 19 ? " or edge" : ", edge or wrap"));
  llvm::SmallVector<Value> operands = {x};
  if (mode == "constant") operands.push_back(value ? n.reshape(value, {}) : n.scalar(0, x));
  return n.emit<PadOp>(operands, {n.attr("pads", pads), n.attr("mode", llvm::StringRef(mode))});
}

Values pad_with_attributes(Node& n) {
  Ints pads = n.integers("pads");
  return pad(n, Dims(pads.begin(), pads.end()), n.scalar(n.number("value", 0), n.input(0)));
}

Values pad(Node& n) {
  Value given = n.input(1), axes = n.opset() >= 18 ? n.input_or(3, Value()) : Value();
  bool are_open = axes && !n.is_known(axes);
  if (are_open) given = pads_of_run_time_axes(n, given, axes);
  Dims pads = n.dims_of(given, "the padding", Node::Sign::kAny);
  if (axes && !are_open) pads = pads_of_axes(n, pads, n.integers_of(axes, "the axes"));
  return pad(n, pads, n.input_or(2, Value()));
}

// Crops or zero-pads axes to the given sizes, half at the start and half at the end. If the
// difference is odd, one element more is cropped or added at the end.
Values center_crop_pad(Node& n) {
  Value x = n.input(0);
  Dims wanted = n.dims_of(n.input(1), "the shape");
  Ints axes = n.integers("axes", first_axes(n.rank(x)));
  if (n.has_failed()) return Value();
  if (wanted.size() != axes.size())
    return n.fail(runtime::count_text(wanted.size(), "size") + " given, expected " +
                  llvm::Twine(axes.size()) + ", one for each axis");
  auto rank = static_cast<size_t>(n.rank(x));
  Dims pads(2 * rank, DimExpr(0));
  for (size_t i = 0; i < axes.size() && !n.has_failed(); ++i) {
    int64_t axis = n.axis(axes[i], n.rank(x));
    DimExpr more = wanted[i] - n.dim(x, axis), less = n.dim(x, axis) - wanted[i];
    DimExpr before = max(floordiv(more, 2), DimExpr(0)) - max(floordiv(less, 2), DimExpr(0));
    pads[static_cast<size_t>(axis)] = before;
    pads[rank + static_cast<size_t>(axis)] = more - before;
  }
  return n.pad(x, pads, n.scalar(0, x));
}

// Reverses the first length[b] steps of batch element b and keeps the other steps.
Values reverse_sequence(Node& n) {
  Value x = n.input(0);
  int64_t batch = n.axis(n.integer("batch_axis", 1), n.rank(x));
  int64_t time = n.axis(n.integer("time_axis", 0), n.rank(x));
  if (batch == time)
    return n.fail("batch_axis and time_axis must differ, but both are " + llvm::Twine(batch));
  if (const TensorType lengths = n.type(n.input(1));
      !n.has_failed() &&
      (lengths.getRank() != 1 || !may_be_equal(lengths.getDim(0), n.dim(x, batch))))
    return n.fail("sequence_lens is " + text_of(lengths) + ", expected " + n.dim(x, batch).str() +
                  " elements, the size of batch_axis");
  Ints order = {batch, time};
  for (int64_t axis = 0; axis < n.rank(x); ++axis)
    if (axis != batch && axis != time) order.push_back(axis);
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Formula length = Formula(n, n.input(1)).as(DType::kI64).reshape({n.dim(x, batch), DimExpr(1)});
  Formula step = iota(n, n.dim(x, time), DType::kI64).unsqueeze({0});
  // length * 0 broadcasts the step to [batch, time].
  Formula source = select(step < length, length - 1.0 - step, step + length * 0.0);
  Value picked = n.emit<GatherNdOp>({n.transpose(x, order), source.unsqueeze({2})},
                                    {n.attr("batch_dims", int64_t{1})});
  return n.transpose(picked, back);
}

Values tile(Node& n) {
  return n.emit<TileOp>({n.input(0)},
                        {n.attr("repeats", n.dims_of(n.input(1), "the repeat count"))});
}

// --- Indices and order. -------------------------------------------------------------------------

Formula iota(Node& n, DimExpr size) { return iota(n, size, DType::kI64); }

// Trilu with a diagonal `k` that is a dim or a run-time value: selects elements by comparing row
// and column indices.
Value trilu_run_time(Node& n, Value x, Value k, bool upper) {
  if (n.rank(x) < 2)
    return n.fail("the input must have rank 2 or more, but is " + text_of(n.type(x)));
  Value row = n.unsqueeze(iota(n, n.dim(x, n.rank(x) - 2)), {1}),
        column = iota(n, n.dim(x, n.rank(x) - 1));
  Value diagonal = n.emit<AddOp>({row, n.reshape(n.cast(k, DType::kI64), {})});
  Value is_out = upper ? n.emit<LessOp>({column, diagonal}) : n.emit<LessOp>({diagonal, column});
  return n.emit<SelectOp>({is_out, n.scalar(0, x), x});
}

Values trilu(Node& n) {
  Value x = n.input(0), given = n.input_or(1, Value());
  bool upper = n.flag("upper", true);
  if (given && !n.type(given).getElementCount().is_constant(1))
    return n.fail("k must have 1 element, but is " + text_of(n.type(given)));
  if (given && !n.is_known(given)) return trilu_run_time(n, x, given, upper);
  const Dims ks = given ? n.dims_of(given, "k") : Dims{0};
  if (n.has_failed()) return Value();
  const DimExpr k = ks[0];
  if (!k.is_constant()) return trilu_run_time(n, x, given, upper);
  // No axis is longer, so clamping changes no result.
  constexpr int64_t kFarAway = int64_t{1} << 40;
  return n.emit<TriluOp>({x}, {n.attr("k", std::clamp(*k.as_constant(), -kFarAway, kFarAway)),
                               n.attr("upper", upper)});
}

// --- Blocks. ------------------------------------------------------------------------------------

std::optional<int64_t> block_size(Node& n, Value x) {
  int64_t block = n.integer("blocksize");
  if (n.rank(x) == 4 && block >= 1 && block <= (1 << 15)) return block;
  n.fail("the input must have rank 4 and blocksize be 1 to 32768, but they are " +
         text_of(n.type(x)) + " and " + llvm::Twine(block));
  return std::nullopt;
}

Values depth_to_space(Node& n) {
  Value x = n.input(0);
  std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return n.fail("mode is " + runtime::quoted(mode) + ", expected DCR or CRD");
  std::optional<int64_t> b = block_size(n, x);
  if (!b) return Value();
  llvm::ArrayRef<DimExpr> d = n.shape(x);
  DimExpr block = *b, depth = floordiv(d[1], *b * *b);
  if (d[1].is_constant() && depth * block * block != d[1])
    return n.fail(d[1].str() + " channels are not a multiple of the square of blocksize " +
                  llvm::Twine(*b));
  bool column_first = mode == "CRD";
  // A channel index is (depth, block row, block column) in mode CRD, and (block row, block column,
  // depth) in mode DCR.
  Value split = column_first ? n.reshape(x, {d[0], depth, block, block, d[2], d[3]})
                             : n.reshape(x, {d[0], block, block, depth, d[2], d[3]});
  Value moved = n.transpose(split, column_first ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  return n.reshape(moved, {d[0], depth, d[2] * block, d[3] * block});
}

Values space_to_depth(Node& n) {
  Value x = n.input(0);
  std::optional<int64_t> b = block_size(n, x);
  if (!b) return Value();
  llvm::ArrayRef<DimExpr> d = n.shape(x);
  DimExpr block = *b, height = floordiv(d[2], block), width = floordiv(d[3], block);
  for (const auto& [size, blocks] : {std::pair(d[2], height), std::pair(d[3], width)})
    if (size.is_constant() && blocks * block != size)
      return n.fail("height and width are " + d[2].str() + " and " + d[3].str() +
                    ", expected multiples of blocksize " + llvm::Twine(*b));
  Value split = n.reshape(x, {d[0], d[1], height, block, width, block});
  // [n, c, height, block row, width, block column] -> [n, block row, block column, c, height,
  // width]: the inverse of DepthToSpace in mode DCR.
  Value moved = n.transpose(split, {0, 3, 5, 1, 2, 4});
  return n.reshape(moved, {d[0], d[1] * block * block, height, width});
}

}  // namespace

const OpRows kLayoutOps = {
    {"CenterCropPad", 18, center_crop_pad, OpSignature{"input_data shape", "axes"}},
    {"Concat", 4, concat},
    {"DepthToSpace", 1, depth_to_space},
    {"Pad", 2, pad_with_attributes},
    {"Pad", 11, pad},
    {"Pad", 18, pad, OpSignature{"data pads constant_value? axes?", "mode"}},
    {"ReverseSequence", 10, reverse_sequence},
    {"SpaceToDepth", 1, space_to_depth},
    {"Split", 2, split},
    {"Split", 18, split, OpSignature{"input split?", "axis num_outputs"}},
    {"Tile", 6, tile},
    {"Transpose", 1, transpose},
    {"Trilu", 14, trilu},
};

}  // namespace scopevm::compiler::frontend
