// com.microsoft activation functions.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/elementwise/activation.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

Values exact_gelu(Node& n) {
  Formula x(n, n.input(0));
  return gelu(x).as(x.dtype());
}

// x + the bias at input 1, a vector along the last axis. In the element type of x.
Formula with_bias(Node& n, const Formula& x) {
  if (n.has_failed() || !check_rank(n, x, "the input", 1, 16)) return {n, Value()};
  Value bias = shaped_input(n, 1, "the bias", {n.dim(x, x.rank() - 1)});
  return bias ? x + Formula(n, bias) : x;
}

Values bias_gelu(Node& n) {
  Formula x(n, n.input(0));
  return gelu(with_bias(n, x)).as(x.dtype());
}

Values fast_gelu(Node& n) {
  Formula x(n, n.input(0));
  return gelu_by_tanh(with_bias(n, x)).as(x.dtype());
}

Values quick_gelu(Node& n) {
  Formula x(n, n.input(0));
  return x * (x * n.number("alpha", 1.702f)).unary<SigmoidOp>();
}

// The sum of x and the bias is split into two halves along the last axis: left * gelu(right).
Values bias_split_gelu(Node& n) {
  Formula x(n, n.input(0));
  if (!check_rank(n, x, "X", 3, 3)) return Value();
  Formula sum = with_bias(n, x);
  if (n.has_failed()) return Value();
  const DimExpr width = n.dim(x, 2), half = floordiv(width, 2);
  n.require_equal(half * DimExpr(2), width, "the last dim of X is {1}, expected an even number");
  Dims starts(3, DimExpr(0)), sizes(x.shape());
  sizes[2] = half;
  Formula left(n, n.slice(sum, starts, sizes));
  starts[2] = half;
  Formula right(n, n.slice(sum, starts, sizes));
  return left * gelu(right).as(x.dtype());
}

}  // namespace

const OpRows kMicrosoftActivationOps = {
    {"BiasGelu", 1, bias_gelu, OpSignature{"A B", ""}},
    {"BiasSplitGelu", 1, bias_split_gelu, OpSignature{"X bias", ""}},
    {"FastGelu", 1, fast_gelu, OpSignature{"X bias?", ""}},
    {"Gelu", 1, exact_gelu, OpSignature{"X", ""}},
    {"QuickGelu", 1, quick_gelu, OpSignature{"X", "alpha"}},
};

}  // namespace scopevm::compiler::frontend
