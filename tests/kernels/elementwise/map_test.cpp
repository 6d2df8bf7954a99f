// Elementwise kernels: broadcast shapes, sizes with vector tails, empty dims, groups, all element
// types, and baseline CPUs.
#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> dims(std::max(a.size(), b.size()), 1);
  for (const auto* shape : {&a, &b})
    for (size_t back = 1; back <= shape->size(); ++back) {
      int64_t dim = (*shape)[shape->size() - back];
      if (dim != 1) dims[dims.size() - back] = dim;
    }
  return dims;
}

// The element at the row-major position `at` of `x` after its broadcast to `dims`.
float element(const Array& x, const std::vector<int64_t>& dims, int64_t at) {
  int64_t index = 0, stride = 1;
  for (size_t back = 1; back <= dims.size(); ++back) {
    int64_t coordinate = at % dims[dims.size() - back];
    at /= dims[dims.size() - back];
    if (back > x.dims.size()) continue;
    int64_t dim = x.dims[x.dims.size() - back];
    if (dim != 1) index += coordinate * stride;
    stride *= dim;
  }
  return x.as<float>()[index];
}

void expect_difference(const std::string& a_type, const std::string& b_type,
                       const std::string& r_type, const std::vector<int64_t>& a_dims,
                       const std::vector<int64_t>& b_dims, const std::string& cpu = "host") {
  Array a = random_f32(a_dims, 1), b = random_f32(b_dims, 2);
  std::string text = one_op("%a: !sv.tensor<" + a_type + ">, %b: !sv.tensor<" + b_type + ">",
                            "%r = sv.sub %a, %b : (!sv.tensor<" + a_type + ">, !sv.tensor<" +
                                b_type + ">) -> !sv.tensor<" + r_type + ">",
                            r_type);
  for (int pieces : {1, 3, 7}) {
    auto out = run_text(text, {a, b}, cpu, pieces);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].dims, broadcast(a_dims, b_dims));
    std::vector<float> y = out[0].as<float>();
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], element(a, out[0].dims, i) - element(b, out[0].dims, i)) << i;
  }
}

TEST(Map, EqualShapes) {
  for (int64_t n : {0, 1, 15, 16, 17, 100})
    expect_difference("f32[n]", "f32[n]", "f32[n]", {n}, {n});
  expect_difference("f32[]", "f32[]", "f32[]", {}, {});
  expect_difference("f32[2,n,3]", "f32[2,n,3]", "f32[2,n,3]", {2, 9, 3}, {2, 9, 3});
}

TEST(Map, KnownBroadcasts) {
  expect_difference("f32[n,33]", "f32[33]", "f32[n,33]", {5, 33}, {33});
  expect_difference("f32[n,c,h]", "f32[c,1]", "f32[n,c,h]", {3, 5, 21}, {5, 1});
  expect_difference("f32[n,c,h,w]", "f32[n,1,1,w]", "f32[n,c,h,w]", {2, 3, 4, 19}, {2, 1, 1, 19});
  expect_difference("f32[n,1]", "f32[1,m]", "f32[n,m]", {7, 1}, {1, 18});
  expect_difference("f32[n]", "f32[]", "f32[n]", {40}, {});
  expect_difference("f32[n,c,h]", "f32[c,1]", "f32[n,c,h]", {3, 5, 0}, {5, 1});
}

TEST(Map, BroadcastsDeterminedAtRunTime) {
  const std::string r = "f32[\"max(a, c)\", \"max(b, d)\"]";
  expect_difference("f32[a,b]", "f32[c,d]", r, {3, 20}, {3, 20});
  expect_difference("f32[a,b]", "f32[c,d]", r, {3, 1}, {3, 20});
  expect_difference("f32[a,b]", "f32[c,d]", r, {3, 20}, {1, 20});
  expect_difference("f32[a,b]", "f32[c,d]", r, {1, 1}, {4, 20});
}

TEST(Map, TargetsWithNarrowerVectors) {
  for (const char* cpu : {"x86-64-v3", "x86-64"}) {
    expect_difference("f32[n,33]", "f32[33]", "f32[n,33]", {5, 33}, {33}, cpu);
    expect_difference("f32[n]", "f32[n]", "f32[n]", {7}, {7}, cpu);
  }
}

TEST(Map, GroupComputesItsOpsInOneKernel) {
  const char* text = R"(
func.func @main(%x: !sv.tensor<f32[n,33]>, %b: !sv.tensor<f32[33]>) -> (!sv.tensor<f32[n,33]>, !sv.tensor<f32[n,33]>) {
  %r:2 = sv.group (%p = %x : !sv.tensor<f32[n,33]>, %q = %b : !sv.tensor<f32[33]>) -> (!sv.tensor<f32[n,33]>, !sv.tensor<f32[n,33]>) {
    %two = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
    %s = sv.add %p, %q : (!sv.tensor<f32[n,33]>, !sv.tensor<f32[33]>) -> !sv.tensor<f32[n,33]>
    %t = sv.mul %s, %two : (!sv.tensor<f32[n,33]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n,33]>
    sv.yield %s, %t : !sv.tensor<f32[n,33]>, !sv.tensor<f32[n,33]>
  }
  return %r#0, %r#1 : !sv.tensor<f32[n,33]>, !sv.tensor<f32[n,33]>
}
)";
  Array x = random_f32({6, 33}, 1), b = random_f32({33}, 2);
  auto out = run_text(text, {x, b});
  ASSERT_EQ(out.size(), 2u);
  auto s = out[0].as<float>(), t = out[1].as<float>(), xs = x.as<float>(), bs = b.as<float>();
  for (size_t i = 0; i < s.size(); ++i) {
    ASSERT_EQ(s[i], xs[i] + bs[i % 33]);
    ASSERT_EQ(t[i], 2 * s[i]);
  }
}

TEST(Map, AddsEveryElementType) {
  for (int d = 0; d < kDTypeCount; ++d) {
    auto dtype = static_cast<DType>(d);
    if (dtype == DType::kStr || is_small(dtype)) continue;
    std::string type = std::string(name(dtype)) + "[n]";
    std::string op = dtype == DType::kBool ? "or" : "add";
    std::vector<uint8_t> zeros(19 * byte_size(dtype), 0), bytes(zeros);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 2;
    Array x{dtype, {19}, bytes}, zero{dtype, {19}, zeros};
    for (const char* cpu : {"host", "x86-64"}) {
      auto out = run_text(one_op("%a: !sv.tensor<" + type + ">, %b: !sv.tensor<" + type + ">",
                                 "%r = sv." + op + " %a, %b : (!sv.tensor<" + type +
                                     ">, !sv.tensor<" + type + ">) -> !sv.tensor<" + type + ">",
                                 type),
                          {x, zero}, cpu);
      ASSERT_EQ(out.size(), 1u) << type;
      EXPECT_EQ(out[0].bytes, bytes) << type << " " << cpu;
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
