// Compares transpose, diagonal, expand, slice, tile, concat, pad and trilu with index arithmetic.
#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

const std::vector<DType> kWidths = {DType::kBool, DType::kI16, DType::kF32, DType::kF64};

std::string type(DType dtype, const std::string& dims) {
  return std::string(name(dtype)) + "[" + dims + "]";
}

void check_transpose(const std::string& from, const std::string& to, const Index& permutation,
                     const std::vector<Index>& shapes, const std::vector<std::string>& cpus,
                     const std::vector<DType>& dtypes) {
  std::string list;
  for (int64_t d : permutation) list += (list.empty() ? "" : ", ") + std::to_string(d);
  for (const std::string& cpu : cpus)
    for (DType dtype : dtypes) {
      CompiledOp op({"transpose",
                     "permutation = array<i64: " + list + ">",
                     {type(dtype, from)},
                     {type(dtype, to)}},
                    cpu);
      for (const Index& dims : shapes) {
        Array x = counting_bytes(dtype, dims);
        Index out;
        for (int64_t d : permutation) out.push_back(dims[d]);
        Array expected = rearranged(x, out, [&](const Index& i) {
          Index source(i.size());
          for (size_t d = 0; d < i.size(); ++d) source[permutation[d]] = i[d];
          return source;
        });
        auto outputs = op({x});
        ASSERT_EQ(outputs.size(), 1u);
        SCOPED_TRACE(cpu + " " + std::string(name(dtype)) + " " + std::to_string(dims[0]));
        expect_same(outputs[0], expected);
      }
    }
}

TEST(Transpose, MatrixOfAnySizeAndWidth) {
  check_transpose("n, m", "m, n", {1, 0},
                  {{0, 5},
                   {5, 0},
                   {1, 1},
                   {1, 40},
                   {40, 1},
                   {3, 7},
                   {16, 16},
                   {17, 33},
                   {64, 48},
                   {5, 130},
                   {131, 31}},
                  kCpus, kWidths);
}

TEST(Transpose, SwapsHeadsAndPositions) {
  check_transpose("b, s, 4, d", "b, 4, s, d", {0, 2, 1, 3},
                  {{1, 1, 4, 64}, {2, 7, 4, 5}, {3, 0, 4, 8}, {2, 3, 4, 33}}, kCpus, kWidths);
}

TEST(Transpose, GeneralPermutations) {
  check_transpose("a, b, c, d", "a, d, b, c", {0, 3, 1, 2},
                  {{2, 5, 7, 3}, {1, 1, 1, 1}, {2, 8, 9, 34}}, kCpus, {DType::kF32});
  check_transpose("a, b, c, d", "d, c, b, a", {3, 2, 1, 0}, {{2, 5, 7, 3}, {17, 2, 3, 18}}, kCpus,
                  {DType::kI8, DType::kI64});
  check_transpose("a, b, c", "c, a, b", {2, 0, 1}, {{3, 11, 20}, {1, 30, 2}}, kCpus, {DType::kF32});
  check_transpose("a, b, c, d, e", "a, c, e, b, d", {0, 2, 4, 1, 3}, {{2, 3, 4, 5, 6}}, {"host"},
                  {DType::kF32});
}

TEST(Transpose, IdentityAndScalar) {
  check_transpose("a, 1, b", "a, b, 1", {0, 2, 1}, {{3, 1, 9}, {100, 1, 90}}, kCpus, {DType::kF32});
  CompiledOp op({"transpose", "permutation = array<i64>", {"f32[]"}, {"f32[]"}});
  Array x = counting_bytes(DType::kF32, {});
  auto outputs = op({x});
  ASSERT_EQ(outputs.size(), 1u);
  expect_same(outputs[0], x);
}

TEST(Transpose, EqualKernelsAreSharedAcrossTypesOfOneWidth) {
  auto runner = KernelRunner::create(R"(
    func.func @main(%a: !sv.tensor<f32[n, m]>, %b: !sv.tensor<i32[3, 7]>)
        -> (!sv.tensor<f32[m, n]>, !sv.tensor<i32[7, 3]>) {
      %c = sv.transpose %a {permutation = array<i64: 1, 0>}
          : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[m, n]>
      %d = sv.transpose %b {permutation = array<i64: 1, 0>}
          : (!sv.tensor<i32[3, 7]>) -> !sv.tensor<i32[7, 3]>
      return %c, %d : !sv.tensor<f32[m, n]>, !sv.tensor<i32[7, 3]>
    })");
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  EXPECT_EQ((*runner)->steps().size(), 2u);
  EXPECT_EQ((*runner)->kernel_count(), 1u);
}

