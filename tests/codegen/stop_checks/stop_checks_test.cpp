// Every kernel checks often whether it must stop, and returns at once if it must. The tests count
// instructions instead of time, for ops that have most of their work in one work item.
#include <algorithm>

#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

// LLVM IR instructions before the optimisation. As many take less than 0.5 ms.
constexpr int64_t kMostWithoutCheck = 1 << 19;

// The elements of an operand: random numbers, or integers in [0, below).
struct Operand {
  Index dims;
  int64_t below = 0;
  std::optional<float> value = {};  // of all elements
};

struct Case {
  std::string name;
  OpText op;
  std::vector<Operand> operands;
  bool fuses = false;
};

DType dtype_of(const std::string& type) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI64, DType::kI32,
                            DType::kI8, DType::kU8, DType::kBool})
    if (type.starts_with(std::string(name(dtype)) + "[")) return dtype;
  ADD_FAILURE() << type;
  return DType::kF32;
}

template <typename T>
Array array_of(DType dtype, const Operand& operand) {
  std::vector<T> values(static_cast<size_t>(count(operand.dims)));
  const auto below = static_cast<uint64_t>(std::max<int64_t>(operand.below, 1));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t number = i * 2654435761u % below;  // of the golden ratio: well distributed
    values[i] = operand.value ? static_cast<T>(*operand.value) : static_cast<T>(number);
  }
  return Array::of(dtype, operand.dims, values);
}

Array array_of(DType dtype, const Operand& operand) {
  switch (dtype) {
    case DType::kF32:
      if (operand.below == 0 && !operand.value) return random_f32(operand.dims, 7);
      return array_of<float>(dtype, operand);
    case DType::kF64:
      return array_of<double>(dtype, operand);
    case DType::kI64:
      return array_of<int64_t>(dtype, operand);
    case DType::kI32:
      return array_of<int32_t>(dtype, operand);
    case DType::kF16:
      return array_of<uint16_t>(dtype, operand);
    default:
      return array_of<uint8_t>(dtype, operand);
  }
}

void check(const Case& c, const std::string& cpu) {
  SCOPED_TRACE(c.name + " " + cpu);
  auto runner = KernelRunner::create(c.op.function(), cpu, c.fuses, ImageLayout::kByChannel, true);
  ASSERT_TRUE(runner.ok()) << runner.status().message() << c.op.function();
  std::vector<Array> inputs;
  for (size_t i = 0; i < c.operands.size(); ++i)
    inputs.push_back(array_of(dtype_of(c.op.operands[i]), c.operands[i]));
  // One call of the kernel for all items.
  const Division whole{.pieces = 1, .call_items = int64_t{1} << 40};
  Counts counts;
  auto outputs = (*runner)->run(inputs, whole, counts);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_LE(counts.most_without_check, kMostWithoutCheck);
  // Otherwise the case does not show anything.
  EXPECT_GT(counts.all, kMostWithoutCheck);
  // The first checks are in loops that prepare the data of later ones.
  for (const int64_t stop_at : {int64_t{1}, counts.checks / 2, counts.checks}) {
    Counts stopped{.stop_at = stop_at};
    outputs = (*runner)->run(inputs, whole, stopped);
    EXPECT_EQ(outputs.status().code(), StatusCode::kCancelled) << outputs.status().message();
    // Each function that the kernel is in checks again.
    EXPECT_LE(stopped.checks, stop_at + 2);
    EXPECT_LE(stopped.after_stop, 200);
  }
}

std::string window(const std::string& kernel, const std::string& ones, const std::string& zeros) {
  return "kernel = array<i64: " + kernel + ">, strides = array<i64: " + ones +
         ">, pads = array<i64: " + zeros + ">, dilations = array<i64: " + ones + ">";
}

constexpr int64_t kMany = 1 << 18;

std::vector<Case> selection_cases() {
  const int64_t n = 1 << 15;
  return {
      {"top_k",
       {"top_k", "k = #sv.dims<[n]>, axis = 0, largest = true", {"f32[n]"}, {"f32[n]", "i64[n]"}},
       {{{n}}}},
      {"top_k_of_many",
       {"top_k",
        "k = #sv.dims<[10]>, axis = 1, largest = false",
        {"f32[m, n]"},
        {"f32[m, 10]", "i64[m, 10]"}},
       {{{2, kMany}}}},
      {"sort_rows", {"sort_rows", "", {"f32[n, 1]"}, {"i64[n]"}}, {{{n, 1}}}},
      {"sort_long_rows", {"sort_rows", "", {"f32[n, w]"}, {"i64[n]"}}, {{{3, kMany}, 1}}},
      {"unique_rows",
       {"unique_rows",
        "by_first = true",
        {"f32[n, w]", "i64[n]"},
        {"i64[n]", "i64[n]", "i64[n]", "i64[1]"}},
       {{{n, 2}}, {{n}, n}}},
      {"suppress_boxes",
       {"suppress_boxes",
        "limit = #sv.dims<[800]>, centered = false",
        {"f32[1, n, 4]", "f32[1, 1, n]", "i64[1, 1, n]", "f32[]", "f32[]"},
        {"i64[1, 1, \"min(800, n)\"]", "i64[1, 1]"}},
       {{{1, 800, 4}}, {{1, 1, 800}}, {{1, 1, 800}, 800}, {{}, 0, 1.5f}, {{}, 0, -2.0f}}},
  };
}

