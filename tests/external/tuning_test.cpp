// Tuning of external libraries through the public API, with invented times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/external/negation.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace scopevm
