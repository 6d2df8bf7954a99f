// Compares gather, gather_elements, gather_nd, scatter_elements and scatter_nd with index
// arithmetic.
#include <algorithm>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

// The position that a gather kernel reads for `index`: a negative index counts from the end, then
// the position is clamped to the axis.
int64_t resolved(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
}

TEST(Gather, SlicesAlongEveryAxis) {
  const Index x_dims = {4, 5, 37};
  for (const std::string& cpu : kCpus)
    for (size_t axis = 0; axis < 3; ++axis)
      for (DType dtype : {DType::kF32, DType::kI8, DType::kI64}) {
        const std::vector<std::string> names = {"a", "b", "c"};
        std::string out;
        for (size_t d = 0; d < 3; ++d)
          out += (d ? ", " : "") + (d == axis ? std::string("i, 2") : names[d]);
        std::string element_type(name(dtype));
        CompiledOp op({"gather",
                       "axis = " + std::to_string(axis),
                       {element_type + "[a, b, c]", "i64[i, 2]"},
                       {element_type + "[" + out + "]"}},
                      cpu);
        Array x = counting_bytes(dtype, x_dims);
        Array indices = of_i64({3, 2}, {0, 3, -1, 1, 99, -99});
        Index y(x_dims);
        y[axis] = 3;
        y.insert(y.begin() + static_cast<int64_t>(axis) + 1, 2);
        auto outputs = op({x, indices});
        ASSERT_EQ(outputs.size(), 1u);
        expect_same(outputs[0], rearranged(x, y, [&](const Index& i) {
                      Index from;
                      for (size_t d = 0; d < axis; ++d) from.push_back(i[d]);
                      from.push_back(resolved(element<int64_t>(indices, {i[axis], i[axis + 1]}),
                                              x_dims[axis]));
                      for (size_t d = axis + 2; d < i.size(); ++d) from.push_back(i[d]);
                      return from;
                    }));
      }
}

TEST(Gather, ScalarIndexAndEmptyShapes) {
  CompiledOp op({"gather", "axis = 1", {"f32[a, b, c]", "i32[]"}, {"f32[a, c]"}});
  Array minus_two = Array::of<int32_t>(DType::kI32, {}, {-2});
  for (const Index& dims : {Index{2, 3, 4}, {0, 3, 4}, {2, 3, 0}, {2, 2, 70}}) {
    Array x = counting_bytes(DType::kF32, dims);
    auto outputs = op({x, minus_two});
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0], rearranged(x, {dims[0], dims[2]}, [&](const Index& i) {
                  return Index{i[0], dims[1] - 2, i[1]};
                }));
  }
  // The source is empty: the result is zero, and nothing is read.
  Array empty = counting_bytes(DType::kF32, {2, 0, 4});
  auto outputs = op({empty, minus_two});
  ASSERT_EQ(outputs.size(), 1u);
  expect_same(outputs[0], rearranged(empty, {2, 4}, [](const Index&) { return std::nullopt; }));
}

TEST(GatherElements, EveryAxis) {
  const Index x_dims = {3, 4, 6}, i_dims = {2, 3, 5};
  std::vector<int64_t> data;
  for (int64_t i = 0; i < count(i_dims); ++i) data.push_back(i * 7 % 6 - 3);
  for (const std::string& cpu : kCpus)
    for (size_t axis = 0; axis < 3; ++axis) {
      CompiledOp op({"gather_elements",
                     "axis = " + std::to_string(axis),
                     {"u16[a, b, c]", "i64[i, j, k]"},
                     {"u16[i, j, k]"}},
                    cpu);
      Array x = counting_bytes(DType::kU16, x_dims), indices = of_i64(i_dims, data);
      auto outputs = op({x, indices});
      ASSERT_EQ(outputs.size(), 1u);
      expect_same(outputs[0], rearranged(x, i_dims, [&](const Index& i) {
                    Index from(i);
                    from[axis] = resolved(element<int64_t>(indices, i), x_dims[axis]);
                    return from;
                  }));
    }
}

TEST(GatherNd, TuplesWithAndWithoutBatch) {
  for (const std::string& cpu : kCpus) {
    Array x = counting_bytes(DType::kF32, {2, 3, 4, 20});
    CompiledOp plain(
        {"gather_nd", "batch_dims = 0", {"f32[a, b, c, d]", "i64[n, 2]"}, {"f32[n, c, d]"}}, cpu);
    Array tuples = of_i64({3, 2}, {0, 1, 1, -1, -2, 0});
    auto outputs = plain({x, tuples});
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0], rearranged(x, {3, 4, 20}, [&](const Index& i) {
                  return Index{resolved(element<int64_t>(tuples, {i[0], 0}), 2),
                               resolved(element<int64_t>(tuples, {i[0], 1}), 3), i[1], i[2]};
                }));
    CompiledOp batched(
        {"gather_nd", "batch_dims = 1", {"f32[a, b, c, d]", "i64[a, m, 3]"}, {"f32[a, m]"}}, cpu);
    Array in_batch = of_i64({2, 2, 3}, {0, 1, 19, 2, 3, 0, 1, -1, 5, 0, 0, 7});
    outputs = batched({x, in_batch});
    ASSERT_EQ(outputs.size(), 1u);
    const Index sizes = {3, 4, 20};
    expect_same(outputs[0], rearranged(x, {2, 2}, [&](const Index& i) {
                  Index from = {i[0]};
                  for (int64_t t = 0; t < 3; ++t)
                    from.push_back(resolved(element<int64_t>(in_batch, {i[0], i[1], t}), sizes[t]));
                  return from;
                }));
  }
}