std::vector<Case> indexing_cases() {
  return {
      {"gather_elements",
       {"gather_elements", "axis = 0", {"f32[a, b]", "i64[i, b]"}, {"f32[i, b]"}},
       {{{kMany, 2}}, {{kMany, 2}, kMany}}},
      {"scatter_elements",
       {"scatter_elements",
        "axis = 0, reduction = \"add\"",
        {"f32[a, b]", "i64[i, b]", "f32[i, b]"},
        {"f32[a, b]"}},
       {{{kMany, 1}}, {{kMany, 1}, kMany}, {{kMany, 1}}}},
      {"scatter_elements_last",
       {"scatter_elements",
        "axis = 1, reduction = \"none\"",
        {"f32[a, b]", "i64[a, i]", "f32[a, i]"},
        {"f32[a, b]"}},
       {{{2, kMany}}, {{2, kMany}, kMany}, {{2, kMany}}}},
      {"scatter_nd",
       {"scatter_nd",
        "reduction = \"max\"",
        {"f32[a, b]", "i64[n, 1]", "f32[n, b]"},
        {"f32[a, b]"}},
       {{{kMany, 2}}, {{kMany, 1}, kMany}, {{kMany, 2}}}},
      {"gather",
       {"gather", "axis = 1", {"f32[a, b, c]", "i64[i]"}, {"f32[a, i, c]"}},
       {{{2, 100, 3}}, {{kMany}, 100}}},
      {"gather_nd",
       {"gather_nd", "batch_dims = 0", {"f32[a, b]", "i64[n, 2]"}, {"f32[n]"}},
       {{{50, 60}}, {{kMany, 2}, 50}}},
      {"one_hot",
       {"one_hot",
        "depth = #sv.dims<[262144]>, axis = 0",
        {"i64[a]", "f32[2]"},
        {"f32[262144, a]"}},
       {{{1}, 5}, {{2}}}},
  };
}

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  for (size_t axis = 0; axis < 3; ++axis) {
    const std::string at = std::to_string(axis);
    Index dims = {3, 3, 3};
    dims[axis] = kMany;
    std::vector<std::string> kept = {"a", "b", "c"};
    kept.erase(kept.begin() + static_cast<int64_t>(axis));
    const std::string result = "[" + kept[0] + ", " + kept[1] + "]";
    const std::string x = "f32[a, b, c]";
    cases.push_back({"softmax_" + at, {"softmax", "axis = " + at, {x}, {x}}, {{dims}}});
    cases.push_back({"log_softmax_" + at, {"log_softmax", "axis = " + at, {x}, {x}}, {{dims}}});
    cases.push_back({"cum_sum_" + at, {"cum_sum", "axis = " + at, {x}, {x}}, {{dims}}});
    cases.push_back(
        {"arg_max_" + at,
         {"arg_max", "axis = " + at + ", keep_dims = false, last = true", {x}, {"i64" + result}},
         {{dims}}});
    cases.push_back({"reduce_sum_" + at,
                     {"reduce_sum",
                      "axes = array<i64: " + at + ">, keep_dims = false",
                      {"f64[a, b, c]"},
                      {"f64" + result}},
                     {{dims, 9}}});
    cases.push_back(
        {"reduce_all_" + at,
         {"reduce_max", "axes = array<i64: 0, 1, 2>, keep_dims = false", {"i8[a, b, c]"}, {"i8[]"}},
         {{dims, 9}}});
    cases.push_back({"exp_" + at, {"exp", "", {x}, {x}}, {{dims}}});
    cases.push_back({"trilu_" + at, {"trilu", "k = 1 : i64, upper = true", {x}, {x}}, {{dims}}});
    cases.push_back({"transpose_" + at,
                     {"transpose", "permutation = array<i64: 2, 0, 1>", {x}, {"f32[c, a, b]"}},
                     {{dims}}});
  }
  cases.push_back({"layer_norm",
                   {"layer_norm",
                    "axis = 1, epsilon = 1.0e-5 : f32",
                    {"f32[n, m]", "f32[m]", "f32[m]"},
                    {"f32[n, m]"}},
                   {{{2, kMany}}, {{kMany}}, {{kMany}}}});
  return cases;
}

