// ONNX convolutions.
#include "compiler/import/ops/convolution/convolution.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/spatial.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

namespace {

llvm::SmallVector<Value> conv_operands(Node& n, Value x, Value w) {
  llvm::SmallVector<Value> operands = {x, w};
  if (n.has_input(2)) operands.push_back(n.input(2));
  if (n.rank(operands[1]) != n.rank(operands[0]))
    n.fail("X and W must have the same rank, but are " + graph::text_of(n.type(operands[0])) +
           " and " + graph::text_of(n.type(operands[1])));
  return operands;
}

// Whether x is [n, c, depth, height, width] and the convolution is valid. The op for volumes
// reports the errors of an invalid one.
bool is_volume_conv(Node& n, llvm::ArrayRef<Value> operands, const SpatialAttributes& a) {
  constexpr int64_t kMostTaps = 32;
  Value x = operands[0], w = operands[1];
  int64_t group = n.integer("group", 1);
  if (n.rank(x) != 5 || n.rank(w) != 5 || n.dtype(x) != DType::kF32 || n.dtype(w) != DType::kF32 ||
      group < 1 || a.kernel[0] > kMostTaps)
    return false;
  std::optional<int64_t> channels = n.dim(x, 1).as_constant(), rows = n.dim(w, 0).as_constant();
  return channels && rows && *rows % group == 0 && n.dim(w, 1).is_constant(*channels / group) &&
         *channels % group == 0 &&
         (operands.size() < 3 ||
          (n.rank(operands[2]) == 1 && n.dim(operands[2], 0).is_constant(*rows)));
}

// A convolution of volumes as one of images: there is an image for each element of the result's
// depth, and its channels are those of all taps along the depth.
Value volume_conv(Node& n, llvm::ArrayRef<Value> operands, const SpatialAttributes& a) {
  Value x = n.transpose(operands[0], {0, 2, 1, 3, 4});  // [n, depth, c, height, width]
  if (a.pads[0] != 0 || a.pads[3] != 0) {
    Dims pads(10, DimExpr(0));
    pads[1] = a.pads[0];
    pads[6] = a.pads[3];
    x = n.pad(x, pads);
  }
  if (n.has_failed()) return {};
  int64_t group = n.integer("group", 1), span = (a.kernel[0] - 1) * a.dilations[0] + 1;
  DimExpr images = n.dim(x, 0), count = floordiv(n.dim(x, 1) - span, a.strides[0]) + 1;
  DimExpr channels = n.dim(x, 2), group_channels = n.dim(operands[1], 1);
  DimExpr height = n.dim(x, 3), width = n.dim(x, 4);
  llvm::SmallVector<Value> taps;
  for (int64_t tap = 0; tap < a.kernel[0]; ++tap) {
    Dims starts(5, DimExpr(0)), sizes(n.shape(x));
    starts[1] = tap * a.dilations[0];
    sizes[1] = count;
    Value plane = n.slice(x, starts, sizes, {1, a.strides[0], 1, 1, 1});
    taps.push_back(n.reshape(plane, {images, count, group, group_channels, height, width}));
  }
  if (n.has_failed()) return {};
  x = n.concat(taps, 3);
  DimExpr depth = a.kernel[0];
  x = n.reshape(x, {images * count, channels * depth, height, width});
  Value w = n.transpose(operands[1], {0, 2, 1, 3, 4});  // [m, taps, c / group, kernel...]
  w = n.reshape(w, {n.dim(w, 0), group_channels * depth, n.dim(w, 3), n.dim(w, 4)});
  if (n.has_failed()) return {};
  llvm::SmallVector<Value> inputs(operands);
  inputs[0] = x;
  inputs[1] = w;
  Value y = n.emit<ConvOp>(
      inputs, {n.attr("strides", Ints{a.strides[1], a.strides[2]}),
               n.attr("pads", Ints{a.pads[1], a.pads[2], a.pads[4], a.pads[5]}),
               n.attr("dilations", Ints{a.dilations[1], a.dilations[2]}), n.attr("group", group)});
  if (n.has_failed()) return {};
  y = n.reshape(y, {images, count, n.dim(y, 1), n.dim(y, 2), n.dim(y, 3)});
  return n.transpose(y, {0, 2, 1, 3, 4});
}

}  // namespace