float reduced(const std::string& reduction, float now, float update) {
  if (reduction == "add") return now + update;
  if (reduction == "mul") return now * update;
  if (reduction == "min") return std::min(now, update);
  if (reduction == "max") return std::max(now, update);
  return update;
}

const std::vector<std::string> kReductions = {"none", "add", "mul", "min", "max"};

TEST(ScatterElements, EveryAxisAndReductionInOrder) {
  const Index x_dims = {3, 4, 6}, u_dims = {2, 3, 5};
  std::vector<int64_t> data;
  for (int64_t i = 0; i < count(u_dims); ++i) data.push_back(i * 7 % 6 - 3);  // with duplicates
  for (const std::string& reduction : kReductions)
    for (size_t axis = 0; axis < 3; ++axis) {
      CompiledOp op({"scatter_elements",
                     "axis = " + std::to_string(axis) + ", reduction = \"" + reduction + "\"",
                     {"f32[a, b, c]", "i64[i, j, k]", "f32[i, j, k]"},
                     {"f32[a, b, c]"}});
      Array x = random_f32(x_dims, 1), indices = of_i64(u_dims, data);
      Array updates = random_f32(u_dims, 2), expected = x;
      auto* values = reinterpret_cast<float*>(expected.bytes.data());
      for_each_index(u_dims, [&](const Index& i) {
        Index to(i);
        int64_t picked = element<int64_t>(indices, i);
        to[axis] = picked < 0 ? picked + x_dims[axis] : picked;
        if (to[axis] < 0 || to[axis] >= x_dims[axis]) return;  // dropped
        float& now = values[offset_of(x_dims, to)];
        now = reduced(reduction, now, element<float>(updates, i));
      });
      auto outputs = op({x, indices, updates});
      ASSERT_EQ(outputs.size(), 1u);
      expect_near(outputs[0], expected, 0);
    }
}

TEST(ScatterNd, SlicesAndReductionsInOrder) {
  Array indices = of_i64({4, 1}, {2, 0, -1, 9});  // the last one is out of range: dropped
  for (const std::string& reduction : kReductions) {
    CompiledOp op({"scatter_nd",
                   "reduction = \"" + reduction + "\"",
                   {"f32[a, b]", "i64[n, 1]", "f32[n, b]"},
                   {"f32[a, b]"}});
    Array x = random_f32({3, 5}, 1), updates = random_f32({4, 5}, 2), expected = x;
    auto* values = reinterpret_cast<float*>(expected.bytes.data());
    for (int64_t row = 0; row < 3; ++row) {
      int64_t picked = element<int64_t>(indices, {row, 0});
      for (int64_t i = 0; i < 5; ++i) {
        float& now = values[(picked < 0 ? picked + 3 : picked) * 5 + i];
        now = reduced(reduction, now, element<float>(updates, {row, i}));
      }
    }
    auto outputs = op({x, indices, updates});
    ASSERT_EQ(outputs.size(), 1u);
    expect_near(outputs[0], expected, 0);
  }
}

TEST(ScatterNd, NarrowFloatsAndNoUpdates) {
  CompiledOp op(
      {"scatter_nd", "reduction = \"add\"", {"f16[a]", "i64[n, 1]", "f16[n]"}, {"f16[a]"}});
  auto halves = [](Index dims, const std::vector<uint16_t>& bits) {
    return Array::of(DType::kF16, std::move(dims), bits);
  };
  Array x = halves({3}, {0x3C00, 0x4000, 0x4200});  // 1, 2, 3
  auto outputs = op({x, of_i64({2, 1}, {1, 1}), halves({2}, {0x3C00, 0x3C00})});
  ASSERT_EQ(outputs.size(), 1u);
  expect_same(outputs[0], halves({3}, {0x3C00, 0x4400, 0x4200}));  // 2 + 1 + 1
  outputs = op({x, of_i64({0, 1}, {}), halves({0}, {})});
  ASSERT_EQ(outputs.size(), 1u);
  expect_same(outputs[0], x);
}

}  // namespace
}  // namespace scopevm::compiler::testing
