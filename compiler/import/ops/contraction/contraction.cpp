// ONNX MatMul, Gemm and Det.
#include "compiler/import/ops/contraction/contraction.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/import_state.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

namespace {

Values det(Node& n) { return n.emit<DetOp>({n.input(0)}); }

Values matmul(Node& n) {
  if (byte_size(n.dtype(n.input(0))) == 1)
    return n.fail("MatMul does not support element type " + std::string(name(n.dtype(n.input(0)))) +
                  "; use MatMulInteger");
  if (Value product = dequantised_product(n, n.input(0), n.input(1))) return product;
  if (Value product = packed_product(n, n.input(0), n.input(1))) return product;
  return n.emit<MatMulOp>({n.input(0), n.input(1)});
}

Value scale(Node& n, Value x, float factor) {
  return factor == 1 ? x : n.emit<MulOp>({x, n.scalar(factor, x)});
}

}  // namespace

Value gemm_of(Node& n) {
  Value a = n.input(0), b = n.input(1);
  if (n.rank(a) != 2 || n.rank(b) != 2)
    return n.fail("A and B must have rank 2, but are " + text_of(n.type(a)) + " and " +
                  text_of(n.type(b)));
  bool transpose_a = n.flag("transA", false), transpose_b = n.flag("transB", false);
  Value product;
  if (!transpose_a) product = dequantised_product(n, a, b, transpose_b);
  if (!transpose_a && !product) product = packed_product(n, a, b, transpose_b);
  if (!product)
    product = n.emit<MatMulOp>(
        {a, b}, {n.attr("transpose_a", transpose_a), n.attr("transpose_b", transpose_b)});
  product = scale(n, product, n.number("alpha", 1));
  float beta = n.number("beta", 1);
  if (!n.has_input(2) || beta == 0) return product;
  const Value bias = scale(n, n.input(2), beta);
  const Value y = n.emit<AddOp>({product, bias});
  if (const ScaledSums* sums = n.product_of(product))
    n.set_product(y, {sums->sums, sums->scale, bias});
  return y;
}

namespace {

Values gemm(Node& n) { return gemm_of(n); }

}  // namespace

const OpRows kContractionOps = {
    {"Det", 11, det},
    {"Gemm", 1, gemm},
    {"MatMul", 1, matmul},
};

}  // namespace scopevm::compiler::frontend
