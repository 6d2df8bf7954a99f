// Compares attention in one kernel (scores, mask, softmax, product) with plain loops, for several
// target CPUs: row counts below and above a block and a group of blocks, lengths below and above
// the block of keys, empty dims, masked keys.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

struct Form {
  bool transpose_q = false, transpose_k = true, transpose_v = false;
  const char* mask = "b, 1, 1, t";
  // Keys and values are the first rows of buffers with 3 more.
  bool has_buffers = false;
  bool is_guarded = false;  // rows whose softmax is NaN are 0
};

// The assembly of softmax(q * k / 8 + mask) * v. Both products are matrix products.
std::string attention_text(const Form& form) {
  std::string q = tensor_type(form.transpose_q ? "b, h, d, s" : "b, h, s, d");
  std::string k = tensor_type(form.transpose_k ? "b, h, t, d" : "b, h, d, t");
  std::string v = tensor_type(form.transpose_v ? "b, h, c, t" : "b, h, t, c");
  std::string mask = tensor_type(form.mask), s = tensor_type("b, h, s, t");
  std::string y = tensor_type("b, h, s, c");
  std::string keys, k_buffer = k, v_buffer = v;
  if (form.has_buffers) {
    k_buffer = tensor_type("b, h, \"3 + t\", d");
    v_buffer = tensor_type("b, h, \"3 + t\", c");
    const auto rows = [](const std::string& name, const char* columns, const std::string& from,
                         const std::string& to) {
      return "  %" + name + " = sv.slice %" + name + "_buffer {starts = #sv.dims<[0, 0, 0, 0]>, " +
             "sizes = #sv.dims<[b, h, t, " + columns + "]>, steps = array<i64: 1, 1, 1, 1>} : (" +
             from + ") -> " + to + "\n";
    };
    keys = rows("k", "d", k_buffer, k) + rows("v", "c", v_buffer, v);
  }
  const std::string tests = tensor_type("b, h, s, t", "bool");
  const std::string guard =
      form.is_guarded
          ? "\n  %nan = sv.is_nan %3 : (" + s + ") -> " + tests +
                "\n  %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>" +
                "\n  %weights = sv.select %nan, %zero, %3 : (" + tests + ", !sv.tensor<f32[]>, " +
                s + ") -> " + s
          : "";
  const std::string suffix = form.has_buffers ? "_buffer" : "";
  auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return "func.func @main(%q: " + q + ", %k" + suffix + ": " + k_buffer + ", %v" + suffix + ": " +
         v_buffer + ", %mask: " + mask + ") -> " + y + " {\n" + keys +
         "  %0 = sv.matmul %q, %k {transpose_a = " + flag(form.transpose_q) +
         ", transpose_b = " + flag(form.transpose_k) + "} : (" + q + ", " + k + ") -> " + s +
         "\n  %scale = sv.constant {value = dense<8.0> : tensor<f32>} : !sv.tensor<f32[]>" +
         "\n  %1 = sv.div %0, %scale : (" + s + ", !sv.tensor<f32[]>) -> " + s +
         "\n  %2 = sv.add %1, %mask : (" + s + ", " + mask + ") -> " + s +
         "\n  %3 = sv.softmax %2 {axis = 3 : i64} : (" + s + ") -> " + s + guard +
         "\n  %4 = sv.matmul " + (form.is_guarded ? "%weights" : "%3") +
         ", %v {transpose_b = " + flag(form.transpose_v) + "} : (" + s + ", " + v + ") -> " + y +
         "\n  return %4 : " + y + "\n}\n";
}

std::unique_ptr<KernelRunner> compile_attention(const std::string& text, const std::string& cpu) {
  auto runner = KernelRunner::create(text, cpu, /*fuse=*/true);
  EXPECT_TRUE(runner.ok()) << runner.status().message() << "\n" << text;
  return runner.ok() ? *std::move(runner) : nullptr;
}

