// The plug-in of oneDNN through its ABI: what it accepts, errors, concurrent runs, the plan cache.
#include <cmath>
#include <thread>

#include "plug_in.h"
#include "plugins/dnnl/run/lru_cache.h"

namespace scopevm::onednn_test {
namespace {

using nlohmann::json;

json matmul(const Dims& result) { return op_of("matmul", {0, 1}, result); }

// [2, 3] times [3, 4].
std::string small_product() {
  return describe({{2, 3}, {3, 4}}, json::array({matmul({2, 4})})).dump();
}

TEST(DnnlPlugIn, HasTheNameAndVersionOfTheAbi) {
  EXPECT_STREQ(library().name, "dnnl");
  EXPECT_EQ(library().abi_version, SCOPEVM_EXTERNAL_ABI_VERSION);
  EXPECT_NE(std::string(library().patterns).find("func.func @conv_bias_add_relu("),
            std::string::npos);
}

TEST(DnnlPlugIn, RejectsHostileDescriptions) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  json huge_rank = describe({Dims(1000, 1), {3, 4}}, json::array({matmul({2, 4})}));
  json cyclic = describe({{2, 3}, {3, 4}}, json::array({op_of("matmul", {0, 2}, {2, 4})}));
  json negative = describe({{-1, 3}, {3, 4}}, json::array({matmul({2, 4})}));
  json no_results = json::parse(small_product());
  no_results["results"] = json::array();
  json wrong_flag = describe(
      {{2, 3}, {3, 4}}, json::array({op_of("matmul", {0, 1}, {2, 4}, {{"transpose_a", "yes"}})}));
  json wrong_pads = describe(
      {{1, 3, 8}, {4, 3, 3}},
      json::array(
          {op_of("conv", {0, 1}, {1, 4, 8},
                 {{"strides", {1}}, {"pads", {1, -1}}, {"dilations", {1}}, {"group", 1}})}));
  json huge_group = wrong_pads;
  huge_group["ops"][0]["attributes"]["pads"] = {1, 1};
  huge_group["ops"][0]["attributes"]["group"] = INT64_MAX;
  json scalar = describe({{}, {}}, json::array({matmul({})}));
  json many_operands = describe({{2, 3}}, json::array({op_of("matmul", {0, 0, 0}, {2, 3})}));
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string("{\"operands\": 1, \"ops\": [], \"results\": []}"),
        std::string("{\"operands\": [1], \"ops\": [], \"results\": []}"),
        std::string("{\"operands\": [], \"ops\": [{}], \"results\": [0]}"),
        std::string("{\"operands\": [], \"ops\": [], \"results\": []}"), deep, huge_rank.dump(),
        cyclic.dump(), negative.dump(), no_results.dump(), wrong_flag.dump(), wrong_pads.dump(),
        huge_group.dump(), scalar.dump(), many_operands.dump()}) {
    SCOPED_TRACE(text.substr(0, 200));
    const Outcome accepted = accept(text);
    EXPECT_NE(accepted.code, StatusCode::kOk);
    EXPECT_NE(accepted.code, StatusCode::kInternal);
    EXPECT_FALSE(accepted.text.empty());
    EXPECT_EQ(Function(text).created().code, accepted.code);
  }
}

TEST(DnnlPlugIn, ReportsWhatItDoesNotSupport) {
  json f64 = json::parse(small_product());
  f64["operands"][0]["dtype"] = "f64";
  EXPECT_EQ(accept(f64.dump()).text, "a value of element type f64, expected f32");
  const json batches = describe({{2, 1, 3, 4}, {1, 2, 4, 5}}, json::array({matmul({2, 2, 3, 5})}));
  EXPECT_EQ(accept(batches.dump()).text,
            "the batch dims of the operands differ: [2, 1, 3, 4] and [1, 2, 4, 5]");
  const json column = describe({{2, 3}, {3, 4}, {2, 1}},
                               json::array({matmul({2, 4}), op_of("add", {3, 2}, {2, 4})}));
  EXPECT_EQ(accept(column.dump()).text,
            "op 1 (\"add\"): operand of dims [2, 1] is neither a bias nor a residual of the result "
            "[2, 4]");
  const json sine =
      describe({{2, 3}, {3, 4}}, json::array({matmul({2, 4}), op_of("sin", {2}, {2, 4})}));
  EXPECT_EQ(accept(sine.dump()).text, "op 1 (\"sin\"): not an epilogue of oneDNN");
}

