// com.microsoft MoE and QMoE: mixtures of experts. Every expert is computed for every token, and
// the results of the experts that the router does not select have weight 0.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/elementwise/activation.h"
#include "compiler/import/ops/microsoft/block_quantised.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The weights and biases of a layer of all experts: f32 [experts, results, depth] and [experts,
// results]. Null if absent. Packed weights are u8 [experts * results, bytes].
struct ExpertLayer {
  DimExpr experts = 0;
  Value weights, bias;
  // Of packed weights: each `block` of them has a scale and a zero point. f32 [experts * results,
  // blocks]; `zeros` can be a scalar.
  Value scales, zeros;
  int64_t results = 0, depth = 0, bits = 0, block = 0;  // bits: 0 if the weights are not packed
};
// fc1, fc2 and fc3. fc3 is optional.
struct Experts {
  ExpertLayer up, down, gate;
};

// The product of x: [tokens, depth] and the rows [first, first + count) of packed weights.
Formula product_with_rows(Node& n, const Formula& x, const ExpertLayer& layer, int64_t first,
                          int64_t count) {
  const auto rows = [&](Value all) {
    if (n.has_failed() || n.rank(all) == 0) return all;
    return n.slice(all, {DimExpr(first), DimExpr(0)}, {DimExpr(count), n.dim(all, 1)});
  };
  return {n, n.emit<MatMulBlocksOp>({x, rows(layer.weights), rows(layer.scales), rows(layer.zeros)},
                                    {n.attr("depth", layer.depth), n.attr("bits", layer.bits),
                                     n.attr("block", layer.block)})};
}

Formula packed_product(Node& n, const Formula& x, const ExpertLayer& layer) {
  const int64_t experts = *layer.experts.as_constant(), results = layer.results;
  if (n.has_failed()) return x;
  if (x.shape()[0].is_constant(1)) {
    const DimExpr tokens = x.shape()[1];
    const Formula all = product_with_rows(n, x.element_at(0, 0), layer, 0, experts * results);
    return all.reshape({tokens, DimExpr(experts), DimExpr(results)}).transpose({1, 0, 2});
  }
  std::vector<Formula> parts;
  for (int64_t e = 0; e < experts; ++e)
    parts.push_back(product_with_rows(n, x.element_at(0, e), layer, e * results, results));
  return stack(parts, 0);
}

// x: [experts or 1, tokens, depth] -> [experts, tokens, results].
Formula applied(Node& n, const Formula& x, const ExpertLayer& layer) {
  const Formula y =
      layer.bits != 0
          ? packed_product(n, x, layer)
          : Formula(n, n.emit<MatMulOp>({x, layer.weights}, {n.attr("transpose_b", true)}));
  return layer.bias ? y + Formula(n, layer.bias).unsqueeze({1}) : y;
}

// (gate * sigmoid(alpha * gate)) * (linear + beta), with limits on both.
Formula swiglu(Node& n, Formula gate, Formula linear) {
  if (n.has_attribute("swiglu_limit")) {
    const double limit = n.number("swiglu_limit", 0);
    gate = min(gate, limit);
    linear = max(min(linear, limit), -limit);
  }
  const double alpha = n.number("activation_alpha", 1), beta = n.number("activation_beta", 0);
  return gate * (gate * alpha).unary<SigmoidOp>() * (linear + beta);
}