TEST(Diagonal, OfAnyTwoAxes) {
  const std::vector<std::vector<int64_t>> axes = {{0, 1}, {1, 0}, {0, 2}, {2, 1}};
  for (const std::vector<int64_t>& pair : axes)
    for (DType dtype : kWidths) {
      std::vector<std::string> from = {"n", "m", "k"}, to;
      from[pair[1]] = from[pair[0]];
      for (int64_t d = 0; d < 3; ++d)
        if (d != pair[1]) to.push_back(from[d]);
      CompiledOp op({"diagonal",
                     "first = " + std::to_string(pair[0]) + ", second = " + std::to_string(pair[1]),
                     {type(dtype, from[0] + ", " + from[1] + ", " + from[2])},
                     {type(dtype, to[0] + ", " + to[1])}},
                    "host");
      for (const Index& sizes :
           std::vector<Index>{{3, 5, 4}, {1, 7, 20}, {0, 2, 3}, {17, 17, 33}}) {
        Index dims = sizes, out;
        dims[pair[1]] = dims[pair[0]];
        for (int64_t d = 0; d < 3; ++d)
          if (d != pair[1]) out.push_back(dims[d]);
        Array x = counting_bytes(dtype, dims);
        Array expected = rearranged(x, out, [&](const Index& i) {
          Index source;
          for (int64_t d = 0, at = 0; d < 3; ++d) source.push_back(d == pair[1] ? 0 : i[at++]);
          source[pair[1]] = source[pair[0]];
          return source;
        });
        auto outputs = op({x});
        ASSERT_EQ(outputs.size(), 1u);
        expect_same(outputs[0], expected);
      }
    }
}

TEST(Expand, KnownAndSymbolicBroadcasts) {
  struct Case {
    std::string from, to;
    Index x, y;
  };
  const std::vector<Case> cases = {{"n, 1", "k, n, 40", {3, 1}, {2, 3, 40}},
                                   {"1, m", "k, m", {1, 35}, {4, 35}},
                                   {"", "k, 3", {}, {5, 3}},
                                   {"n, m", "\"max(n, k)\", \"max(m, j)\"", {1, 6}, {4, 6}},
                                   {"n, m", "\"max(n, k)\", \"max(m, j)\"", {4, 1}, {4, 6}},
                                   {"n, 1", "n, 5", {0, 1}, {0, 5}}};
  for (const std::string& cpu : kCpus)
    for (const Case& c : cases) {
      // The second input only defines the symbols k and j: the first and the last dim of y.
      OpText text{"expand",
                  "dims = #sv.dims<[" + c.to + "]>",
                  {"f32[" + c.from + "]"},
                  {"f32[" + c.to + "]"}};
      std::string function = text.function();
      function.replace(function.find(") ->"), 4, ", %dims: !sv.tensor<i8[k, j]>) ->");
      auto runner = KernelRunner::create(function, cpu);
      ASSERT_TRUE(runner.ok()) << runner.status().message();
      Array x = counting_bytes(DType::kF32, c.x);
      auto outputs = (*runner)->run({x, counting_bytes(DType::kI8, {c.y[0], c.y.back()})});
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      expect_same((*outputs)[0], rearranged(x, c.y, [&](const Index& i) {
                    Index from(i.end() - static_cast<int64_t>(c.x.size()), i.end());
                    for (size_t d = 0; d < from.size(); ++d)
                      if (c.x[d] == 1) from[d] = 0;
                    return from;
                  }));
    }
}

TEST(Slice, StartsStepsAndSizes) {
  struct Case {
    Index starts, sizes, steps, x;
  };
  const std::vector<Case> cases = {
      {{0, 2}, {5, 9}, {1, 1}, {5, 40}},     {{1, 0}, {3, 40}, {1, 1}, {5, 40}},
      {{4, 39}, {5, 40}, {-1, -1}, {5, 40}}, {{1, 3}, {2, 13}, {2, 3}, {5, 42}},
      {{0, 0}, {0, 4}, {1, 1}, {3, 4}},      {{2, 7}, {1, 1}, {1, 1}, {3, 8}}};
  auto list = [](const Index& values) {
    return std::to_string(values[0]) + ", " + std::to_string(values[1]);
  };
  for (const std::string& cpu : kCpus)
    for (DType dtype : kWidths)
      for (const Case& c : cases) {
        CompiledOp op({"slice",
                       "starts = #sv.dims<[" + list(c.starts) + "]>, sizes = #sv.dims<[" +
                           list(c.sizes) + "]>, steps = array<i64: " + list(c.steps) + ">",
                       {type(dtype, list(c.x))},
                       {type(dtype, list(c.sizes))}},
                      cpu);
        Array x = counting_bytes(dtype, c.x);
        auto outputs = op({x});
        ASSERT_EQ(outputs.size(), 1u);
        expect_same(outputs[0], rearranged(x, c.sizes, [&](const Index& i) {
                      return Index{c.starts[0] + i[0] * c.steps[0],
                                   c.starts[1] + i[1] * c.steps[1]};
                    }));
      }
}

