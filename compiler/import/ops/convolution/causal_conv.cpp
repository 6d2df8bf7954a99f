// CausalConvWithState: a depthwise convolution over time that sees no later elements. The last
// elements of the input are the state of the next call.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The elements before the input and the input: [batch, channels, size - 1 + length], where `size`
// is that of the kernel.
Value with_state(Node& n, Value x, DimExpr size) {
  const DimExpr before = size - DimExpr(1);
  if (!n.has_input(3)) {
    Dims pads(6, DimExpr(0));
    pads[2] = before;
    return n.pad(x, pads);
  }
  const Value state = n.input(3);
  if (n.has_failed()) return {};
  if (n.rank(state) != 3 || n.dtype(state) != n.dtype(x))
    return n.fail("past_state is " + text_of(n.type(state)) + ", expected " +
                  llvm::Twine(name(n.dtype(x))) + " of rank 3");
  n.require_equal(n.dim(state, 2), before, "past_state has {0} elements, expected {1}");
  return n.concat({state, x}, 2);
}

Values causal_conv(Node& n) {
  Value x = n.input(0), weight = n.input(1);
  const std::string activation = n.text("activation", "none");
  if (n.has_failed()) return Value();
  if (activation != "none" && activation != "silu" && activation != "swish")
    return n.fail("activation is " + runtime::quoted(activation) +
                  ", expected none, silu or swish");
  if (n.rank(x) != 3 || n.rank(weight) != 3 || !may_be_equal(n.dim(weight, 0), n.dim(x, 1)) ||
      !may_be_equal(n.dim(weight, 1), 1))
    return n.fail("the input is " + text_of(n.type(x)) + " and the weight " +
                  text_of(n.type(weight)) +
                  ", expected [batch, channels, length] and [channels, 1, size]");
  constexpr int64_t kMostTaps = 256;
  const std::optional<int64_t> size = n.dim(weight, 2).as_constant();
  if (!size || *size < 1 || *size > kMostTaps)
    return n.unsupported("the size of the kernel is " + n.dim(weight, 2).str() +
                         ", expected a constant from 1 to " + llvm::Twine(kMostTaps));
  const DType dtype = n.dtype(x);
  const Dims dims(n.shape(x));
  const Value padded = with_state(n, x, *size);
  if (n.has_failed()) return Value();
  const auto part = [&](DimExpr start, DimExpr count) {
    return n.slice(padded, {DimExpr(0), DimExpr(0), start}, {dims[0], dims[1], count});
  };
  const Formula taps = Formula(n, weight).as(DType::kF32).reshape({dims[1], DimExpr(*size)});
  std::optional<Formula> y;
  for (int64_t tap = 0; tap < *size; ++tap) {
    const Formula product = Formula(n, part(tap, dims[2])).as(DType::kF32) *
                            taps.element_at(1, tap, /*keep_axis=*/true);
    y = y ? *y + product : product;
  }
  if (n.has_input(2))
    y = *y + Formula(n, n.input(2)).as(DType::kF32).reshape({dims[1], DimExpr(1)});
  if (activation != "none") y = *y * y->unary<SigmoidOp>();
  return {y->as(dtype), part(dims[2], *size - 1)};
}

}  // namespace

const OpRows kCausalConvOps = {
    {"CausalConvWithState", 27, causal_conv,
     OpSignature{"input weight bias? past_state?", "activation"}},
};

}  // namespace scopevm::compiler::frontend
