// Tests of the property test itself. Equal seeds give equal graphs, whose assembly can be parsed. A
// wrong element is detected, and an error of the compiler is reported. A failing graph shrinks to
// the failing op.
#include <gtest/gtest.h>

#include <set>

#include "compiler/graph/control/tuples.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/named_dims.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/passes/context.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tests/property/random/outline.h"
#include "tests/property/random/tuples.h"
#include "tests/property/shrink.h"

namespace scopevm::compiler::property {
namespace {

std::unique_ptr<mlir::MLIRContext> quiet_context() {
  auto context = make_context();
  context->disableMultithreading();  // a check calls fork(), which would lose the threads
  return context;
}

int count_of_muls(const GraphCase& graph) {
  int count = 0;
  graph.module.get()->walk([&](graph::MulOp) { ++count; });
  return count;
}

Array of_floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  Array array = make_array(DType::kF32, std::move(dims));
  for (size_t i = 0; i < values.size(); ++i) array.elements[i].value = values[i];
  return array;
}

// Shrinking does not move ops out of regions, and it keeps symbols that are read from values. The
// shrink test therefore skips such graphs: they can exceed its size limits.
bool has_control_flow(const GraphCase& graph) {
  bool has = false;
  graph.module.get()->walk([&](mlir::Operation* op) {
    has = has || mlir::isa<graph::IfOp, graph::LoopOp, graph::ReadDimsOp>(op);
  });
  return has;
}

std::set<std::string, std::less<>> dims_of(const GraphCase& graph) {
  std::set<std::string, std::less<>> dims;
  for (const Request& request : graph.requests)
    for (const auto& [name, size] : request.symbols) dims.insert(name);
  return dims;
}

// The names of the ops that take or return tuples, except the ops on tuples.
std::set<std::string> ops_with_tuples(mlir::ModuleOp module) {
  std::set<std::string> ops;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<graph::TupleOp, graph::TupleGetOp>(op)) return;
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::TupleType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<mlir::TupleType>))
      ops.insert(op->getName().getStringRef().str());
  });
  return ops;
}

GraphCase parsed(const char* text, mlir::MLIRContext& context) {
  GraphCase graph;
  graph.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return graph;
}

constexpr const char kSum[] = R"(
func.func @main(%x: !sv.tensor<f32[n]>, %y: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.add %x, %y : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
})";

TEST(RandomGraph, EqualSeedsGiveEqualGraphs) {
  auto one = quiet_context(), other = quiet_context();
  for (uint64_t seed = 1; seed < 6; ++seed)
    EXPECT_EQ(random_graph(seed, *one).text(), random_graph(seed, *other).text());
  EXPECT_NE(random_graph(1, *one).text(), random_graph(2, *one).text());
}

TEST(RandomGraph, AssemblyRoundTrips) {
  auto context = quiet_context();
  for (uint64_t seed = 1; seed < 20; ++seed) {
    GraphCase graph = random_graph(seed, *context, 30);
    // Without this object, the parser assumes that named dims are at least 1.
    const graph::ZeroDims zero_dims(dims_of(graph));
    GraphCase read = parsed(graph.text().c_str(), *context);
    ASSERT_TRUE(read.module) << graph.text();
    EXPECT_EQ(read.text(), graph.text());
  }
}

// Values pass every construct in tuples. The graph with tuples is valid, also after its assembly
// has been parsed, and without them it is the original graph.
TEST(RandomGraph, FlattenedTuplesLeaveTheGraph) {
  auto context = quiet_context();
  std::set<std::string> ops;
  for (uint64_t seed = 1; seed < 150; ++seed) {
    const GraphCase random = random_graph(seed, *context, 30);
    const graph::ZeroDims zero_dims(dims_of(random));
    const std::string text = outlined(random);
    GraphCase graph = parsed(text.c_str(), *context);
    add_tuples(*graph.module, seed);
    ASSERT_TRUE(succeeded(mlir::verify(*graph.module))) << graph.text();
    ops.merge(ops_with_tuples(*graph.module));
    GraphCase read = parsed(graph.text().c_str(), *context);
    ASSERT_TRUE(read.module) << graph.text();
    EXPECT_EQ(read.text(), graph.text());
    graph::flatten_tuples(*read.module);
    EXPECT_TRUE(succeeded(mlir::verify(*read.module))) << read.text();
    EXPECT_EQ(read.text(), text) << graph.text();
  }
  for (const char* op :
       {"func.return", "sv.call", "sv.call_closure", "sv.closure", "sv.if", "sv.loop", "sv.yield"})
    EXPECT_TRUE(ops.contains(op)) << op;
}

TEST(Check, FindsAnElementBeyondItsError) {
  Array expected = of_floats({2}, {1, 2});
  float right[] = {1, 2}, wrong[] = {1, 2.001f};
  EXPECT_EQ(first_difference(expected, DType::kF32, right), "");
  EXPECT_NE(first_difference(expected, DType::kF32, wrong), "");
  expected.elements[1].error = 0.01;
  EXPECT_EQ(first_difference(expected, DType::kF32, wrong), "");
}

TEST(Check, AgreesWithTheCompiler) {
  auto context = quiet_context();
  GraphCase graph = parsed(kSum, *context);
  graph.requests = {{{{"n", 2}}, {of_floats({2}, {1, 2}), of_floats({2}, {3, 4})}},
                    {{{"n", 0}}, {of_floats({0}, {}), of_floats({0}, {})}}};
  Verdict verdict = check_graph(graph);
  EXPECT_EQ(verdict.finding, Finding::kAgrees) << verdict.detail;
  EXPECT_EQ(verdict.parts, 2);  // of the request with 2 rows
  EXPECT_EQ(verdict.compared, 2 + 2);
  EXPECT_EQ(verdict.skipped, 0);
}

// The compiler rejects the name of the CPU.
TEST(Check, ReportsAnErrorOfTheCompiler) {
  auto context = quiet_context();
  GraphCase graph = parsed(kSum, *context);
  graph.requests = {{{{"n", 2}}, {of_floats({2}, {1, 2}), of_floats({2}, {3, 4})}}};
  auto check = [](const GraphCase& candidate) { return check_graph(candidate); };
  ASSERT_EQ(check(graph).finding, Finding::kAgrees);
  CheckOptions options;
  options.cpu = "no-such-cpu";
  EXPECT_NE(check_graph(graph, options).finding, Finding::kAgrees);
}

TEST(Shrink, KeepsOnlyTheFailingOp) {
  auto context = quiet_context();
  Check check = [](const GraphCase& graph) {
    Verdict verdict;
    if (count_of_muls(graph) > 0) verdict = {Finding::kMismatch, "a product"};
    return verdict;
  };
  int shrunk_graphs = 0;
  for (uint64_t seed = 1; seed < 300; ++seed) {
    GraphCase graph = random_graph(seed, *context, 30);
    if (has_control_flow(graph)) continue;
    Verdict verdict = check(graph);
    if (verdict.finding == Finding::kAgrees || graph.op_count() < 10) continue;
    Shrunk shrunk = shrink(graph, verdict, check);
    EXPECT_EQ(count_of_muls(shrunk.graph), 1);
    EXPECT_LE(shrunk.graph.op_count(), 3) << shrunk.graph.text();
    EXPECT_EQ(shrunk.graph.requests.size(), 1u);
    for (const Request& request : shrunk.graph.requests)
      EXPECT_TRUE(interpret(shrunk.graph.main(), request.inputs, request.symbols).ok());
    ++shrunk_graphs;
  }
  EXPECT_GT(shrunk_graphs, 3);
}

}  // namespace
}  // namespace scopevm::compiler::property