TEST(Slice, StartsThatDependOnDims) {
  CompiledOp op({"slice",
                 "starts = #sv.dims<[0, \"n-3\"]>, sizes = #sv.dims<[b, 3]>, "
                 "steps = array<i64: 1, 1>",
                 {"f32[b, n]"},
                 {"f32[b, 3]"}});
  for (int64_t n : {3, 4, 19}) {
    Array x = counting_bytes(DType::kF32, {4, n});
    auto outputs = op({x});
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0],
                rearranged(x, {4, 3}, [&](const Index& i) { return Index{i[0], n - 3 + i[1]}; }));
  }
}

TEST(Tile, RepeatsAlongEveryDim) {
  for (const std::string& cpu : kCpus)
    for (DType dtype : {DType::kF32, DType::kI8}) {
      CompiledOp op({"tile",
                     "repeats = #sv.dims<[2, 3, 1]>",
                     {type(dtype, "a, b, c")},
                     {type(dtype, "\"2*a\", \"3*b\", c")}},
                    cpu);
      for (const Index& dims : {Index{1, 1, 1}, {3, 5, 7}, {2, 0, 3}, {2, 2, 70}}) {
        Array x = counting_bytes(dtype, dims);
        auto outputs = op({x});
        ASSERT_EQ(outputs.size(), 1u);
        expect_same(outputs[0],
                    rearranged(x, {2 * dims[0], 3 * dims[1], dims[2]}, [&](const Index& i) {
                      return Index{i[0] % dims[0], i[1] % dims[1], i[2]};
                    }));
      }
    }
}

TEST(Concat, TwentyFiveInputsOfDifferentSizes) {
  std::vector<std::string> operands;
  std::string total;
  for (int64_t i = 0; i < 25; ++i) {
    operands.push_back("f32[a, d" + std::to_string(i) + ", 3]");
    total += (i ? "+d" : "d") + std::to_string(i);
  }
  CompiledOp op({"concat", "axis = 1", operands, {"f32[a, \"" + total + "\", 3]"}});
  for (int64_t a : {0, 1, 4}) {
    std::vector<Array> inputs;
    int64_t sum = 0;
    // For each index along axis 1 of the result: the input, and the index in it.
    std::vector<std::pair<size_t, int64_t>> origin;
    for (int64_t i = 0; i < 25; ++i) {
      int64_t size = (i * 7) % 11;
      inputs.push_back(random_f32({a, size, 3}, static_cast<uint32_t>(i)));
      for (int64_t at = 0; at < size; ++at) origin.emplace_back(i, at);
      sum += size;
    }
    auto outputs = op(inputs);
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].dims, (Index{a, sum, 3}));
    for_each_index(outputs[0].dims, [&](const Index& i) {
      auto [input, at] = origin[i[1]];
      ASSERT_EQ(element<float>(outputs[0], i), element<float>(inputs[input], {i[0], at, i[2]}));
    });
  }
}

TEST(Concat, LastAxisAndOneInput) {
  for (const std::string& cpu : kCpus) {
    CompiledOp op({"concat", "axis = 1", {"u8[a, b]", "u8[a, c]"}, {"u8[a, \"b+c\"]"}}, cpu);
    Array b = counting_bytes(DType::kU8, {5, 2}), c = counting_bytes(DType::kU8, {5, 70});
    auto outputs = op({b, c});
    ASSERT_EQ(outputs.size(), 1u);
    for_each_index({5, 72}, [&](const Index& i) {
      uint8_t expected = i[1] < 2 ? element<uint8_t>(b, i) : element<uint8_t>(c, {i[0], i[1] - 2});
      ASSERT_EQ(element<uint8_t>(outputs[0], i), expected);
    });
    CompiledOp one({"concat", "axis = 0", {"u8[a, b]"}, {"u8[a, b]"}}, cpu);
    outputs = one({b});
    ASSERT_EQ(outputs.size(), 1u);
    expect_same(outputs[0], b);
  }
}

