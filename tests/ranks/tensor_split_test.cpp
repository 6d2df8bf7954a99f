// Compares the choice of ways with all ways of small random graphs, and the axes of reshapes with
// the positions of their elements.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "compiler/passes/context.h"
#include "compiler/split/op_work.h"
#include "compiler/split/tensor/reshape_axes.h"
#include "compiler/split/tensor/search.h"
#include "compiler/split/tensor/selection.h"
#include "mlir/IR/Builders.h"
#include "tests/property/random/random_graph.h"

namespace scopevm::compiler::split {
namespace {

// The forms of the values of a function after some of its ops, and the seconds until then.
struct Progress {
  llvm::DenseMap<mlir::Value, Forms> forms;
  double seconds = 0;

  llvm::ArrayRef<Form> forms_of(mlir::Value value) const {
    static const Form kWhole = Form::whole();
    const auto found = forms.find(value);
    return found == forms.end() ? llvm::ArrayRef(kWhole) : llvm::ArrayRef(found->second);
  }

  void convert(mlir::Value value, const Form& form, const Group& group) {
    if (is_constant(value)) return;
    Forms& own = forms.try_emplace(value, Forms{Form::whole()}).first->second;
    double least = std::numeric_limits<double>::infinity();
    for (const Form& from : own)
      least = std::min(least, group.seconds(from, form, bytes_of(value)));
    seconds += least;
    if (!llvm::is_contained(own, form)) own.push_back(form);
    std::sort(own.begin(), own.end());
  }

  void run(mlir::Operation* op, const Way& way, const Group& group) {
    if (op->getNumResults() == 1 && is_constant(op->getResult(0))) return;
    seconds += seconds_of(op) / (way.divides() ? group.ranks() : 1);
    if (way.is_merged) seconds += seconds_to_merge(op, group);
    for (const auto [operand, form] : llvm::zip_equal(op->getOperands(), way.operands))
      convert(operand, form, group);
    for (mlir::Region& region : op->getRegions())
      region.walk([&](mlir::Operation* inner) {
        for (mlir::Value operand : inner->getOperands())
          if (operand.getParentBlock() == op->getBlock()) convert(operand, Form::whole(), group);
      });
    for (const auto [result, form] : llvm::zip_equal(op->getResults(), way.results))
      forms[result] = {form};
  }
};

// The least seconds of all ways of the ops from `op` on.
double least_seconds(mlir::Operation* op, const Progress& before, const Borders& borders,
                     const llvm::DenseSet<mlir::Value>& weights, const Group& group,
                     int64_t& left) {
  if (op == nullptr) return before.seconds;
  if (--left < 0) return 0;
  double least = std::numeric_limits<double>::infinity();
  const auto forms_of = [&](mlir::Value value) { return before.forms_of(value); };
  for (const Way& way : ways_of(op, forms_of, borders, weights, group.ranks())) {
    Progress after = before;
    after.run(op, way, group);
    least = std::min(least, least_seconds(op->getNextNode(), after, borders, weights, group, left));
  }
  return least;
}

TEST(TensorSplit, TakesTheLeastSecondsOfAllWays) {
  constexpr int64_t kMostSteps = 300'000;
  const std::unique_ptr<mlir::MLIRContext> owner = make_context();
  mlir::MLIRContext& context = *owner;
  int compared = 0, divided = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const property::GraphCase graph = property::random_graph(seed, context, 5);
    mlir::func::FuncOp main = graph.main();
    const Group group(2 + static_cast<int>(seed % 3),
                      {.bytes_per_second = 1e13, .latency_seconds = 1e-9});
    const Borders borders(main.getBody().front());
    const llvm::DenseSet<mlir::Value> weights = weights_of(main, group.ranks());
    int64_t left = kMostSteps;
    const double least =
        least_seconds(&main.getBody().front().front(), Progress(), borders, weights, group, left);
    if (left < 0) continue;
    ++compared;
    Progress chosen;
    const std::vector<Way> ways = choose_ways(main.getBody().front(), weights, group);
    bool divides = false;
    for (auto [op, way] : llvm::zip_equal(main.getBody().front(), ways)) {
      chosen.run(&op, way, group);
      divides = divides || way.divides();
    }
    divided += divides ? 1 : 0;
    EXPECT_NEAR(chosen.seconds, least, 1e-9 * least) << "seed " << seed << "\n" << graph.text();
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(divided, 50);
}

// By position in row-major order: the part of `parts` to which an element belongs.
std::vector<int64_t> parts_of_elements(llvm::ArrayRef<int64_t> dims, int64_t axis, int64_t segments,
                                       int64_t parts) {
  int64_t inner = 1, count = 1;
  for (const auto [i, dim] : llvm::enumerate(dims)) {
    count *= dim;
    if (static_cast<int64_t>(i) > axis) inner *= dim;
  }
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t segment = dims[axis] / segments;
    const int64_t at = i / inner % dims[axis] % segment;
    all.push_back(at * parts / segment);
  }
  return all;
}

TEST(TensorSplit, AxesOfReshapesHaveEqualParts) {
  const std::unique_ptr<mlir::MLIRContext> owner = make_context();
  mlir::MLIRContext& context = *owner;
  mlir::OpBuilder builder(&context);
  std::mt19937 random(11);
  int64_t pairs = 0, in_segments = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    // Two groupings of the same factors.
    llvm::SmallVector<int64_t> factors, from, to;
    for (size_t i = 1 + random() % 5; i > 0; --i) factors.push_back(1 + random() % 6);
    for (llvm::SmallVector<int64_t>* dims : {&from, &to})
      for (const int64_t factor : factors)
        if (dims->empty() || random() % 2 == 0)
          dims->push_back(factor);
        else
          dims->back() *= factor;
    const auto shape = [](llvm::ArrayRef<int64_t> dims) {
      return llvm::SmallVector<DimExpr>(dims.begin(), dims.end());
    };
    const mlir::Location location = builder.getUnknownLoc();
    const auto type =
        graph::TensorType::get(&context, DType::kF32, shape(from), graph::PlaceAttr());
    mlir::Block block;
    builder.setInsertionPointToStart(&block);
    auto reshape = builder.create<graph::ReshapeOp>(location, block.addArgument(type, location),
                                                    graph::DimsAttr::get(&context, shape(to)));
    for (int64_t parts = 2; parts <= 4; ++parts)
      for (const ReshapedAxis& pair : reshaped_axes(reshape, parts)) {
        ++pairs;
        in_segments += pair.from_segments != pair.to_segments ? 1 : 0;
        EXPECT_EQ(parts_of_elements(from, pair.from, pair.from_segments, parts),
                  parts_of_elements(to, pair.to, pair.to_segments, parts));
      }
  }
  EXPECT_GT(pairs, 3000);
  EXPECT_GT(in_segments, 300);
}

}  // namespace
}  // namespace scopevm::compiler::split
