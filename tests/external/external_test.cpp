// External libraries through the public API: parts that are taken and refused, and libraries that
// violate the ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/external.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
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

constexpr char kPatterns[] = R"(
func.func @neg(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
})";

// Negates its operand, and fails for a negative first element.
int negate(void*, void*, const scopevm_external_run* run) {
  const auto* x = static_cast<const float*>(run->operands[0].data);
  auto* y = static_cast<float*>(run->results[0].data);
  if (x[0] < 0) {
    std::snprintf(run->message, run->message_size, "the first element is negative");
    return static_cast<int>(StatusCode::kInvalidArgument);
  }
  const int64_t count = run->operands[0].shape[0] * run->operands[0].shape[1];
  for (int64_t i = 0; i < count; ++i) y[i] = -x[i];
  return 0;
}

scopevm_external_library library() {
  return {.struct_size = sizeof(scopevm_external_library),
          .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
          .name = "test",
          .context = nullptr,
          .patterns = kPatterns,
          .accept = nullptr,
          .prepare = nullptr,
          .create =
              [](void*, const char*, const char*, void** function, char*, size_t) {
                *function = nullptr;
                return 0;
              },
          .destroy = [](void*, void*) {},
          .run = negate};
}

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

// Two parts for the library: the negation of x of [n, 2], and of [2, n, 2].
constexpr char kTunedGraph[] = R"(
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}, %z: !sv.tensor<f32[2, n, 2]> {sv.name = "z"})
    -> (!sv.tensor<f32[n, 2]> {sv.name = "y"}, !sv.tensor<f32[2, n, 2]> {sv.name = "w"}) {
  %0 = sv.neg %x : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
  %1 = sv.neg %z : (!sv.tensor<f32[2, n, 2]>) -> !sv.tensor<f32[2, n, 2]>
  return %0, %1 : !sv.tensor<f32[n, 2]>, !sv.tensor<f32[2, n, 2]>
})";

// True if the module calls an external function.
bool has_functions(std::span<const uint8_t> module) {
  return !Session::create(*Module::load_bytes(module)).ok();
}

// Tuning with invented times: those of parts by rank, those of models by the number of modules.
class ExternalTuning : public testing::Test {
 protected:
  ExternalTuning() {
    options_.model_path = file_.path();
    options_.external_libraries = {&library_};
    options_.tuning.measure = [this](std::span<const std::span<const uint8_t>> modules,
                                     const std::map<std::string, int64_t>& dims) {
      measured_dims_.push_back(dims);
      return measure(modules);
    };
  }

  Result<std::vector<double>> measure(std::span<const std::span<const uint8_t>> modules) {
    if (modules.size() == 2 && Module::load_bytes(modules[0])->signature().inputs.size() == 1) {
      // A part: the first module calls the library, the second one does not.
      EXPECT_TRUE(has_functions(modules[0]));
      EXPECT_FALSE(has_functions(modules[1]));
      const bool is_small = Module::load_bytes(modules[0])->signature().inputs[0].dims.size() == 2;
      return std::vector<double>{1, is_small ? small_own_ : large_own_};
    }
    if (model_seconds_.size() != modules.size())
      return Status(StatusCode::kUnsupported, "an input is not a tensor");
    return model_seconds_;
  }

  // "library" or "own" for each part of the chosen model.
  std::vector<std::string> chosen() {
    auto explanation = explain<ExternalExplanation>(options_);
    EXPECT_TRUE(explanation.ok()) << explanation.status().message();
    std::vector<std::string> parts;
    for (const ExternalExplanation::Part& part : explanation->parts)
      parts.push_back(part.is_taken ? "library" : "own");
    return parts;
  }

  TemporaryFile file_{kTunedGraph};
  scopevm_external_library library_ = library();
  CompileOptions options_;
  double small_own_ = 2, large_own_ = 0.5;
  std::vector<double> model_seconds_ = {1, 2, 3};  // with the faster functions, none, all
  std::vector<std::map<std::string, int64_t>> measured_dims_;
};

TEST_F(ExternalTuning, KeepsTheFastestModel) {
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  model_seconds_ = {3, 2, 4};
  EXPECT_THAT(chosen(), testing::ElementsAre("own", "own"));
  EXPECT_FALSE(has_functions(compile(options_)->module));
  model_seconds_ = {1, 1.01, 2};  // not clearly slower
  EXPECT_THAT(chosen(), testing::ElementsAre("own", "own"));
  model_seconds_ = {1, 2, 1.01};
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  model_seconds_ = {3, 2, 1};
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "library"));
  const auto output = compile(options_);
  EXPECT_TRUE(has_functions(output->module));
  ASSERT_EQ(output->tuned.size(), 3u);
  EXPECT_EQ(output->tuned[2].functions, "all");
  EXPECT_TRUE(output->tuned[2].is_chosen);
}

