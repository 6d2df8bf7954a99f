// ONNX pools.
#include "compiler/frontend/spatial.h"

namespace scopevm::frontend {

namespace {

// SAME pads so that the result has ceil(size / stride) positions; what is odd goes to one end.
bool pad_same(Node& n, Value x, SpatialAttributes& a, bool more_at_end) {
  size_t rank = a.kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t span = (a.kernel[i] - 1) * a.dilations[i] + 1;
    int64_t total = span - 1;
    if (a.strides[i] != 1) {
      std::optional<int64_t> size = n.dim(x, static_cast<int64_t>(i) + 2).as_constant();
      if (!size) {
        n.unsupported("auto_pad with a stride over a dynamic dim is not supported");
        return false;
      }
      int64_t positions = (*size + a.strides[i] - 1) / a.strides[i];
      total = std::max<int64_t>(0, (positions - 1) * a.strides[i] + span - *size);
    }
    a.pads[i] = more_at_end ? total / 2 : total - total / 2;
    a.pads[rank + i] = total - a.pads[i];
  }
  return true;
}

}  // namespace

SpatialAttributes spatial_attributes(Node& n, Value x, Ints kernel) {
  size_t rank = kernel.size();
  SpatialAttributes a{std::move(kernel), n.integers("strides", Ints(rank, 1)),
                      n.integers("pads", Ints(2 * rank, 0)),
                      n.integers("dilations", Ints(rank, 1))};
  auto in_range = [](int64_t v) { return v >= 1 && v <= (1 << 20); };
  if (a.strides.size() != rank || a.pads.size() != 2 * rank || a.dilations.size() != rank ||
      !llvm::all_of(a.strides, in_range) || !llvm::all_of(a.dilations, in_range) ||
      !llvm::all_of(a.kernel, in_range)) {
    n.fail("kernel_shape, strides, pads and dilations do not fit each other");
    return {Ints(rank, 1), Ints(rank, 1), Ints(2 * rank, 0), Ints(rank, 1)};
  }
  if (llvm::any_of(a.pads, [](int64_t v) { return v < 0; }))
    n.unsupported("negative pads are not supported");
  std::string mode = n.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    pad_same(n, x, a, mode == "SAME_UPPER");
  else if (mode == "VALID")
    a.pads.assign(2 * rank, 0);
  else if (mode != "NOTSET" && !mode.empty())
    n.fail("auto_pad \"" + mode + "\" is not known");
  return a;
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
  if (n.rank(x) != static_cast<int64_t>(kernel.size()) + 2)
    n.fail("kernel_shape does not fit rank " + llvm::Twine(n.rank(x)));
  return spatial_attributes(n, x, kernel);
}

Values max_pool(Node& n) {
  Value x = n.input(0);
  if (n.wants_output(1)) return n.unsupported("output 1, the indices, is not supported"), Value();
  return n.emit<MaxPoolOp>({x}, window(n, pool_attributes(n, x)));
}

Values average_pool(Node& n) {
  Value x = n.input(0);
  auto attributes = window(n, pool_attributes(n, x));
  attributes.push_back(n.attr("count_pads", n.flag("count_include_pad", false)));
  return n.emit<AveragePoolOp>({x}, attributes);
}

// (sum over the window of |x|^p) ^ (1/p): the mean times the window's size, pads counted as zeros.
Values lp_pool(Node& n) {
  Value x = n.input(0);
  SpatialAttributes a = pool_attributes(n, x);
  double p = static_cast<double>(n.integer("p", 2)), size = 1;
  for (int64_t k : a.kernel) size *= static_cast<double>(k);
  auto attributes = window(n, a);
  attributes.push_back(n.attr("count_pads", true));
  Value powers = n.emit<PowOp>({n.emit<AbsOp>({x}), n.scalar(p, x)});
  Value mean = n.emit<AveragePoolOp>({powers}, attributes);
  return n.emit<PowOp>({n.emit<MulOp>({mean, n.scalar(size, x)}), n.scalar(1 / p, x)});
}

Ints spatial_axes(Node& n, Value x) {
  Ints axes;
  for (int64_t axis = 2; axis < n.rank(x); ++axis) axes.push_back(axis);
  if (axes.empty()) n.fail("rank " + llvm::Twine(n.rank(x)) + " is too low");
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

constexpr OpRow kRows[] = {
    {"AveragePool", 1, average_pool},
    {"GlobalAveragePool", 1, global_pool<ReduceMeanOp>},
    {"GlobalLpPool", 2, global_lp_pool},
    {"GlobalMaxPool", 1, global_pool<ReduceMaxOp>},
    {"LpPool", 2, lp_pool},
    {"MaxPool", 1, max_pool},
};

}  // namespace

llvm::ArrayRef<OpRow> window_ops() { return kRows; }

}  // namespace scopevm::frontend