// The expected result. `mask` has one row per batch element, or one per row of scores.
std::vector<double> reference(const Array& q, const Array& k, const Array& v, const Array& mask,
                              const Form& form) {
  std::vector<double> scores = reference_matmul(q, k, form.transpose_q, form.transpose_k);
  std::vector<float> x(scores.begin(), scores.end()), added = mask.as<float>();
  int64_t heads = q.dims[1], rows = q.dims[form.transpose_q ? 3 : 2];
  int64_t length = mask.dims[3], own_rows = mask.dims[2];
  for (int64_t i = 0; i < q.dims[0] * heads * rows; ++i) {
    float* row = x.data() + i * length;
    int64_t batch = i / (heads * rows);
    const float* add = added.data() + (batch * own_rows + (own_rows > 1 ? i % rows : 0)) * length;
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < length; ++j) {
      row[j] = row[j] / 8 + add[j];
      most = std::max<double>(most, row[j]);
    }
    for (int64_t j = 0; j < length; ++j) sum += std::exp(row[j] - most);
    for (int64_t j = 0; j < length; ++j) row[j] = static_cast<float>(std::exp(row[j] - most) / sum);
  }
  Array weights = Array::of(DType::kF32, {q.dims[0], heads, rows, length}, x);
  return reference_matmul(weights, v, false, form.transpose_v);
}

// b: batch, h: heads, s: rows of q, t: rows of k and v, d: columns of q and k, c: columns of v.
struct Sizes {
  int64_t b, h, s, t, d, c;
};

// The last two dims of x with more rows, which have other elements.
Array with_more_rows(const Array& x, int64_t more) {
  std::vector<int64_t> dims = x.dims;
  const int64_t rows = dims[2], columns = dims[3];
  dims[2] += more;
  Array buffer = random_f32(dims, 9);
  std::vector<float> from = x.as<float>(), to = buffer.as<float>();
  for (int64_t matrix = 0; matrix < dims[0] * dims[1]; ++matrix)
    std::copy_n(from.begin() + matrix * rows * columns, rows * columns,
                to.begin() + matrix * (rows + more) * columns);
  return Array::of(DType::kF32, dims, to);
}

void check(KernelRunner& runner, const Form& form, const Sizes& z) {
  auto dims = [](int64_t b, int64_t h, int64_t rows, int64_t columns, bool is_transposed) {
    if (is_transposed) std::swap(rows, columns);
    return std::vector<int64_t>{b, h, rows, columns};
  };
  Array q = random_f32(dims(z.b, z.h, z.s, z.d, form.transpose_q), 1);
  Array k = random_f32(dims(z.b, z.h, z.d, z.t, form.transpose_k), 2);
  Array v = random_f32(dims(z.b, z.h, z.t, z.c, form.transpose_v), 3);
  bool has_rows = std::string(form.mask) == "b, 1, s, t";
  Array mask = random_f32({z.b, 1, has_rows ? z.s : 1, z.t}, 4);
  auto outputs = form.has_buffers
                     ? runner.run({q, with_more_rows(k, 3), with_more_rows(v, 3), mask})
                     : runner.run({q, k, v, mask});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  expect_near(outputs->front(), reference(q, k, v, mask, form),
              "s, t, d, c = " + std::to_string(z.s) + ", " + std::to_string(z.t) + ", " +
                  std::to_string(z.d) + ", " + std::to_string(z.c));
}

class AttentionOnTarget : public ::testing::TestWithParam<const char*> {};

TEST_P(AttentionOnTarget, SizesBelowAndAboveTheBlocks) {
  Form form;
  auto runner = compile_attention(attention_text(form), GetParam());
  ASSERT_TRUE(runner);
  for (const Sizes& sizes :
       {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 3, 26, 26, 64, 64}, Sizes{1, 2, 48, 33, 40, 17},
        Sizes{2, 1, 49, 100, 7, 70}, Sizes{1, 2, 5, 1030, 16, 33}, Sizes{1, 1, 3, 12, 1030, 5},
        Sizes{3, 2, 1, 129, 64, 64}, Sizes{1, 2, 70, 512, 8, 8}, Sizes{2, 1, 70, 513, 8, 40},
        Sizes{1, 2, 250, 530, 256, 250}})
    check(*runner, form, sizes);
}

