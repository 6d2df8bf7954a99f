// ONNX pools, MaxRoiPool, MaxUnpool and Col2Im, and the window attributes of spatial.h.
#include <cmath>
#include <limits>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/indexing/require_indices.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/pooling/pooling.h"
#include "compiler/import/ops/spatial.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {

namespace {

// Sets the pads for which the result has ceil(size / stride) elements along each axis. If the total
// padding of an axis is odd, the extra element is at the end if `more_at_end`, else at the start.
void pad_same(Node& n, Value x, SpatialAttributes& a, bool more_at_end) {
  size_t rank = a.kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    DimExpr size = n.dim(x, static_cast<int64_t>(i) + 2);
    int64_t stride = a.strides[i], span = (a.kernel[i] - 1) * a.dilations[i] + 1;
    // From the start of the first window to the end of the last one. With stride 1, the total does
    // not depend on the size.
    DimExpr total = (ceildiv(size, stride) - 1) * DimExpr(stride) + span - size;
    // Windows shorter than the stride need not reach the end of x. This is max(total, 0), in a form
    // that is simplified to 0 for windows of one element.
    if (span < stride) total = max(span - 1 - mod(size - 1, stride), 0);
    DimExpr before = floordiv(more_at_end ? total : total + 1, 2), after = total - before;
    if (before.is_constant() && after.is_constant()) {
      a.pads[i] = *before.as_constant();
      a.pads[rank + i] = *after.as_constant();
    } else {
      a.symbolic_pads[i] = before;
      a.symbolic_pads[rank + i] = after;
    }
  }
}

}  // namespace