TEST(DnnlPlugIn, StatesTheWorkspaceOverNamesOfDims) {
  SKIP_WITHOUT_AVX512();
  json dynamic = json::parse(small_product());
  dynamic["operands"][0]["dims"][0] = "2*n+1";
  dynamic["ops"][0]["results"][0]["dims"][0] = "2*n+1";
  const Outcome accepted = accept(dynamic.dump());
  EXPECT_EQ(accepted.code, StatusCode::kOk);
  EXPECT_NE(accepted.text.find("(2*n+1)"), std::string::npos) << accepted.text;
}

// x * w, with x = 1, 2, ... and w = 1, then gelu in the form of the ONNX importer.
TEST(DnnlPlugIn, ComputesGelu) {
  SKIP_WITHOUT_AVX512();
  const json constants[] = {op_of("constant", {}, {}, {{"value", 0.5}}),
                            op_of("constant", {}, {}, {{"value", 0.70710678}}),
                            op_of("constant", {}, {}, {{"value", 1.0}})};
  const json ops = {matmul({2, 4}),  // 2
                    constants[0],    // 3
                    op_of("mul", {2, 3}, {2, 4}),
                    constants[1],  // 5
                    op_of("mul", {2, 5}, {2, 4}),
                    op_of("erf", {6}, {2, 4}),
                    constants[2],  // 8
                    op_of("add", {7, 8}, {2, 4}),
                    op_of("mul", {4, 9}, {2, 4})};
  const std::string description = describe({{2, 3}, {3, 4}}, ops).dump();
  const Outcome accepted = accept(description);
  ASSERT_EQ(accepted.code, StatusCode::kOk) << accepted.text;
  Function function(description);
  std::vector<Tensor> operands = {Tensor({2, 3}), Tensor({3, 4})};
  std::fill(operands[0].data.begin(), operands[0].data.end(), 0.25F);
  std::fill(operands[1].data.begin(), operands[1].data.end(), 1.0F);
  Tensor result({2, 4});
  ASSERT_EQ(function.run(operands, result, accepted.workspace_bytes(1)).code, StatusCode::kOk);
  EXPECT_NEAR(result.data[7], 0.75 * 0.5 * (1 + std::erf(0.75 / std::sqrt(2.0))), 1e-5);
}

// [2, 64] times the constant [64, 48], which oneDNN prefers in blocks of columns.
json product_of_constant() {
  json description = describe({{2, 64}, {64, 48}}, json::array({matmul({2, 48})}));
  description["operands"][1]["constant"] = true;
  return description;
}

TEST(DnnlPlugIn, PreparesConstantWeights) {
  SKIP_WITHOUT_AVX512();
  json description = product_of_constant();
  scopevm_external_constant weight = {.operand = 1};
  const Outcome accepted = accept(description.dump(), {&weight});
  ASSERT_EQ(accepted.code, StatusCode::kOk) << accepted.text;
  EXPECT_GE(weight.bytes, 64 * 48 * 4);
  Tensor w({64, 48});
  for (size_t i = 0; i < w.data.size(); ++i) w.data[i] = static_cast<float>(i % 48);
  std::vector<Tensor> operands = {Tensor({2, 64}), w};
  ASSERT_EQ(prepare(description, weight, operands[1]).code, StatusCode::kOk);
  std::fill(operands[0].data.begin(), operands[0].data.end(), 0.5F);
  Function function(description.dump());
  Tensor result({2, 48});
  const int64_t bytes = accepted.workspace_bytes(1);
  ASSERT_EQ(function.run(operands, result, bytes).code, StatusCode::kOk);
  EXPECT_EQ(result.data[50], 64.0F);  // row 1, column 2
  operands[1] = w;
  EXPECT_EQ(
      function.run(operands, result, bytes).text,
      "the prepared weight is not a u8 tensor of " + std::to_string(weight.bytes) + " elements");
}