TEST_P(AttentionOnTarget, ReadsBuffersWithMoreRows) {
  Form form;
  form.has_buffers = true;
  auto runner = compile_attention(attention_text(form), GetParam());
  ASSERT_TRUE(runner);
  for (const Sizes& sizes : {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 3, 26, 26, 64, 64},
                             Sizes{1, 2, 5, 1030, 16, 33}, Sizes{3, 2, 1, 129, 64, 64}})
    check(*runner, form, sizes);
}

// Keys whose scores are -infinity: in the first block of keys of a row, in a later one, in all of
// them. The softmax of the last row is NaN, as is that of a row with a score that is NaN. With a
// guard, the results of these rows are 0.
void check_masked_blocks(const char* cpu, bool is_guarded) {
  Form form;
  form.mask = "b, 1, s, t";
  form.is_guarded = is_guarded;
  auto runner = compile_attention(attention_text(form), cpu);
  ASSERT_TRUE(runner);
  constexpr int64_t kRows = 7, kKeys = 1100, kChannels = 5;
  const float infinite = std::numeric_limits<float>::infinity();
  std::vector<float> mask(kRows * kKeys, 0);
  const auto hide = [&](int64_t row, int64_t first, int64_t last) {
    std::fill(mask.begin() + row * kKeys + first, mask.begin() + row * kKeys + last, -infinite);
  };
  hide(0, 0, 512);
  hide(1, 512, 1024);
  hide(2, 0, 1024);
  hide(3, 512, kKeys);
  hide(4, 1, kKeys);
  hide(5, 0, kKeys);
  mask[6 * kKeys + 700] = std::nanf("");
  const Array q = random_f32({1, 1, kRows, 3}, 1), k = random_f32({1, 1, kKeys, 3}, 2),
              v = random_f32({1, 1, kKeys, kChannels}, 3),
              added = Array::of(DType::kF32, {1, 1, kRows, kKeys}, mask);
  auto outputs = runner->run({q, k, v, added});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const std::vector<double> expected = reference(q, k, v, added, form);
  const std::vector<float> actual = outputs->front().as<float>();
  for (int64_t i = 0; i < kRows * kChannels; ++i) {
    if (i / kChannels < 5)
      EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
    else if (is_guarded)
      EXPECT_EQ(actual[i], 0) << i;
    else
      EXPECT_TRUE(std::isnan(actual[i])) << i;
  }
}

TEST_P(AttentionOnTarget, MaskedBlocksOfKeys) { check_masked_blocks(GetParam(), false); }

TEST_P(AttentionOnTarget, MaskedBlocksOfKeysWithAGuard) { check_masked_blocks(GetParam(), true); }

// Larger scores in each block of keys scale the sums of those before it down.
TEST_P(AttentionOnTarget, GrowingScores) {
  Form form;
  auto runner = compile_attention(attention_text(form), GetParam());
  ASSERT_TRUE(runner);
  constexpr int64_t kKeys = 2000;
  std::vector<float> mask(kKeys);
  for (int64_t i = 0; i < kKeys; ++i) mask[i] = static_cast<float>(i) * 0.5f - 300;
  const Array q = random_f32({1, 1, 20, 3}, 1), k = random_f32({1, 1, kKeys, 3}, 2),
              v = random_f32({1, 1, kKeys, 40}, 3),
              added = Array::of(DType::kF32, {1, 1, 1, kKeys}, mask);
  auto outputs = runner->run({q, k, v, added});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  expect_near(outputs->front(), reference(q, k, v, added, form), "growing scores");
}