// The hidden values of the experts from the tokens x: [1, tokens, depth].
Formula hidden(Node& n, const Formula& x, const Experts& experts) {
  const std::string name = n.text("activation_type", "relu");
  Formula up = applied(n, x, experts.up);
  if (n.has_failed()) return up;
  if (name == "swiglu") {
    const int64_t fusion = integer_within(n, "swiglu_fusion", 0, 0, 2);
    if (fusion == 0) {
      if (!experts.gate.weights) return n.fail("swiglu requires fc3, or swiglu_fusion 1 or 2"), up;
      return swiglu(n, up, applied(n, x, experts.gate));
    }
    Dims pairs(up.shape());
    const DimExpr half = floordiv(pairs.back(), 2);
    n.require_equal(half * DimExpr(2), pairs.back(),
                    "fc1 has {1} results, expected an even number");
    pairs.back() = fusion == 1 ? half : DimExpr(2);
    pairs.push_back(fusion == 1 ? DimExpr(2) : half);
    const int64_t axis = fusion == 1 ? 3 : 2;
    Formula both = up.reshape(pairs);
    return swiglu(n, both.element_at(axis, 0), both.element_at(axis, 1));
  }
  Formula y = up;
  if (name == "relu")
    y = up.unary<ReluOp>();
  else if (name == "gelu")
    y = gelu_by_tanh(up);
  else if (name == "silu")
    y = up * up.unary<SigmoidOp>();
  else if (name != "identity")
    return n.fail("activation_type is " + runtime::quoted(name) +
                  ", expected relu, gelu, silu, swiglu or identity"),
           up;
  return experts.gate.weights ? y * applied(n, x, experts.gate) : y;
}

// The weight of each expert in the result of each token: [tokens, experts].
Formula routing(Node& n, const Formula& logits, Value weights, bool normalises) {
  const int64_t count = integer_within(n, "k", 1, 1, int64_t{1} << 20);
  if (n.has_failed()) return logits;
  n.require_at_least(n.dim(logits, 1), count, "there are {0} experts, expected at least k, {1}");
  if (n.has_failed()) return logits;
  // Of equal logits, ONNX Runtime selects those of the last experts, and TopK the first ones.
  mlir::Operation* top =
      n.emit(TopKOp::getOperationName(), {logits.reversed(1)},
             {n.attr("k", Dims{count}), n.attr("axis", int64_t{1}), n.attr("largest", true)});
  if (!top) return logits;
  Formula chosen(n, top->getResult(0));
  Formula index =
      number(n, n.dim(logits, 1) - DimExpr(1), DType::kI64) - Formula(n, top->getResult(1));
  const auto softmax = [&](const Formula& x) {
    return Formula(n, n.emit<SoftmaxOp>({x}, {n.attr("axis", int64_t{1})}));
  };
  if (weights) {
    chosen = {n, n.emit<GatherElementsOp>({weights, index}, {n.attr("axis", int64_t{1})})};
    if (normalises) chosen = chosen / Formula(n, n.reduce_sum(chosen, {1}));
  } else if (normalises) {
    chosen = softmax(chosen);
  } else {
    chosen = {n, n.emit<GatherElementsOp>({softmax(logits), index}, {n.attr("axis", int64_t{1})})};
  }
  Formula expert = iota(n, n.dim(logits, 1), DType::kI64);
  Formula is_chosen = index.unsqueeze({2}) == expert;  // [tokens, k, experts]
  Formula parts = select(is_chosen, chosen.unsqueeze({2}), 0.0);
  return {n, n.emit<ReduceSumOp>({parts}, {n.attr("axes", Ints{1}), n.attr("keep_dims", false)})};
}

// `router_weights` is the number of that input. If `normalises`, the weights of a token have the
// sum 1.
Values mixture(Node& n, const Experts& experts, size_t router_weights, bool normalises) {
  Formula x(n, n.input(0)), logits(n, n.input(1));
  if (n.has_failed() || !check_rank(n, x, "the input", 2, 3) ||
      !check_rank(n, logits, "router_probs", 2, 2))
    return Value();
  const Dims dims(x.shape());
  const DimExpr tokens = dims.size() == 3 ? dims[0] * dims[1] : dims[0];
  const DType dtype = x.dtype();
  logits = Formula(n, shaped(n, logits, "router_probs", {tokens, experts.up.experts}));
  Value given = shaped_input(n, router_weights, "router_weights", Dims(logits.shape()));
  if (given) given = n.cast(given, DType::kF32);
  Formula rows = x.as(DType::kF32).reshape({1, tokens, dims.back()});
  Formula results = applied(n, hidden(n, rows, experts), experts.down);  // [experts, tokens, depth]
  Formula weights =
      routing(n, logits.as(DType::kF32), given, normalises).transpose({1, 0}).unsqueeze({2});
  Formula y(n, n.emit<ReduceSumOp>({results * weights},
                                   {n.attr("axes", Ints{0}), n.attr("keep_dims", false)}));
  return y.as(dtype).reshape(dims);
}