std::string list_text(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

bool check_count(Node& n, llvm::StringRef name, llvm::ArrayRef<int64_t> values, size_t count) {
  if (values.size() == count) return true;
  n.fail(name + " are " + list_text(values) + ", expected " + runtime::count_text(count, "value"));
  return false;
}

bool check_range(Node& n, llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  if (llvm::all_of(values, [](int64_t v) { return v >= 1 && v <= (1 << 20); })) return true;
  n.fail(name + " are " + list_text(values) + ", expected 1 to 1048576 each");
  return false;
}

SpatialAttributes spatial_attributes(Node& n, Value x, Ints kernel) {
  size_t rank = kernel.size();
  SpatialAttributes a{std::move(kernel), n.integers("strides", Ints(rank, 1)),
                      n.integers("pads", Ints(2 * rank, 0)), n.integers("dilations", Ints(rank, 1)),
                      Dims(2 * rank, DimExpr(0))};
  if (!check_count(n, "strides", a.strides, rank) || !check_count(n, "pads", a.pads, 2 * rank) ||
      !check_count(n, "dilations", a.dilations, rank) || !check_range(n, "strides", a.strides) ||
      !check_range(n, "dilations", a.dilations) || !check_range(n, "kernel dims", a.kernel))
    // Returns valid attributes after an error, so that callers can index them and divide by them.
    return {Ints(rank, 1), Ints(rank, 1), Ints(2 * rank, 0), Ints(rank, 1),
            Dims(2 * rank, DimExpr(0))};
  if (llvm::any_of(a.pads, [](int64_t v) { return v < 0; }))
    n.unsupported("pads are " + list_text(a.pads) + "; negative pads are not supported");
  if (llvm::any_of(a.pads, [](int64_t v) { return v > (1 << 30); })) {
    n.fail("pads are " + list_text(a.pads) + ", expected at most 1073741824 each");
    a.pads.assign(2 * rank, 0);
  }
  std::string mode = n.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    pad_same(n, x, a, mode == "SAME_UPPER");
  else if (mode == "VALID")
    a.pads.assign(2 * rank, 0);
  else if (mode != "NOTSET" && !mode.empty())
    n.fail("auto_pad is \"" + mode + "\", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  return a;
}

Ints symbolic_axes(const SpatialAttributes& a) {
  Ints axes;
  size_t rank = a.symbolic_pads.size() / 2;
  for (size_t i = 0; i < rank; ++i)
    if (!a.symbolic_pads[i].is_constant(0) || !a.symbolic_pads[rank + i].is_constant(0))
      axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Value with_symbolic_pads(Node& n, Value x, const SpatialAttributes& a, Value value) {
  if (n.has_failed() || symbolic_axes(a).empty()) return x;
  Dims pads(a.symbolic_pads);
  pads.insert(pads.begin() + static_cast<int64_t>(a.kernel.size()), 2, DimExpr(0));
  pads.insert(pads.begin(), 2, DimExpr(0));
  return n.pad(x, pads, value);
}

Ints kernel_of(Node& n, Value weight) {
  Ints kernel;
  for (int64_t axis = 2; axis < n.rank(weight); ++axis) {
    std::optional<int64_t> size = n.dim(weight, axis).as_constant();
    if (!size)
      return n.unsupported("dim " + llvm::Twine(axis) + " of the weight is " +
                           n.dim(weight, axis).str() + ", expected a constant"),
             Ints();
    kernel.push_back(*size);
  }
  if (n.has_attribute("kernel_shape") && n.integers("kernel_shape") != kernel)
    n.fail("kernel_shape is " + list_text(n.integers("kernel_shape")) + ", expected " +
           list_text(kernel) + ", the dims of the weight");
  return kernel;
}

namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

llvm::SmallVector<mlir::NamedAttribute> window(Node& n, const SpatialAttributes& a) {
  return {n.attr("kernel", a.kernel), n.attr("strides", a.strides), n.attr("pads", a.pads),
          n.attr("dilations", a.dilations), n.attr("ceil_mode", n.flag("ceil_mode", false))};
}

SpatialAttributes pool_attributes(Node& n, Value x) {
  if (!n.has_attribute("kernel_shape")) n.fail("attribute \"kernel_shape\" is missing");
  Ints kernel = n.integers("kernel_shape");
  if (kernel.empty() && !n.has_failed())
    n.fail("x must have rank 3 or more, but is " + graph::text_of(n.type(x)));
  if (n.rank(x) != static_cast<int64_t>(kernel.size()) + 2)
    n.fail("x must have rank " + llvm::Twine(kernel.size() + 2) + " for kernel_shape " +
           list_text(kernel) + ", but is " + graph::text_of(n.type(x)));
  return spatial_attributes(n, x, kernel);
}

// The value that a maximum of other numbers ignores.
Value lowest(Node& n, Value like) {
  DType dtype = n.dtype(like);
  if (is_float(dtype)) return n.scalar(-std::numeric_limits<double>::infinity(), like);
  if (is_unsigned(dtype)) return n.scalar(0, like);
  return n.scalar(-std::ldexp(1.0, static_cast<int>(8 * byte_size(dtype)) - 1), like);
}

}  // namespace

Value max_pool_of(Node& n, Value x) {
  SpatialAttributes a = pool_attributes(n, x);
  auto attributes = window(n, a);
  if (!symbolic_axes(a).empty()) x = with_symbolic_pads(n, x, a, lowest(n, x));
  return n.emit<MaxPoolOp>({x}, attributes);
}

namespace {

Values max_pool(Node& n) {
  Value x = n.input(0);
  if (!n.wants_output(1)) return max_pool_of(n, x);
  SpatialAttributes a = pool_attributes(n, x);
  auto attributes = window(n, a);
  // Indices of elements of padded x would differ from those of x.
  for (int64_t axis : symbolic_axes(a))
    return n.unsupported("Indices with auto_pad and stride " + llvm::Twine(a.strides[axis]) +
                         " require a constant dim, but dim " + llvm::Twine(axis + 2) + " of x is " +
                         n.dim(x, axis + 2).str());
  attributes.push_back(n.attr("by_column", n.flag("storage_order", false)));
  mlir::Operation* op = n.emit(MaxPoolIndicesOp::getOperationName(), {x}, attributes);
  if (!op) return Value();
  return {op->getResult(0), op->getResult(1)};
}

// Scatters x into zeros at the given indices. The indices refer to an output of the default size,
// from which MaxPool computes a result of the size of x. A larger output_shape adds zeros at the
// end.
Values max_unpool(Node& n) {
  Value x = n.input(0);
  SpatialAttributes a = pool_attributes(n, x);
  if (n.has_failed()) return Value();
  Dims dims(n.shape(x));
  size_t spatial = a.kernel.size();
  for (size_t d = 0; d < spatial; ++d)
    dims[d + 2] =
        (dims[d + 2] - 1) * DimExpr(a.strides[d]) + a.kernel[d] - a.pads[d] - a.pads[spatial + d];
  // The indices of MaxPool refer to the flattened tensor, including batch and channels.
  Value zeros = n.expand(n.scalar(0, x), {element_count(dims)});
  DimExpr count = element_count(n.shape(x));
  Value placed = n.emit<ScatterElementsOp>(
      {zeros, n.reshape(n.input(1), {count}), n.reshape(x, {count})}, {n.attr("axis", int64_t{0})});
  Value y = n.reshape(placed, dims);
  if (!n.has_input(2)) return y;
  Dims wanted = n.dims_of(n.input(2), "the shape"), pads(2 * dims.size(), DimExpr(0));
  if (wanted.size() != dims.size() && !n.has_failed())
    return n.fail("output_shape has " + llvm::Twine(wanted.size()) + " dims, expected " +
                  llvm::Twine(dims.size()));
  if (n.has_failed() || wanted == dims) return y;
  for (size_t d = 0; d < dims.size(); ++d) pads[dims.size() + d] = wanted[d] - dims[d];
  return n.pad(y, pads, n.scalar(0, x));
}

// x: [n, c * window elements, positions]. Overlapping windows are summed, by a transposed
// convolution whose weight maps each input channel to one element of the window.
Values col2im(Node& n) {
  Value x = n.input(0);
  Dims image = n.dims_of(n.input(1), "image_shape");
  Ints block = n.integers_of(n.input(2), "block_shape");
  if (n.has_failed()) return Value();
  size_t rank = block.size();
  SpatialAttributes a = spatial_attributes(n, x, block);
  if (n.has_failed()) return Value();
  if (n.rank(x) != 3 || image.size() != rank || rank == 0)
    return n.fail(
        "the input must have rank 3, and image_shape and block_shape the same length of "
        "at least 1, but the input is " +
        graph::text_of(n.type(x)) + " and the lengths are " + llvm::Twine(image.size()) + " and " +
        llvm::Twine(rank));
  int64_t size = 1;
  for (int64_t k : block) {
    size *= k;
    if (size > (1 << 12))
      return n.unsupported("a block of more than 4096 elements is not supported");
  }
  DimExpr channels = floordiv(n.dim(x, 1), size), planes = n.dim(x, 0) * channels;
  Dims columns = {planes, DimExpr(size)}, pads(2 * (rank + 2), DimExpr(0)), result(image);
  for (size_t d = 0; d < rank; ++d) {
    DimExpr span = (a.kernel[d] - 1) * a.dilations[d] + 1;
    DimExpr positions = floordiv(image[d] + a.pads[d] + a.pads[rank + d] - span, a.strides[d]) + 1;
    columns.push_back(positions);
    // The result of the transposed convolution ends with the last window and includes the padding.
    // A negative pad removes the padding. A positive pad at the end adds the elements after the
    // last window.
    pads[2 + d] = -a.pads[d];
    pads[rank + 4 + d] = image[d] + a.pads[d] - ((positions - 1) * DimExpr(a.strides[d]) + span);
  }
  Dims weight = {DimExpr(size), DimExpr(1)};
  weight.append(block.begin(), block.end());
  Formula row = iota(n, size, DType::kI64), element = iota(n, size, DType::kI64).unsqueeze({1});
  // Row k of the weight is 1 at element k of the window and 0 elsewhere.
  Value one_each = n.reshape((row == element).as(n.dtype(x)), weight);
  Value y =
      n.emit<ConvTransposeOp>({n.reshape(x, columns), one_each},
                              {n.attr("strides", a.strides), n.attr("pads", Ints(2 * rank, 0)),
                               n.attr("dilations", a.dilations),
                               n.attr("output_pads", Ints(rank, 0)), n.attr("group", int64_t{1})});
  y = n.pad(y, pads, n.scalar(0, x));
  result.insert(result.begin(), {n.dim(x, 0), channels});
  return n.reshape(y, result);
}

}  // namespace

Value average_pool_of(Node& n, Value x) {
  SpatialAttributes a = pool_attributes(n, x);
  bool count_pads = n.flag("count_include_pad", false);
  auto attributes = window(n, a);
  attributes.push_back(n.attr("count_pads", count_pads));
  auto pool = [&](Value image) {
    return n.emit<AveragePoolOp>({with_symbolic_pads(n, image, a)}, attributes);
  };
  Value mean = pool(x);
  if (n.has_failed() || count_pads || symbolic_axes(a).empty()) return mean;
  // The op counts the symbolic padding. The mean is therefore divided by that of ones, which is the
  // share of x in the elements that are counted. It is 1 for windows inside x.
  Dims dims(n.shape(x));
  dims[0] = dims[1] = 1;
  Value share = pool(n.expand(n.scalar(1, x), dims));
  // Dilated windows can have no element of x. Their mean is 0.
  double least = 0.5;
  for (int64_t size : a.kernel) least /= static_cast<double>(size);
  return n.emit<DivOp>({mean, n.emit<MaxOp>({share, n.scalar(least, x)})});
}

namespace {

Values average_pool(Node& n) { return average_pool_of(n, n.input(0)); }

// (sum over the window of |x|^p) ^ (1/p). The sum is computed as the average pool, with pads
// counted as zeros, times the window size.
Values lp_pool(Node& n) {
  Value x = n.input(0);
  SpatialAttributes a = pool_attributes(n, x);
  x = with_symbolic_pads(n, x, a);
  if (n.has_failed()) return Value();
  double p = static_cast<double>(n.integer("p", 2)), size = 1;
  Dims wanted(n.shape(x));
  for (size_t d = 0; d < a.kernel.size(); ++d) {
    size *= static_cast<double>(a.kernel[d]);
    if (!n.flag("ceil_mode", false)) continue;
    // Extra padding at the end completes the windows that ceil_mode adds. Windows that start in the
    // padding at the end are removed below.
    wanted[d + 2] = floordiv(wanted[d + 2] + (a.pads[d] - 1), a.strides[d]) + 1;
    a.pads[a.kernel.size() + d] += a.strides[d] - 1;
  }
  Value powers = n.emit<PowOp>({n.emit<AbsOp>({x}), n.scalar(p, x)});
  Value mean =
      n.emit<AveragePoolOp>({powers}, {n.attr("kernel", a.kernel), n.attr("strides", a.strides),
                                       n.attr("pads", a.pads), n.attr("dilations", a.dilations),
                                       n.attr("ceil_mode", false), n.attr("count_pads", true)});
  if (n.has_failed()) return Value();
  Dims dims(n.shape(mean));
  if (n.flag("ceil_mode", false))
    for (size_t d = 2; d < dims.size(); ++d) dims[d] = min(dims[d], wanted[d]);
  if (n.shape(mean) != llvm::ArrayRef<DimExpr>(dims))
    mean = n.slice(mean, Dims(dims.size(), DimExpr(0)), dims);
  return n.emit<PowOp>({n.emit<MulOp>({mean, n.scalar(size, x)}), n.scalar(1 / p, x)});
}

Ints spatial_axes(Node& n, Value x) {
  Ints axes;
  for (int64_t axis = 2; axis < n.rank(x); ++axis) axes.push_back(axis);
  if (axes.empty())
    n.fail("the input must have rank 3 or more, but is " + graph::text_of(n.type(x)));
  return axes;
}

template <typename Op>
Values global_pool(Node& n) {
  Value x = n.input(0);
  return n.emit<Op>({x}, {n.attr("axes", spatial_axes(n, x)), n.attr("keep_dims", true)});
}

Values global_lp_pool(Node& n) {
  Value x = n.input(0);
  double p = static_cast<double>(n.integer("p", 2));
  Value powers = n.emit<PowOp>({n.emit<AbsOp>({x}), n.scalar(p, x)});
  Value sum = n.reduce_sum(powers, spatial_axes(n, x));
  return n.emit<PowOp>({sum, n.scalar(1 / p, x)});
}

// --- MaxRoiPool. --------------------------------------------------------------------------------

// The bins of each region along an axis.
struct Bins {
  Formula has_element;   // [regions, bins, size of the axis]: whether the bin contains the element
  Formula is_not_empty;  // [regions, bins]
};

// `first` and `last` are the ends of the regions, [regions, 1]. A region has at least 1 element,
// and can exceed the axis.
Bins bins_of(const Formula& first, const Formula& last, int64_t count, DimExpr size) {
  Node& n = first.node();
  const DType dtype = first.dtype();
  const Formula width = max(last - first + 1.0, 1.0) / static_cast<double>(count);
  const Formula bin = iota(n, count, dtype), end = number(n, size, dtype),
                at = iota(n, size, dtype);
  const Formula from = clamp(floor(bin * width) + first, 0, end);
  const Formula to = clamp(ceil((bin + 1.0) * width) + first, 0, end);
  return {(from.unsqueeze({2}) <= at) & (at < to.unsqueeze({2})), from < to};
}

// A region is a batch element and the first and last column and row, rounded after scaling: x1, y1,
// x2, y2. The greatest element of a bin is that of its rows, and then that of its columns. Empty
// bins are 0.
Values max_roi_pool(Node& n) {
  const Value x = n.input(0), rois = n.input(1);
  const Ints bins = n.integers("pooled_shape");
  const double scale = n.number("spatial_scale", 1);
  if (n.has_failed()) return Value();
  if (n.rank(x) != 4 || n.rank(rois) != 2 || !may_be_equal(n.dim(rois, 1), 5))
    return n.fail("the inputs must be [batch, channels, height, width] and [regions, 5], but are " +
                  graph::text_of(n.type(x)) + " and " + graph::text_of(n.type(rois)));
  constexpr int64_t kMostBins = 1024;
  if (bins.size() != 2 || *llvm::min_element(bins) < 1 || *llvm::max_element(bins) > kMostBins)
    return n.fail("pooled_shape is " + list_text(bins) + ", expected 2 integers from 1 to " +
                  llvm::Twine(kMostBins));
  const DimExpr regions = n.dim(rois, 0);
  const Formula all = Formula(n, rois).as(n.dtype(x) == DType::kF64 ? DType::kF64 : DType::kF32);
  const auto edge = [&](int64_t i) {  // halves are rounded away from 0
    const Formula value = all.element_at(1, i, /*keep_axis=*/true) * scale;
    const Formula size = floor(abs(value) + 0.5);
    return select(value < value.scalar(0), 0.0 - size, size);
  };
  const Formula batch = all.element_at(1, 0).as(DType::kI64);
  require_indices(n, batch, {n.dim(x, 0)}, LeastIndex::kZero);
  const Bins rows = bins_of(edge(2), edge(4), bins[0], n.dim(x, 2));
  const Bins columns = bins_of(edge(1), edge(3), bins[1], n.dim(x, 3));
  const auto greatest = [&](const Formula& is_in, const Formula& of, int64_t axis) {
    return Formula(
        n, n.emit<ReduceMaxOp>({select(is_in, of, -std::numeric_limits<double>::infinity())},
                               {n.attr("axes", Ints{axis}), n.attr("keep_dims", false)}));
  };
  Formula y =
      Formula(n, x).gather(batch, 0).unsqueeze({2});  // [regions, channels, 1, rows, columns]
  y = greatest(rows.has_element.reshape({regions, 1, bins[0], n.dim(x, 2), 1}), y, 3);
  y = greatest(columns.has_element.reshape({regions, 1, 1, bins[1], n.dim(x, 3)}), y.unsqueeze({3}),
               4);
  const Formula has_elements = rows.is_not_empty.reshape({regions, 1, bins[0], 1}) &
                               columns.is_not_empty.reshape({regions, 1, 1, bins[1]});
  return select(has_elements, y, 0.0);
}

}  // namespace

const OpRows kPoolingOps = {
    {"AveragePool", 1, average_pool},
    {"AveragePool", 19, average_pool,
     OpSignature{"X", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"}},
    {"Col2Im", 18, col2im, OpSignature{"input image_shape block_shape", "dilations pads strides"}},
    {"GlobalAveragePool", 1, global_pool<ReduceMeanOp>},
    {"GlobalLpPool", 2, global_lp_pool},
    {"GlobalMaxPool", 1, global_pool<ReduceMaxOp>},
    {"LpPool", 2, lp_pool},
    {"LpPool", 18, lp_pool,
     OpSignature{"X", "auto_pad ceil_mode dilations kernel_shape p pads strides"}},
    {"MaxPool", 1, max_pool},
    {"MaxRoiPool", 1, max_roi_pool},
    {"MaxUnpool", 9, max_unpool},
};

}  // namespace scopevm::compiler::frontend