Value convolution_of(Node& n, Value x, Value w) {
  auto operands = conv_operands(n, x, w);
  Value bias = operands.size() > 2 ? operands[2] : Value();
  // A convolution of two results of DequantizeLinear is computed on 8-bit integers.
  if (Value y = dequantised_conv(n, operands[0], operands[1], bias)) return y;
  SpatialAttributes a = spatial_attributes(n, operands[0], kernel_of(n, operands[1]));
  operands[0] = with_symbolic_pads(n, operands[0], a);
  if (!n.has_failed() && is_volume_conv(n, operands, a)) return volume_conv(n, operands, a);
  return n.emit<ConvOp>(operands,
                        {n.attr("strides", a.strides), n.attr("pads", a.pads),
                         n.attr("dilations", a.dilations), n.attr("group", n.integer("group", 1))});
}

namespace {

Values conv(Node& n) { return convolution_of(n, n.input(0), n.input(1)); }

// Computes the pads for which the output has the spatial dims `wanted`. If the total of an axis is
// odd, auto_pad selects the end with the extra element. If the full output is smaller than
// `wanted`, the difference is added to the output padding.
void pads_for_output(Node& n, Value x, llvm::ArrayRef<DimExpr> wanted, SpatialAttributes& a,
                     Ints& output_pads) {
  size_t rank = a.kernel.size();
  bool more_at_end = n.text("auto_pad", "NOTSET") == "SAME_UPPER";
  for (size_t i = 0; i < rank; ++i) {
    const DimExpr size = n.dim(x, static_cast<int64_t>(i) + 2);
    int64_t span = (a.kernel[i] - 1) * a.dilations[i] + 1;
    // The formula of the ONNX operator specification.
    const std::optional<int64_t> pads =
        (DimExpr(a.strides[i]) * (size - 1) + DimExpr(output_pads[i] + span) - wanted[i])
            .as_constant();
    if (!pads) {
      n.unsupported("output_shape requires constant dims, but dim " + llvm::Twine(i + 2) +
                    " of X is " + size.str());
      return;
    }
    int64_t total = *pads;
    if (total < 0) {
      // The requested output is larger than the output without pads. Elements are added at the end.
      output_pads[i] -= total;
      total = 0;
    }
    a.pads[i] = more_at_end ? total / 2 : total - total / 2;
    a.pads[rank + i] = total - a.pads[i];
  }
}

// Transposed convolution with windows that do not overlap. Each element of the input produces a
// separate block of the output, so one matrix product computes all blocks. A tap is an element of
// the window.
Value conv_transpose_of_blocks(Node& n, llvm::ArrayRef<Value> operands,
                               const SpatialAttributes& a) {
  Value x = operands[0], w = operands[1];
  int64_t rank = n.rank(x), spatial = rank - 2;
  DimExpr channels = n.dim(w, 0), results = n.dim(w, 1), taps = 1;
  // `last` moves axis 0 of W, the input channels, to the end. `blocks` puts each spatial axis
  // before the window axis of the same index: [n, results, size 0, kernel 0, size 1, kernel 1,
  // ...].
  Ints last = {1}, blocks = {0, 1};
  Dims split = {n.dim(x, 0), results}, whole = split, one_pixel(static_cast<size_t>(rank), 1);
  for (int64_t i = 0; i < spatial; ++i) {
    last.push_back(i + 2);
    blocks.append({2 + spatial + i, 2 + i});
    taps = taps * DimExpr(a.kernel[i]);
    split.push_back(a.kernel[i]);
    whole.push_back(n.dim(x, i + 2) * DimExpr(a.kernel[i]));
  }
  for (int64_t i = 0; i < spatial; ++i) split.push_back(n.dim(x, i + 2));
  last.push_back(0);
  // A convolution with window 1 computes the matrix product. It has one output channel for each
  // pair of a result channel and a tap.
  one_pixel[0] = results * taps;
  one_pixel[1] = channels;
  Value weights = n.reshape(n.transpose(w, last), one_pixel);
  Ints ones(static_cast<size_t>(spatial), 1), zeros(static_cast<size_t>(2 * spatial), 0);
  Value product =
      n.emit<ConvOp>({x, weights}, {n.attr("strides", ones), n.attr("pads", zeros),
                                    n.attr("dilations", ones), n.attr("group", int64_t{1})});
  Value y = n.reshape(n.transpose(n.reshape(product, split), blocks), whole);
  if (operands.size() < 3) return y;
  Dims along(static_cast<size_t>(rank), 1);
  along[1] = results;
  return n.emit<AddOp>({y, n.reshape(operands[2], along)});
}

// Whether the windows do not overlap. Convolutions of f32 images with constant weights stay whole:
// the layouts stage selects their form.
bool has_blocks(Node& n, llvm::ArrayRef<Value> operands, const SpatialAttributes& a,
                const Ints& output_pads, int64_t group) {
  auto all = [](const Ints& values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  if (n.dtype(operands[0]) == DType::kF32 && operands[1].getDefiningOp<ConstantOp>()) return false;
  return group == 1 && a.kernel == a.strides && all(a.pads, 0) && all(a.dilations, 1) &&
         all(output_pads, 0);
}

Values conv_transpose(Node& n) {
  auto operands = conv_operands(n, n.input(0), n.input(1));
  Value x = operands[0];
  SpatialAttributes a;
  std::string mode = n.text("auto_pad", "NOTSET");
  Ints kernel = kernel_of(n, operands[1]);
  size_t rank = kernel.size();
  a.kernel = kernel;
  a.strides = n.integers("strides", Ints(rank, 1));
  a.dilations = n.integers("dilations", Ints(rank, 1));
  a.pads = n.integers("pads", Ints(2 * rank, 0));
  Ints output_pads = n.integers("output_padding", Ints(rank, 0));
  if (!check_count(n, "strides", a.strides, rank) ||
      !check_count(n, "dilations", a.dilations, rank) ||
      !check_count(n, "pads", a.pads, 2 * rank) ||
      !check_count(n, "output_padding values", output_pads, rank) ||
      !check_range(n, "strides", a.strides) || !check_range(n, "dilations", a.dilations))
    return Value();
  if (n.has_attribute("output_shape")) {
    const Ints wanted = n.integers("output_shape");
    if (!check_count(n, "output_shape dims", wanted, rank)) return Value();
    pads_for_output(n, x, Dims(wanted.begin(), wanted.end()), a, output_pads);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    // With this output, the pads do not depend on the dims of x.
    Dims wanted;
    for (size_t i = 0; i < rank; ++i)
      wanted.push_back(n.dim(x, static_cast<int64_t>(i) + 2) * DimExpr(a.strides[i]));
    pads_for_output(n, x, wanted, a, output_pads);
  } else if (mode == "VALID") {
    a.pads.assign(2 * rank, 0);
  }
  const int64_t group = n.integer("group", 1);
  if (!n.has_failed() && has_blocks(n, operands, a, output_pads, group))
    return conv_transpose_of_blocks(n, operands, a);
  // A sequence is an image of height 1: kernels of images are faster. An invalid op stays as it is,
  // so that messages have its dims.
  bool is_sequence = rank == 1 && !n.has_failed() && n.rank(x) == 3 && group == 1 &&
                     n.dim(x, 1) == n.dim(operands[1], 0) && a.strides[0] > 0 &&
                     a.dilations[0] > 0 && a.pads[0] >= 0 && a.pads[1] >= 0 &&
                     output_pads[0] >= 0 &&
                     (operands.size() < 3 ||
                      (n.rank(operands[2]) == 1 && n.dim(operands[2], 0) == n.dim(operands[1], 1)));
  if (is_sequence) {
    Value w = operands[1];
    operands[0] = n.reshape(x, {n.dim(x, 0), n.dim(x, 1), 1, n.dim(x, 2)});
    operands[1] = n.reshape(w, {n.dim(w, 0), n.dim(w, 1), 1, n.dim(w, 2)});
    a.strides.insert(a.strides.begin(), 1);
    a.dilations.insert(a.dilations.begin(), 1);
    a.pads = {0, a.pads[0], 0, a.pads[1]};
    output_pads.insert(output_pads.begin(), 0);
  }
  Value y = n.emit<ConvTransposeOp>(
      operands,
      {n.attr("strides", a.strides), n.attr("pads", a.pads), n.attr("dilations", a.dilations),
       n.attr("output_pads", output_pads), n.attr("group", group)});
  if (!is_sequence || n.has_failed()) return y;
  return n.reshape(y, {n.dim(y, 0), n.dim(y, 1), n.dim(y, 3)});
}

}  // namespace

const OpRows kConvolutionOps = {
    {"Conv", 1, conv},
    {"ConvTranspose", 1, conv_transpose},
};

}  // namespace scopevm::compiler::frontend