ExpertLayer plain_layer(Node& n, size_t weights, size_t bias, llvm::StringRef name) {
  if (!n.has_input(weights)) return {};
  Value w = n.input(weights);
  if (!check_rank(n, w, name, 3, 3)) return {};
  Value b = shaped_input(n, bias, "a bias", {n.dim(w, 0), n.dim(w, 1)});
  return {n.dim(w, 0), n.cast(w, DType::kF32), b ? n.cast(b, DType::kF32) : Value()};
}

Values moe(Node& n) {
  Experts experts;
  experts.up = plain_layer(n, 2, 3, "fc1_experts_weights");
  experts.down = plain_layer(n, 4, 5, "fc2_experts_weights");
  experts.gate = plain_layer(n, 6, 7, "fc3_experts_weights");
  if (n.has_failed()) return Value();
  constexpr size_t kNoInput = 100;
  return mixture(n, experts, kNoInput, n.flag("normalize_routing_weights", false));
}

// --- QMoE. --------------------------------------------------------------------------------------

struct QuantisedInputs {
  size_t weights, scales, bias, zeros;
};

// One number for each block of the depth, as [experts, results, blocks, 1]. Without blocks, there
// is one number for each result.
Value along_depth(Node& n, Value x) {
  return n.unsqueeze(x, n.rank(x) == 2 ? Ints{2, 3} : Ints{3});
}

// The layer with packed weights. Its weights are null unless all operands are constants.
ExpertLayer packed_layer(Node& n, const QuantisedInputs& inputs, int64_t bits, const Dims& dims) {
  constexpr int64_t kMostExperts = 256;  // each of them is an op
  const Value packed = n.input(inputs.weights), scales = n.input(inputs.scales);
  const auto is_constant = [&](size_t i) { return n.input(i).getDefiningOp<ConstantOp>(); };
  if (!is_constant(inputs.weights) || !is_constant(inputs.scales)) return {};
  const int64_t experts = *dims[0].as_constant(), results = *dims[1].as_constant();
  const int64_t bytes = *n.dim(packed, 2).as_constant(), depth = bytes * 8 / bits;
  const int64_t blocks = dims.size() == 3 ? *dims[2].as_constant() : 1, rows = experts * results;
  if (experts > kMostExperts || rows == 0 || depth == 0) return {};
  Value zeros = n.scalar(static_cast<double>(1 << (bits - 1)), DType::kF32);
  if (n.has_input(inputs.zeros)) {
    auto given = n.input(inputs.zeros).getDefiningOp<ConstantOp>();
    if (!given) return {};
    Dims of_bytes = dims;
    of_bytes.back() = ceildiv(of_bytes.back(), 8 / bits);
    if (!check_dtype(n, given, "zero points", {DType::kU8})) return {};
    shaped(n, given, "zero points", of_bytes);
    if (n.has_failed()) return {};
    const bool has_blocks = dims.size() == 3;
    zeros = n.reshape(
        unpacked_constant(n, given.getValue(),
                          {has_blocks ? rows : experts, has_blocks ? blocks : results}, bits),
        {rows, blocks});
  }
  return {.experts = dims[0],
          .weights = n.reshape(packed, {rows, bytes}),
          .bias = {},
          .scales = n.reshape(n.cast(scales, DType::kF32), {rows, blocks}),
          .zeros = zeros,
          .results = results,
          .depth = depth,
          .bits = bits,
          .block = depth / blocks};
}