TEST_P(AttentionOnTarget, EmptyDims) {
  Form form;
  auto runner = compile_attention(attention_text(form), GetParam());
  ASSERT_TRUE(runner);
  for (const Sizes& sizes : {Sizes{1, 2, 5, 0, 8, 9}, Sizes{1, 2, 0, 7, 8, 9},
                             Sizes{1, 2, 5, 7, 0, 9}, Sizes{0, 2, 5, 7, 8, 9}})
    check(*runner, form, sizes);
}

INSTANTIATE_TEST_SUITE_P(Attention, AttentionOnTarget,
                         ::testing::Values("host", "x86-64-v3", "x86-64"));

TEST(Attention, EveryOrientationAndAMaskForEachRow) {
  for (int bits = 0; bits < 8; ++bits) {
    Form form{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
              (bits & 1) != 0 ? "b, 1, s, t" : "b, 1, 1, t"};
    auto runner = compile_attention(attention_text(form), "host");
    ASSERT_TRUE(runner);
    check(*runner, form, {2, 2, 50, 37, 20, 34});
  }
}

TEST(Attention, IsOneLaunch) {
  auto runner = compile_attention(attention_text({}), "host");
  ASSERT_TRUE(runner);
  EXPECT_EQ(runner->kernel_count(), 1);
}

// A group of a text, with operands %a, %b and %c and the result %r.
std::string group_text(const std::string& body) {
  const std::string t = "!sv.tensor<f32[2, 3, 3]>";
  return "!t = " + t + "\nfunc.func @main(%q: !t, %k: !t, %v: !t) -> !t {\n" +
         "  %y = sv.group (%a = %q : !t, %b = %k : !t, %c = %v : !t) -> (!t) {\n" + body +
         "    sv.yield %r : !t\n  }\n  return %y : !t\n}\n";
}

std::string product(const std::string& result, const std::string& a, const std::string& b,
                    const std::string& attributes = "") {
  return "    " + result + " = sv.matmul " + a + ", " + b + attributes + " : (!t, !t) -> !t\n";
}

std::string softmax(const std::string& result, const std::string& x, int axis = 2) {
  return "    " + result + " = sv.softmax " + x + " {axis = " + std::to_string(axis) +
         " : i64} : (!t) -> !t\n";
}

// The kernel computes softmax(epilogue(a b)) c along the last axis. It must not be selected for
// other groups of two products and a softmax.
TEST(Attention, OtherGroupsOfTheSameOpsAreRejected) {
  const std::string scores = product("%s", "%a", "%b");
  const std::pair<const char*, std::string> rejected[] = {
      {"axis", scores + softmax("%w", "%s", 1) + product("%r", "%w", "%c")},
      {"weights are operand b", scores + softmax("%w", "%s") + product("%r", "%c", "%w")},
      {"transposed weights",
       scores + softmax("%w", "%s") + product("%r", "%w", "%c", " {transpose_a = true}")},
      {"softmax of an operand", scores + softmax("%w", "%c") + product("%r", "%w", "%s")},
      {"values of the group", scores + softmax("%w", "%s") + product("%r", "%w", "%s")},
      {"op after the product", scores + softmax("%w", "%s") + product("%p", "%w", "%c") +
                                   "    %r = sv.neg %p : (!t) -> !t\n"},
      {"result is not the product", scores + softmax("%r", "%s") + product("%p", "%r", "%c")},
  };
  for (const auto& [what, body] : rejected) {
    auto runner = KernelRunner::create(group_text(body));
    ASSERT_FALSE(runner.ok()) << what;
    EXPECT_NE(runner.status().message().find("cannot be fused into a contraction"),
              std::string::npos)
        << what << ": " << runner.status().message();
  }
  auto accepted =
      KernelRunner::create(group_text(scores + softmax("%w", "%s") + product("%r", "%w", "%c")));
  EXPECT_TRUE(accepted.ok()) << accepted.status().message();
}

}  // namespace
}  // namespace scopevm::compiler::testing