TEST_F(ExternalTuning, TimesOfAnotherVersionOfTheLibraryAreNotUsed) {
  std::map<std::string, std::vector<double>> known;
  int found = 0;
  options_.tuning.store = [&](const std::string& key, const std::vector<double>& seconds) {
    EXPECT_TRUE(known.emplace(key, seconds).second) << key;
  };
  options_.tuning.find = [&](const std::string& key, size_t) -> std::optional<std::vector<double>> {
    const auto entry = known.find(key);
    if (entry == known.end()) return std::nullopt;
    ++found;
    return entry->second;
  };
  size_t versions = 0;
  for (const char* version : {static_cast<const char*>(nullptr), "1.0", "2.0"}) {
    library_.version = version;
    found = 0;
    EXPECT_TRUE(compile(options_).ok());
    EXPECT_EQ(found, 0);
    EXPECT_EQ(known.size(), 2 * ++versions);
    EXPECT_TRUE(compile(options_).ok());
    EXPECT_EQ(found, 2);
  }
}

TEST_F(ExternalTuning, DoesNotCompareEqualModels) {
  large_own_ = 2;  // the library is faster in all parts
  model_seconds_ = {1, 2};
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "library"));
  model_seconds_ = {2, 1};
  EXPECT_THAT(chosen(), testing::ElementsAre("own", "own"));
  small_own_ = large_own_ = 0.5;  // and in none: the second model has all functions
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "library"));
  model_seconds_ = {1, 2};
  EXPECT_THAT(chosen(), testing::ElementsAre("own", "own"));
}

TEST_F(ExternalTuning, ChoosesPartsAloneIfTheModelCannotBeMeasured) {
  model_seconds_ = {};
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  const auto output = compile(options_);
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_THAT(output->warnings, testing::ElementsAre(HasSubstr("an input is not a tensor")));
}

TEST_F(ExternalTuning, MeasuresTheGivenRequests) {
  options_.tuning.requests = {{{"n", 3}}, {{"n", 5}}};
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  using Dims = std::map<std::string, int64_t>;
  EXPECT_THAT(measured_dims_,
              testing::ElementsAre(Dims{{"s0", 3}}, Dims{{"s0", 5}}, Dims{{"s0", 3}},
                                   Dims{{"s0", 5}}, Dims{{"n", 3}}, Dims{{"n", 5}}));
  options_.tuning.requests = {{{"m", 3}}};
  EXPECT_THAT(std::string(compile(options_).status().message()),
              HasSubstr("tuning: the model has no dimension \"m\""));
  options_.tuning.requests = {{{"n", 0}}};
  EXPECT_THAT(std::string(compile(options_).status().message()),
              HasSubstr("tuning: dimension \"n\" is 0, expected 1 to 2147483648"));
  options_.dims["n"] = {2, 8, 2};
  options_.tuning.requests = {{{"n", 9}}};
  EXPECT_THAT(std::string(compile(options_).status().message()),
              HasSubstr("tuning: dimension \"n\" is 9, expected 2 to 8"));
  options_.tuning.requests = {{{"n", 3}}};
  EXPECT_THAT(std::string(compile(options_).status().message()),
              HasSubstr("tuning: dimension \"n\" is 3, expected a multiple of 2"));
}

TEST_F(ExternalTuning, MeasuresPartsOnce) {
  std::map<std::string, std::vector<double>> cache;
  options_.tuning.find = [&](const std::string& key, size_t) {
    const auto found = cache.find(key);
    return found == cache.end() ? std::nullopt : std::optional(found->second);
  };
  options_.tuning.store = [&](const std::string& key, const std::vector<double>& seconds) {
    EXPECT_TRUE(cache.emplace(key, seconds).second);
  };
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(measured_dims_.size(), 3u);  // two parts, and the models
  EXPECT_THAT(chosen(), testing::ElementsAre("library", "own"));
  EXPECT_EQ(measured_dims_.size(), 4u);
}

TEST_F(ExternalTuning, ReportsErrorsOfAMeasurement) {
  options_.tuning.measure = [](auto, const auto&) -> Result<std::vector<double>> {
    return Status(StatusCode::kUnsupported, "no such device");
  };
  EXPECT_THAT(std::string(compile(options_).status().message()), HasSubstr("no such device"));
  options_.tuning.measure = [](auto, const auto&) { return std::vector<double>{1}; };
  EXPECT_THAT(std::string(compile(options_).status().message()),
              HasSubstr("Tuning::measure returned 1 durations for 2 modules"));
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
