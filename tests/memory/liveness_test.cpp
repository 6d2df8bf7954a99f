// Liveness: the buffer of each value, and its lifespan.
#include <gtest/gtest.h>

#include "compiler/memory/liveness.h"
#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

const DimExpr n = DimExpr::symbol("n");

// The buffer of a value as "lower-upper:bytes", or "-" if the value has no buffer.
std::string life(const Liveness& liveness, ValueId id) {
  const std::optional<BufferIndex> buffer = liveness.buffer_of_value[id];
  if (!buffer) return "-";
  const Liveness::Lifespan& l = liveness.buffers[*buffer];
  return std::to_string(l.lower) + "-" + std::to_string(l.upper) + ":" + l.bytes.str();
}

TEST(Liveness, FromTheWritingStepToTheLastReader) {
  Function f;
  ValueId x = add_input(f, {n});
  ValueId a = add_step(f, {x}, {16, n});
  ValueId b = add_step(f, {a}, {16, n});
  ValueId c = add_step(f, {a, b}, {16, n});
  ValueId unused = add_step(f, {c}, {16, n});
  add_output(f, add_step(f, {c}, {n}));
  Liveness liveness = find_lifespans(kHost, f);
  EXPECT_EQ(life(liveness, x), "-");
  EXPECT_EQ(life(liveness, a), "0-3:64*n");
  EXPECT_EQ(life(liveness, b), "1-3:64*n");
  EXPECT_EQ(life(liveness, c), "2-5:64*n");
  EXPECT_EQ(life(liveness, unused), "3-4:64*n");
  EXPECT_EQ(life(liveness, f.outputs[0]), "-") << "a result has storage of its own";
}

TEST(Liveness, ViewsKeepTheirBaseAlive) {
  Function f;
  ValueId a = add_step(f, {add_input(f, {n})}, {16, n});
  ValueId view = add_view(f, add_view(f, a, {n, 16}), {n * 16});
  ValueId b = add_step(f, {f.inputs[0]}, {16});
  add_output(f, add_step(f, {view, b}, {n}));
  Liveness liveness = find_lifespans(kHost, f);
  EXPECT_EQ(life(liveness, a), "0-3:64*n");
  EXPECT_EQ(liveness.buffer_of_value[view], liveness.buffer_of_value[a]);
}

TEST(Liveness, ResultThroughAViewHasItsOwnStorage) {
  Function f;
  ValueId a = add_step(f, {add_input(f, {n})}, {16, n});
  add_output(f, add_view(f, a, {n * 16}));
  EXPECT_EQ(life(find_lifespans(kHost, f), a), "-");
  EXPECT_TRUE(output_roots(f)[a]);
}

TEST(Liveness, TemporariesLiveOnlyInTheirStep) {
  Function f;
  add_step(f, {add_input(f, {n})}, {16, n});
  add_output(f, add_step(f, {{1}}, {n}));
  launch(f.steps[1]).temporaries = {{n, false, {}}, {n, true, {}}};
  launch(f.steps[1]).grid = n;
  Liveness liveness = find_lifespans(kHost, f);
  ASSERT_EQ(liveness.buffer_of_temporary[1].size(), 2u);
  const Liveness::Lifespan& one = liveness.buffers[liveness.buffer_of_temporary[1][0]];
  const Liveness::Lifespan& each = liveness.buffers[liveness.buffer_of_temporary[1][1]];
  EXPECT_EQ(one.lower, 1);
  EXPECT_EQ(one.upper, 2);
  EXPECT_EQ(one.bytes, 64 * floordiv(n + 63, 64));
  EXPECT_EQ(each.bytes, one.bytes * DimExpr::symbol(kThreadsSymbol));
}

TEST(Liveness, UnsplitKernelsNeedTheScratchOfOneWorker) {
  Function f;
  add_output(f, add_step(f, {add_input(f, {n})}, {n}));
  launch(f.steps[0]).temporaries = {{100, true, {}}};
  auto bytes_of = [&](DimExpr grid, DimExpr grain) {
    launch(f.steps[0]).grid = grid;
    launch(f.steps[0]).grain = grain;
    return find_lifespans(kHost, f).buffers.front().bytes;
  };
  EXPECT_EQ(bytes_of(8, 8), DimExpr(128));
  EXPECT_EQ(bytes_of(9, 8), 128 * DimExpr::symbol(kThreadsSymbol));
  EXPECT_EQ(bytes_of(n, n + 1), DimExpr(128));
}

class InPlace : public ::testing::Test {
 protected:
  // Appends a = f(x) and b = g(a), where b may reuse the bytes of a.
  void make(std::vector<DimExpr> of_a, std::vector<DimExpr> of_b) {
    a_ = add_step(f_, {add_input(f_, {n})}, of_a);
    b_ = add_step(f_, {a_}, of_b);
    launch(f_.steps[1]).in_place = {{0, 0}};
  }
  bool is_shared() {
    if (f_.outputs.empty()) add_output(f_, add_step(f_, {b_}, {1}));
    Liveness liveness = find_lifespans(kHost, f_);
    return liveness.buffer_of_value[a_] &&
           liveness.buffer_of_value[a_] == liveness.buffer_of_value[b_];
  }
  Function f_;
  ValueId a_, b_;
};

TEST_F(InPlace, SharesIfTheOperandDies) {
  make({n, 4}, {2, n, 2});
  EXPECT_TRUE(is_shared());
  Liveness liveness = find_lifespans(kHost, f_);
  EXPECT_EQ(life(liveness, a_), "0-3:" + round_up(16 * n, 64).str());
}

TEST_F(InPlace, NotIfSizesAreNotProvedEqual) {
  make({n, n}, {n, 4});
  EXPECT_FALSE(is_shared());
}

TEST_F(InPlace, NotIfTheOperandIsReadLater) {
  make({n}, {n});
  add_output(f_, add_step(f_, {a_, b_}, {1}));
  EXPECT_FALSE(is_shared());
}

TEST_F(InPlace, NotIfAViewOfTheOperandIsReadLater) {
  make({n}, {n});
  add_output(f_, add_step(f_, {add_view(f_, a_, {1, n}), b_}, {1}));
  EXPECT_FALSE(is_shared());
}

TEST_F(InPlace, NotIfTheStepReadsTheOperandTwice) {
  make({n}, {n});
  f_.steps[1].operands.push_back(add_view(f_, a_, {1, n}));
  EXPECT_FALSE(is_shared());
}

TEST_F(InPlace, OneResultSharesTheOperand) {
  make({n}, {n});
  launch(f_.steps[1]).in_place.push_back({1, 0});
  const ValueId second = f_.values.next_index();
  f_.values.push_back({.name = "second", .shape = {n}});
  f_.steps[1].results.push_back(second);
  add_output(f_, add_step(f_, {b_, second}, {1}));
  EXPECT_TRUE(is_shared());
  Liveness liveness = find_lifespans(kHost, f_);
  EXPECT_NE(liveness.buffer_of_value[second], liveness.buffer_of_value[a_]);
}

TEST_F(InPlace, NotOverAnInput) {
  b_ = add_step(f_, {add_input(f_, {n})}, {n});
  launch(f_.steps[0]).in_place = {{0, 0}};
  add_output(f_, add_step(f_, {b_}, {1}));
  EXPECT_EQ(find_lifespans(kHost, f_).buffer_of_value[{0}], std::nullopt);
  EXPECT_TRUE(find_lifespans(kHost, f_).buffer_of_value[b_]);
}

}  // namespace
}  // namespace scopevm::compiler::memory