TEST(Pad, EveryModeWithNegativePads) {
  const std::vector<Index> pads = {{0, 1, 2, 0, 2, 3},
                                   {1, 0, 0, 2, 0, 0},
                                   {0, -1, 2, 0, 2, -2},
                                   {0, 0, -1, 0, 0, 3},
                                   {0, 0, 0, 0, 0, 0}};
  const Index x_dims = {2, 4, 21};
  for (const std::string& cpu : kCpus)
    for (const char* mode : {"constant", "edge", "reflect"})
      for (DType dtype : {DType::kF32, DType::kU8})
        for (const Index& p : pads) {
          // A reflected pad must be smaller than the dim: here 2.
          if (std::string(mode) == "reflect" && p[3] == 2) continue;
          Index y = {2 + p[0] + p[3], 4 + p[1] + p[4], 21 + p[2] + p[5]};
          std::string list, out;
          for (int64_t v : p) list += (list.empty() ? "" : ", ") + std::to_string(v);
          for (int64_t v : y) out += (out.empty() ? "" : ", ") + std::to_string(v);
          CompiledOp op({"pad",
                         "pads = #sv.dims<[" + list + "]>, mode = \"" + mode + "\"",
                         {type(dtype, "2, 4, 21")},
                         {type(dtype, out)}},
                        cpu);
          Array x = counting_bytes(dtype, x_dims);
          Array expected = rearranged(x, y, [&](const Index& i) -> std::optional<Index> {
            Index at(3);
            for (int d = 0; d < 3; ++d) {
              at[d] = i[d] - p[d];
              bool outside = at[d] < 0 || at[d] >= x_dims[d];
              if (outside && std::string(mode) == "constant") return std::nullopt;
              int64_t last = x_dims[d] - 1;
              if (std::string(mode) == "reflect" && at[d] < 0) at[d] = -at[d];
              if (std::string(mode) == "reflect" && at[d] > last) at[d] = 2 * last - at[d];
              at[d] = std::clamp<int64_t>(at[d], 0, last);
            }
            return at;
          });
          SCOPED_TRACE(cpu + " " + mode + " " + list);
          auto outputs = op({x});
          ASSERT_EQ(outputs.size(), 1u);
          expect_same(outputs[0], expected);
        }
}

TEST(Pad, ValueAndDimsAtRunTime) {
  CompiledOp op({"pad",
                 "pads = #sv.dims<[0, 1, 0, 2]>, mode = \"constant\"",
                 {"f32[n, m]", "f32[]"},
                 {"f32[n, \"m+3\"]"}});
  Array value = Array::of<float>(DType::kF32, {}, {7.5f});
  for (const Index& dims : {Index{3, 4}, {2, 0}, {0, 5}, {1, 200}}) {
    Array x = random_f32(dims, 1);
    auto outputs = op({x, value});
    ASSERT_EQ(outputs.size(), 1u);
    for_each_index({dims[0], dims[1] + 3}, [&](const Index& i) {
      bool inside = i[1] >= 1 && i[1] <= dims[1];
      ASSERT_EQ(element<float>(outputs[0], i), inside ? element<float>(x, {i[0], i[1] - 1}) : 7.5f);
    });
  }
}

TEST(Trilu, UpperAndLowerWithOffsets) {
  for (const std::string& cpu : kCpus)
    for (int64_t k : {-30, -1, 0, 2, 30})
      for (bool upper : {true, false}) {
        CompiledOp op({"trilu",
                       "k = " + std::to_string(k) + " : i64, upper = " + (upper ? "true" : "false"),
                       {"i64[b, n, m]"},
                       {"i64[b, n, m]"}},
                      cpu);
        for (const Index& dims : {Index{2, 5, 9}, {1, 20, 3}, {1, 0, 4}}) {
          Array x = counting_bytes(DType::kI64, dims);
          auto outputs = op({x});
          ASSERT_EQ(outputs.size(), 1u);
          expect_same(outputs[0], rearranged(x, dims, [&](const Index& i) -> std::optional<Index> {
                        bool keeps = upper ? i[2] >= i[1] + k : i[2] <= i[1] + k;
                        return keeps ? std::optional(i) : std::nullopt;
                      }));
        }
      }
}

}  // namespace
}  // namespace scopevm::compiler::testing
