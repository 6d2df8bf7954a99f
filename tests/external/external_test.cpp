// External libraries through the public API: parts that are taken and refused, and libraries that
// violate the ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "scopevm/c/external.h"
#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/external/negation.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

constexpr char kGraph[] = R"(
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}, %s: !sv.tensor<f32[2]> {sv.name = "s"})
    -> (!sv.tensor<f32[n, 2]> {sv.name = "y"}) {
  %0 = sv.mul %x, %s : (!sv.tensor<f32[n, 2]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[n, 2]>
  %1 = sv.neg %0 : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
  return %1 : !sv.tensor<f32[n, 2]>
})";

class ExternalLibraries : public testing::Test {
 protected:
  Result<CompileOutput> compiled(const scopevm_external_library& with) {
    CompileOptions options;
    options.model_path = file_.path();
    options.external_libraries = {&with};
    return compile(options);
  }
  std::string error_of(const scopevm_external_library& with) {
    return std::string(compiled(with).status().message());
  }
  TemporaryFile file_{kGraph};
};

TEST_F(ExternalLibraries, ComputeTheirPartsOfAModel) {
  const scopevm_external_library negation = library();
  auto output = compiled(negation);
  ASSERT_TRUE(output.ok()) << output.status().message();
  auto module = Module::load_bytes(output->module);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(Session::create(*module).status().code(), StatusCode::kNotFound);
  auto session = Session::create(*module, {.external_libraries = {&negation}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<float> x = {1, 2, 3, 4}, s = {2, 10};
  const auto tensor = [](std::vector<float>& elements, std::vector<int64_t> dims) {
    return *Tensor::borrow(elements.data(), DType::kF32, std::move(dims));
  };
  auto results = session->call({{tensor(x, {2, 2}), tensor(s, {2})}});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto* y = static_cast<const float*>(results->front().data());
  EXPECT_THAT(std::vector<float>(y, y + 4), testing::ElementsAre(-2, -20, -6, -40));
  x[0] = -1;
  EXPECT_THAT(std::string(session->call({{tensor(x, {2, 2}), tensor(s, {2})}}).status().message()),
              HasSubstr("the first element is negative"));
}

TEST_F(ExternalLibraries, MayRefuseParts) {
  scopevm_external_library refusing = library();
  refusing.accept = [](void*, scopevm_external_query* query) {
    std::snprintf(query->message, query->message_size, "too small");
    return static_cast<int>(StatusCode::kUnsupported);
  };
  CompileOptions options;
  options.model_path = file_.path();
  options.external_libraries = {&refusing};
  auto explanation = explain<ExternalExplanation>(options);
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  ASSERT_EQ(explanation->parts.size(), 1u);
  EXPECT_FALSE(explanation->parts.front().is_taken);
  EXPECT_EQ(explanation->parts.front().reason, "too small");
  auto output = compiled(refusing);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(Session::create(*Module::load_bytes(output->module)).ok());
}

TEST_F(ExternalLibraries, AreOfferedSmallerPartsOfRefusedParts) {
  const std::string patterns = std::string(kPatterns) + R"(
func.func @mul_neg(%x: !sv.tensor<f32[n]>, %s: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.mul %x, %s : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %1 = sv.neg %0 : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %1 : !sv.tensor<f32[n]>
})";
  scopevm_external_library choosy = library();
  choosy.patterns = patterns.c_str();
  choosy.accept = [](void*, scopevm_external_query* query) {
    const bool is_product = std::string(query->description).find("mul") != std::string::npos;
    return static_cast<int>(is_product ? StatusCode::kUnsupported : StatusCode::kOk);
  };
  CompileOptions options;
  options.model_path = file_.path();
  options.external_libraries = {&choosy};
  auto explanation = explain<ExternalExplanation>(options);
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  ASSERT_EQ(explanation->parts.size(), 2u);
  EXPECT_FALSE(explanation->parts[0].is_taken);
  EXPECT_TRUE(explanation->parts[1].is_taken);
  EXPECT_THAT(explanation->parts[1].patterns, testing::ElementsAre("neg"));
}

// Merged matches are one part. If the library refuses it, its matches are offered one by one.
TEST_F(ExternalLibraries, MayMergeParts) {
  const std::string patterns = std::string(kPatterns) + R"(
func.func @mul(%x: !sv.tensor<f32[n]>, %s: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.mul %x, %s : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
})";
  scopevm_external_library merging = library();
  merging.patterns = patterns.c_str();
  merging.merges_parts = 1;
  CompileOptions options;
  options.model_path = file_.path();
  options.external_libraries = {&merging};
  auto merged = explain<ExternalExplanation>(options);
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  ASSERT_EQ(merged->parts.size(), 1u);
  EXPECT_TRUE(merged->parts.front().is_taken);
  EXPECT_EQ(merged->parts.front().function, "test.merged_0");
  EXPECT_THAT(merged->parts.front().patterns, testing::ElementsAre("mul", "neg"));

  merging.accept = [](void*, scopevm_external_query* query) {
    const bool is_merged = std::string(query->symbol).find("merged") != std::string::npos;
    return static_cast<int>(is_merged ? StatusCode::kUnsupported : StatusCode::kOk);
  };
  auto separate = explain<ExternalExplanation>(options);
  ASSERT_TRUE(separate.ok()) << separate.status().message();
  ASSERT_EQ(separate->parts.size(), 3u);
  EXPECT_FALSE(separate->parts[0].is_taken);
  for (size_t i : {1, 2}) {
    EXPECT_TRUE(separate->parts[i].is_taken);
    EXPECT_EQ(separate->parts[i].patterns.size(), 1u);
  }
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Keeps the rows whose first element is at least 0.5. For a first element of 9, it returns a number
// of rows above the maximum.
int keep(void*, void*, const scopevm_external_run* run) {
  const auto* x = static_cast<const float*>(run->operands[0].data);
  const int64_t rows = run->operands[0].shape[0], columns = run->operands[0].shape[1];
  auto* kept = static_cast<float*>(run->results[0].data);
  auto* numbers = static_cast<int64_t*>(run->results[1].data);
  int64_t& count = *static_cast<int64_t*>(run->results[2].data);
  count = 0;
  for (int64_t row = 0; row < rows; ++row)
    if (x[row * columns] >= 0.5f) {
      std::copy_n(x + row * columns, columns, kept + count * columns);
      numbers[count++] = row;
    }
  if (rows > 0 && x[0] == 9) count = rows + 1;
  return 0;
}

// The function determines a dim of the results of the node.
TEST(ExternalFunctions, DetermineDimsOfResults) {
  scopevm_external_library keeping = library();
  keeping.patterns = nullptr;
  keeping.run = keep;
  CompileOptions options;
  options.model_path = SCOPEVM_SOURCE_DIR "/tests/external/keep.onnx";
  options.external_functions = text_of(SCOPEVM_SOURCE_DIR "/tests/external/keep.functions.mlir");
  auto output = compile(options);
  ASSERT_TRUE(output.ok()) << output.status().message();
  auto module = Module::load_bytes(output->module);
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto session = Session::create(*module, {.external_libraries = {&keeping}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<float> x = {1, 2, 0, 4, 3, 5};
  auto results =
      session->call({{*Tensor::borrow(x.data(), DType::kF32, std::vector<int64_t>{3, 2})}});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_THAT((*results)[0].elements<float>(), testing::ElementsAre(-1, -2, -3, -5));
  EXPECT_THAT((*results)[1].elements<int64_t>(), testing::ElementsAre(0, 2));
  x[0] = x[4] = 0;
  results = session->call({{*Tensor::borrow(x.data(), DType::kF32, std::vector<int64_t>{3, 2})}});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_THAT((*results)[0].dims(), testing::ElementsAre(0, 2));
  x[0] = 9;
  EXPECT_THAT(
      std::string(
          session->call({{*Tensor::borrow(x.data(), DType::kF32, std::vector<int64_t>{3, 2})}})
              .status()
              .message()),
      HasSubstr("the external function returned 4 as dim 0 of result 0, expected at most 3"));
}

constexpr char kWeightPatterns[] = R"(
func.func @mul(%x: !sv.tensor<f32[n]>, %s: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.mul %x, %s : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
})";

// Two products with constants of equal types, and one whose second operand is an input.
constexpr char kWeightGraph[] = R"(
func.func @main(%x: !sv.tensor<f32[2]> {sv.name = "x"}) -> (!sv.tensor<f32[2]> {sv.name = "y"}) {
  %a = sv.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : !sv.tensor<f32[2]>
  %b = sv.constant {value = dense<5.0> : tensor<2xf32>} : !sv.tensor<f32[2]>
  %0 = sv.mul %x, %a : (!sv.tensor<f32[2]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
  %1 = sv.mul %0, %b : (!sv.tensor<f32[2]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
  %2 = sv.mul %1, %x : (!sv.tensor<f32[2]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
  return %2 : !sv.tensor<f32[2]>
})";

// A library that multiplies. It stores a constant weight in reverse, as 8 bytes.
scopevm_external_library multiplication() {
  scopevm_external_library multiplier = library();
  multiplier.patterns = kWeightPatterns;
  multiplier.accept = [](void*, scopevm_external_query* query) {
    for (size_t i = 0; i < query->constant_count; ++i) {
      query->constants[i].bytes = 8;
      std::snprintf(query->constants[i].layout, sizeof query->constants[i].layout, "reverse");
    }
    return 0;
  };
  multiplier.prepare = [](void*, const char*, const char* description, size_t operand,
                          const DLTensor* value, void* prepared, char*, size_t) {
    EXPECT_THAT(description,
                HasSubstr(R"("constant":true,"prepared":{"bytes":8,"layout":"reverse"})"));
    EXPECT_EQ(operand, 1u);
    EXPECT_EQ(value->ndim, 1);
    const auto* elements = static_cast<const float*>(value->data);
    static_cast<float*>(prepared)[0] = elements[1];
    static_cast<float*>(prepared)[1] = elements[0];
    return 0;
  };
  multiplier.run = [](void*, void*, const scopevm_external_run* run) {
    const auto* x = static_cast<const float*>(run->operands[0].data);
    const auto* s = static_cast<const float*>(run->operands[1].data);
    const bool is_prepared = run->operands[1].dtype.code == kDLUInt;
    for (int i = 0; i < 2; ++i)
      static_cast<float*>(run->results[0].data)[i] = x[i] * s[is_prepared ? 1 - i : i];
    return 0;
  };
  return multiplier;
}

TEST(ExternalConstants, ArePreparedByTheCompiler) {
  const TemporaryFile file(kWeightGraph);
  const scopevm_external_library multiplier = multiplication();
  CompileOptions options;
  options.model_path = file.path();
  options.external_libraries = {&multiplier};
  auto explanation = explain<ExternalExplanation>(options);
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  ASSERT_EQ(explanation->parts.size(), 2u);  // with a constant weight, and with another one
  EXPECT_EQ(explanation->parts[0].calls, 2);
  auto output = compile(options);
  ASSERT_TRUE(output.ok()) << output.status().message();
  auto session =
      Session::create(*Module::load_bytes(output->module), {.external_libraries = {&multiplier}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<float> x = {1, 2};
  auto results = session->call({{*Tensor::borrow(x.data(), DType::kF32, std::vector<int64_t>{2})}});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto* y = static_cast<const float*>(results->front().data());
  EXPECT_THAT(std::vector<float>(y, y + 2), testing::ElementsAre(10, 60));
}

TEST(ExternalConstants, ThatCannotBePreparedAreErrors) {
  const TemporaryFile file(kWeightGraph);
  scopevm_external_library multiplier = multiplication();
  CompileOptions options;
  options.model_path = file.path();
  options.external_libraries = {&multiplier};
  const auto error = [&] { return std::string(compile(options).status().message()); };
  multiplier.prepare = [](void*, const char*, const char*, size_t, const DLTensor*, void*,
                          char* message, size_t size) {
    std::snprintf(message, size, "not this weight");
    return static_cast<int>(StatusCode::kUnsupported);
  };
  EXPECT_THAT(error(), HasSubstr("operand 1: not this weight"));
  multiplier.prepare = nullptr;
  EXPECT_THAT(error(), HasSubstr("operand 1 is prepared in 8 bytes, but prepare is null"));
  multiplier.accept = [](void*, scopevm_external_query* query) {
    if (query->constant_count > 0) query->constants[0].bytes = -8;
    return 0;
  };
  EXPECT_THAT(error(), HasSubstr("operand 1 is prepared in -8 bytes, expected at least 0"));
}

TEST_F(ExternalLibraries, ThatViolateTheAbiAreErrors) {
  scopevm_external_library bad = library();
  bad.abi_version = 7;
  EXPECT_THAT(error_of(bad), HasSubstr("an external library has ABI version 7, expected 1"));
  bad = library();
  bad.struct_size = 8;
  EXPECT_THAT(error_of(bad), HasSubstr("an external library has struct_size 8"));
  CompileOptions options;
  options.model_path = file_.path();
  options.external_libraries = {nullptr};
  EXPECT_THAT(std::string(compile(options).status().message()),
              HasSubstr("an external library is null"));
  const scopevm_external_library good = library();
  options.external_libraries = {&good, &good};
  EXPECT_THAT(std::string(compile(options).status().message()),
              HasSubstr("two external libraries have the name \"test\""));
  bad = library();
  bad.name = "";
  EXPECT_THAT(error_of(bad), HasSubstr("an external library has no name"));
  bad = library();
  bad.patterns = "func.func @neg(";
  EXPECT_THAT(error_of(bad), HasSubstr("\"test\""));
  bad = library();
  bad.accept = [](void*, scopevm_external_query* query) {
    std::snprintf(query->workspace, query->workspace_size, "8*q");
    return 0;
  };
  EXPECT_THAT(error_of(bad),
              HasSubstr("workspace \"8*q\" uses q, which is not a dim of the function"));
  bad.accept = [](void*, scopevm_external_query* query) {
    std::snprintf(query->workspace, query->workspace_size, "8*");
    return 0;
  };
  EXPECT_THAT(error_of(bad), HasSubstr("workspace \"8*\" is not a formula"));
  bad.accept = [](void*, scopevm_external_query* query) {
    std::snprintf(query->message, query->message_size, "broken");
    return static_cast<int>(StatusCode::kInternal);
  };
  EXPECT_THAT(error_of(bad), HasSubstr("broken"));
}

}  // namespace
}  // namespace scopevm