std::vector<Case> contraction_cases() {
  std::vector<Case> cases = {
      {"matmul_depth",
       {"matmul", "", {"f32[m, k]", "f32[k, n]"}, {"f32[m, n]"}},
       {{{3, 1 << 16}}, {{1 << 16, 40}}}},
      {"matmul_columns",
       {"matmul", "", {"f32[m, k]", "f32[k, n]"}, {"f32[m, n]"}},
       {{{3, 40}}, {{40, 1 << 16}}}},
      {"matmul_rows",
       {"matmul", "transpose_b = true", {"f32[m, k]", "f32[n, k]"}, {"f32[m, n]"}},
       {{{1 << 16, 40}}, {{3, 40}}}},
      {"matmul_f64",
       {"matmul", "", {"f64[m, k]", "f64[k, n]"}, {"f64[m, n]"}},
       {{{1, kMany}, 3}, {{kMany, 2}, 3}}},
      {"det", {"det", "", {"f32[b, n, n]"}, {"f32[b]"}}, {{{1, 300, 300}}}},
  };
  const std::string conv =
      "strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
      "dilations = array<i64: 1, 1>, group = ";
  for (const bool fuses : {false, true}) {
    const std::string suffix = fuses ? "_fused" : "";
    cases.push_back({"conv_channels" + suffix,
                     {"conv",
                      conv + "1 : i64",
                      {"f32[1, 20000, 3, 3]", "f32[2, 20000, 2, 2]"},
                      {"f32[1, 2, 2, 2]"}},
                     {{{1, 20000, 3, 3}}, {{2, 20000, 2, 2}}},
                     fuses});
    cases.push_back({"conv_image" + suffix,
                     {"conv",
                      conv + "1 : i64",
                      {"f32[n, 16, h, w]", "f32[16, 16, 3, 3]"},
                      {"f32[n, 16, \"h-2\", \"w-2\"]"}},
                     {{{1, 16, 3, 10000}}, {{16, 16, 3, 3}}},
                     fuses});
    cases.push_back({"conv_depthwise" + suffix,
                     {"conv",
                      conv + "3 : i64",
                      {"f32[n, 3, h, w]", "f32[3, 1, 3, 3]"},
                      {"f32[n, 3, \"h-2\", \"w-2\"]"}},
                     {{{1, 3, 3, 1 << 17}}, {{3, 1, 3, 3}}},
                     fuses});
  }
  return cases;
}

std::vector<Case> signal_cases() {
  std::vector<Case> cases;
  for (const std::string name : {"max_pool", "average_pool"}) {
    cases.push_back({name + "_window",
                     {name, window("262144", "1", "0, 0"), {"f32[1, 1, 262146]"}, {"f32[1, 1, 3]"}},
                     {{{1, 1, kMany + 2}}}});
    cases.push_back({name + "_image",
                     {name,
                      window("2, 2", "1, 1", "0, 0, 0, 0"),
                      {"f32[n, 1, h, w]"},
                      {"f32[n, 1, \"h-1\", \"w-1\"]"}},
                     {{{1, 1, 5, kMany}}}});
  }
  cases.push_back({"max_pool_indices",
                   {"max_pool_indices",
                    window("262144", "1", "0, 0") + ", by_column = false",
                    {"f32[1, 1, 262146]"},
                    {"f32[1, 1, 3]", "i64[1, 1, 3]"}},
                   {{{1, 1, kMany + 2}}}});
  cases.push_back({"roi_align",
                   {"roi_align",
                    "height = 1 : i64, width = 1 : i64, samples = 1000 : i64, scale = 1.0 : f32, "
                    "offset = 0.0 : f32, min_size = 1.0 : f32, greatest = false",
                    {"f32[b, c, h, w]", "f32[k, 4]", "i64[k]"},
                    {"f32[k, c, 1, 1]"}},
                   {{{1, 1, 9, 9}}, {{1, 4}}, {{1}, 1}}});
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const bool is_last : {false, true})
      cases.push_back({"resize_" + mode + (is_last ? "_last" : "_first"),
                       {"resize",
                        std::string("dims = #sv.dims<[") + (is_last ? "2, 262144" : "262144, 2") +
                            "]>, scales = array<f32>, mode = \"" + mode +
                            "\", coordinates = \"half_pixel\", rounding = \"floor\", "
                            "exclude_outside = false",
                        {is_last ? "f32[2, 1000]" : "f32[1000, 2]"},
                        {is_last ? "f32[2, 262144]" : "f32[262144, 2]"}},
                       {{is_last ? Index{2, 1000} : Index{1000, 2}}}});
  return cases;
}

// Each case for one CPU, in turn: kernels for different CPUs have the same loops.
void check_all(const std::vector<Case>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) check(cases[i], kCpus[i % kCpus.size()]);
}

TEST(StopChecks, Selection) { check_all(selection_cases()); }
TEST(StopChecks, Indexing) { check_all(indexing_cases()); }
TEST(StopChecks, ReductionsAndCopies) { check_all(reduction_cases()); }
TEST(StopChecks, Contractions) { check_all(contraction_cases()); }
TEST(StopChecks, PoolingAndSignals) { check_all(signal_cases()); }

}  // namespace
}  // namespace scopevm::compiler::testing