TEST(DnnlPlugIn, RejectsHostileLayouts) {
  for (const char* layout : {"", "a", "ab", "aab", "ba16a64b", "ba0a", "ba16", "ba16a99999999999b",
                             "ba257a", "b16aa", "ba2a2a2a2a2a", "BA16a64b", "ba16c", "ba-1a"}) {
    SCOPED_TRACE(layout);
    json description = product_of_constant();
    description["operands"][1]["prepared"] = {{"bytes", 4000}, {"layout", layout}};
    Function function(description.dump());
    ASSERT_EQ(function.created().code, StatusCode::kOk);
    std::vector<Tensor> operands = {Tensor({2, 64}), Tensor({4000})};
    operands[1].prepared.resize(4000);
    Tensor result({2, 48});
    const Outcome ran = function.run(operands, result, 1 << 20);
    EXPECT_EQ(ran.code, StatusCode::kInvalidArgument);
    EXPECT_NE(ran.text.find("the prepared weight has the layout"), std::string::npos) << ran.text;
  }
  json wrong = product_of_constant();
  for (const json& prepared : {json(1), json::object(), json{{"bytes", 0}, {"layout", "ab"}},
                               json{{"bytes", 64}, {"layout", 1}}}) {
    wrong["operands"][1]["prepared"] = prepared;
    EXPECT_EQ(Function(wrong.dump()).created().code, StatusCode::kInvalidArgument);
  }
}

TEST(DnnlPlugIn, ReportsErrorsOfARun) {
  Function function(small_product());
  std::vector<Tensor> operands = {Tensor({2, 3}), Tensor({3, 4})};
  Tensor result({2, 4});
  constexpr int64_t kBytes = 1 << 20;
  EXPECT_EQ(function.run(operands, result, kBytes, 1, /*is_stopped=*/true).code,
            StatusCode::kCancelled);
  Tensor other({4, 2});
  EXPECT_EQ(function.run(operands, other, kBytes).text, "the result is [4, 2], expected [2, 4]");
  operands[1] = Tensor({2, 4});
  EXPECT_EQ(function.run(operands, result, kBytes).text,
            "the depths of the product differ: [2, 3] and [2, 4]");
  operands[1] = Tensor({3, 4, 1});
  EXPECT_EQ(function.run(operands, result, kBytes).text, "operand 1 has rank 3, expected 2");
  operands = {Tensor({2, 0}), Tensor({0, 4})};
  EXPECT_EQ(function.run(operands, result, kBytes).text, "operand 0 has no elements");
  operands = {Tensor({0, 3}), Tensor({3, 4})};
  Tensor empty({0, 4});
  EXPECT_EQ(function.run(operands, empty, kBytes).code, StatusCode::kOk);
}

// The reference implementation of oneDNN needs no workspace.
TEST(DnnlPlugIn, RunsWithoutWorkspace) {
  Function function(small_product());
  std::vector<Tensor> operands = {Tensor({2, 3}), Tensor({3, 4})};
  for (Tensor& operand : operands) std::fill(operand.data.begin(), operand.data.end(), 2.0F);
  Tensor result({2, 4});
  const Outcome ran = function.run(operands, result, 0);
  ASSERT_EQ(ran.code, StatusCode::kOk) << ran.text;
  EXPECT_EQ(result.data, std::vector<float>(8, 12.0F));
}

TEST(DnnlPlugIn, RunsConcurrentlyWithManyShapes) {
  Function function(small_product());  // dims are checked at each run
  auto run_shapes = [&](int64_t first) {
    for (int64_t i = 0; i < 60; ++i) {
      const int64_t m = (first + i * 7) % 50 + 1;
      std::vector<Tensor> operands = {Tensor({m, 3}), Tensor({3, 4})};
      for (Tensor& operand : operands) std::fill(operand.data.begin(), operand.data.end(), 1.0F);
      Tensor result({m, 4});
      const Outcome ran = function.run(operands, result, 1 << 20);
      ASSERT_EQ(ran.code, StatusCode::kOk) << ran.text;
      ASSERT_EQ(result.data, std::vector<float>(static_cast<size_t>(4 * m), 3.0F));
    }
  };
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) threads.emplace_back(run_shapes, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(DnnlLruCache, RemovesTheLeastRecentlyUsedEntry) {
  onednn::LruCache<int, int> cache(2);
  auto value = [](int x) { return std::make_shared<const int>(x); };
  cache.insert(1, value(10));
  cache.insert(2, value(20));
  EXPECT_EQ(*cache.find(1), 10);
  EXPECT_EQ(*cache.insert(1, value(11)), 10);
  cache.insert(3, value(30));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_EQ(*cache.find(1), 10);
}

}  // namespace
}  // namespace scopevm::onednn_test