ExpertLayer quantised_layer(Node& n, const QuantisedInputs& inputs) {
  if (!n.has_input(inputs.weights)) return {};
  const int64_t bits = n.integer("expert_weight_bits", 4), block = n.integer("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return n.fail("expert_weight_bits is " + llvm::Twine(bits) + ", expected 2, 4 or 8"),
           ExpertLayer();
  Value packed = n.input(inputs.weights), scales = n.input(inputs.scales);
  if (!check_dtype(n, packed, "the weights of experts", {DType::kU8}) ||
      !check_rank(n, packed, "the weights of experts", 3, 3))
    return {};
  const DimExpr experts = n.dim(packed, 0), results = n.dim(packed, 1);
  const DimExpr depth = n.dim(packed, 2) * DimExpr(8 / bits);
  if (block < 0 || block > (int64_t{1} << 20))
    return n.fail("block_size is " + llvm::Twine(block) + ", expected 0 to 1048576"), ExpertLayer();
  const DimExpr blocks = block > 0 ? floordiv(depth, block) : DimExpr(1);
  if (block > 0)
    n.require_equal(blocks * DimExpr(block), depth, "{1} weights are not whole blocks");
  Dims dims = {experts, results};
  if (block > 0) dims.push_back(blocks);
  scales = shaped(n, scales, "scales", dims);
  if (n.has_failed()) return {};
  Value bias = shaped_input(n, inputs.bias, "a bias", {experts, results});
  if (bias) bias = n.cast(bias, DType::kF32);
  ExpertLayer layer = packed_layer(n, inputs, bits, dims);
  layer.bias = bias;
  if (layer.weights || n.has_failed()) return layer;
  scales = along_depth(n, n.cast(scales, DType::kF32));
  Formula q = Formula(n, unpack_bits(n, packed, bits)).as(DType::kF32);
  q = q.reshape({experts, results, blocks, block > 0 ? DimExpr(block) : depth});
  if (n.has_input(inputs.zeros) && !n.has_failed()) {
    Dims of_bytes = dims;
    of_bytes.back() = ceildiv(of_bytes.back(), 8 / bits);
    Value zeros = n.input(inputs.zeros);
    if (!check_dtype(n, zeros, "zero points", {DType::kU8})) return {};
    zeros = unpack_bits(n, shaped(n, zeros, "zero points", of_bytes), bits);
    if (n.has_failed()) return {};
    zeros = n.slice(zeros, Dims(dims.size(), DimExpr(0)), dims);
    q = q - Formula(n, along_depth(n, n.cast(zeros, DType::kF32)));
  } else {
    q = q - static_cast<double>(1 << (bits - 1));
  }
  return {experts, (q * Formula(n, scales)).reshape({experts, results, depth}), bias};
}

Values qmoe(Node& n) {
  if (n.text("quant_type", "int") != "int")
    return n.unsupported("quant_type is " + runtime::quoted(n.text("quant_type", "")) +
                         "; only int is supported");
  if (n.integer("weights_prepacked", -1) == 1)
    return n.unsupported("weights_prepacked = 1 is not supported");
  Experts experts;
  experts.up = quantised_layer(n, {2, 3, 4, 11});
  experts.down = quantised_layer(n, {5, 6, 7, 12});
  experts.gate = quantised_layer(n, {8, 9, 10, 13});
  if (n.has_failed()) return Value();
  // ONNX Runtime normalises without the attribute, too, unless router_weights are given.
  const bool normalises = !n.has_input(14) || n.flag("normalize_routing_weights", false);
  return mixture(n, experts, 14, normalises);
}

}  // namespace

const OpRows kMixtureOps = {
    {"MoE", 1, moe,
     OpSignature{"input router_probs fc1_experts_weights fc1_experts_bias? fc2_experts_weights "
                 "fc2_experts_bias? fc3_experts_weights? fc3_experts_bias?",
                 "activation_alpha activation_beta activation_type k normalize_routing_weights "
                 "swiglu_fusion swiglu_limit use_sparse_mixer"}},
    {"QMoE", 1, qmoe,
     OpSignature{
         "input router_probs fc1_experts_weights fc1_scales fc1_experts_bias? "
         "fc2_experts_weights fc2_scales fc2_experts_bias? fc3_experts_weights? fc3_scales? "
         "fc3_experts_bias? fc1_zero_points? fc2_zero_points? fc3_zero_points? "
         "router_weights?",
         "activation_alpha activation_beta activation_type block_size expert_weight_bits k "
         "normalize_routing_weights quant_type swiglu_fusion swiglu_limit "
         "use_sparse_mixer weights_prepacked"}},
};

}  // namespace scopevm::compiler::frontend
