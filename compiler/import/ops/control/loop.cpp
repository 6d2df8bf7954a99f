// ONNX Loop.
#include "compiler/import/ops/control/results.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

// A trip count of at least this value is treated as unlimited.
constexpr int64_t kNoLimit = int64_t{1} << 40;

// Gathered parts must have the same shape in all iterations. If the body's graph declares a number
// for a runtime-defined dim, the part is reshaped to that number. The reshape checks the dim in
// each call.
Value part_as_declared(Node& n, Value part, const onnx::ValueInfoProto& declared) {
  if (!mlir::isa<graph::TensorType>(part.getType())) return part;
  const auto& shape = declared.type().tensor_type().shape();
  if (!declared.type().tensor_type().has_shape() || shape.dim_size() != n.rank(part)) return part;
  Dims dims(n.shape(part));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto& dim = shape.dim(static_cast<int>(axis));
    // Exporters write -1 for an unknown dim.
    if (is_runtime_defined(dims[axis]) && dim.has_dim_value() && dim.dim_value() >= 0)
      dims[axis] = dim.dim_value();
  }
  return n.reshape(part, dims);
}

// The most iterations. No value if there is no limit, or after an error.
std::optional<DimExpr> trip_count(Node& n) {
  std::optional<DimExpr> most;
  if (n.has_input(0)) {
    auto count = n.signed_dims_of(n.input(0), "the trip count");
    if (!n.has_failed() && count.size() != 1)
      n.fail("the trip count must have 1 element, given " + std::to_string(count.size()));
    if (n.has_failed()) return std::nullopt;
    most = max(count[0].positive, 0);
    if (most->is_constant() && *most->as_constant() >= kNoLimit) most.reset();
  }
  if (n.has_input(1)) {
    Dims start = n.dims_of(n.input(1), "the condition");
    if (!n.has_failed() && start.size() != 1)
      n.fail("the condition must have 1 element, given " + std::to_string(start.size()));
    if (n.has_failed()) return std::nullopt;
    // The initial condition is 0 or 1. If it is 0, the loop runs no iteration.
    if (!start[0].is_constant(1)) most = most.value_or(kNoLimit) * start[0];
  }
  return most;
}

Result<Iteration> import_body(Node& n, const onnx::GraphProto& body, DimExpr index,
                              mlir::ValueRange carried) {
  Value yes = n.constant({}, DType::kBool, {1});
  llvm::SmallVector<Value> inputs = {n.dims_value({index}, /*is_scalar=*/true), yes};
  inputs.append(carried.begin(), carried.end());
  if (n.has_failed()) return n.status();
  // The body returns its condition first. Both the node and the body have the carried values from
  // input 2 on.
  SCOPEVM_ASSIGN_OR_RETURN(
      llvm::SmallVector<Value> outputs,
      n.import_body(body, inputs, {.first_output = 1, .first_graph_input = 2, .first_input = 2}));
  const size_t first_part = 1 + carried.size();
  if (outputs.size() < first_part)
    n.fail("its body has " + runtime::count_text(outputs.size(), "output") +
           ", expected at least " + std::to_string(first_part) +
           ": the condition and one for each carried value");
  else if (!mlir::isa<graph::TensorType>(outputs[0].getType()))
    n.fail("the condition returned by its body is a sequence, expected a tensor");
  if (n.has_failed()) return n.status();
  Iteration iteration;
  // Without an initial condition, ONNX ignores the condition that the body returns. A condition
  // that is always true is dropped, because the number of iterations of a loop with a condition is
  // unknown.
  if (n.has_input(1) && !n.is_known(outputs[0], 1)) iteration.condition = n.reshape(outputs[0], {});
  iteration.carried.assign(outputs.begin() + 1, outputs.begin() + first_part);
  for (size_t i = first_part; i < outputs.size(); ++i)
    iteration.parts.push_back(part_as_declared(n, outputs[i], body.output(static_cast<int>(i))));
  if (n.has_failed()) return n.status();
  return iteration;
}

// The inputs are the trip count, the initial condition and the initial carried values. The first
// two are optional.
Values loop(Node& n) {
  const onnx::GraphProto* body = n.graph("body");
  llvm::SmallVector<Value> initial;
  for (size_t i = 2; i < n.input_count(); ++i) initial.push_back(n.any_input(i));
  const std::optional<DimExpr> count = trip_count(n);
  if (n.has_failed()) return {};
  return subgraph_results(n, n.control_flow().loop(count, initial, [&](DimExpr i, auto carried) {
    return import_body(n, *body, i, carried);
  }));
}

}  // namespace

const OpRows kLoopOps = {{"Loop", 1, loop, std::nullopt, /*takes_lists=*/true}};

}  // namespace scopevm::compiler::frontend
