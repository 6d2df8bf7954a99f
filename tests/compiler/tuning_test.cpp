// The forms of convolutions that compile() measures with CompileOptions::tuning, and its choice for
// invented times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;

// A convolution with windows of 3x3 elements.
std::string graph_of(int channels, int rows, int group = 1) {
  const std::string x = "!sv.tensor<f32[1, " + std::to_string(channels) + ", 40, 40]>";
  const std::string y = "!sv.tensor<f32[1, " + std::to_string(rows) + ", 40, 40]>";
  const std::string depth = std::to_string(channels / group);
  const std::string dims = std::to_string(rows) + "x" + depth + "x3x3";
  const std::string w = "!sv.tensor<f32[" + std::to_string(rows) + ", " + depth + ", 3, 3]>";
  return "func.func @main(%x: " + x + " {sv.name = \"x\"}) -> (" + y +
         " {sv.name = \"y\"}) {\n  %w = sv.constant {value = dense<0.5> : tensor<" + dims +
         "xf32>} : " + w +
         "\n  %y = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
         "dilations = array<i64: 1, 1>, group = " +
         std::to_string(group) + " : i64} : (" + x + ", " + w + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

class ConvolutionForms : public testing::Test {
 protected:
  ConvolutionForms() {
    options_.model_path = file_.path();
    options_.target_cpus = {"znver4"};
    options_.dump_after = "sv-layout";
    options_.dump = [this](std::string_view text) { graph_ = text; };
    options_.tuning.measure = [this](std::span<const std::span<const uint8_t>> modules,
                                     const auto&) -> Result<std::vector<double>> {
      ++measurements_;
      count_ = modules.size();
      return std::vector<double>(seconds_.begin(),
                                 seconds_.begin() + static_cast<ptrdiff_t>(modules.size()));
    };
  }

  CompileOutput compiled() {
    Result<CompileOutput> output = compile(options_);
    if (output.ok()) return *std::move(output);
    ADD_FAILURE() << output.status().message();
    return {};
  }

  // The names of the measured forms; the chosen one is in brackets.
  std::vector<std::string> forms() {
    std::vector<std::string> names;
    const CompileOutput output = compiled();
    EXPECT_THAT(output.convolutions, SizeIs(1));
    for (const TunedConvolution& convolution : output.convolutions)
      for (const MeasuredForm& form : convolution.forms)
        names.push_back(form.is_chosen ? "[" + form.name + "]" : form.name);
    return names;
  }

  TemporaryFile file_{graph_of(64, 64)};
  CompileOptions options_;
  // By channel, then the blocked forms.
  std::vector<double> seconds_ = {50e-5, 20e-5, 21e-5, 22e-5, 23e-5};
  std::string graph_;  // after the layouts are chosen
  size_t count_ = 0;   // modules of the last measurement
  int measurements_ = 0;
};

// With one FMA port, the direct form computes one block at a time. Its schedule is that of the form
// with one block, which is therefore not a second candidate.
TEST_F(ConvolutionForms, HaveDistinctSchedules) {
  EXPECT_THAT(forms(), ElementsAre("[direct]", "direct in groups of 2 blocks",
                                   "direct in groups of 4 blocks"));
  EXPECT_EQ(count_, 4u);
  EXPECT_THAT(graph_, Not(HasSubstr("schedule")));
}

TEST_F(ConvolutionForms, TheFastestIsCompiled) {
  const std::vector<uint8_t> usual = compiled().module;
  seconds_ = {50e-5, 20e-5, 21e-5, 19e-5};
  EXPECT_THAT(forms(), ElementsAre("direct", "direct in groups of 2 blocks",
                                   "[direct in groups of 4 blocks]"));
  EXPECT_THAT(graph_, HasSubstr("schedule = \"direct in groups of 4 blocks\""));
  EXPECT_NE(compiled().module, usual);
}

TEST_F(ConvolutionForms, TheUsualOneIsKeptUnlessAnotherIsClearlyFaster) {
  seconds_ = {50e-5, 20e-5, 19.7e-5, 19.8e-5};
  EXPECT_THAT(forms(), ElementsAre("[direct]", "direct in groups of 2 blocks",
                                   "direct in groups of 4 blocks"));
}

TEST_F(ConvolutionForms, WinogradAndDirectAreComparedIfFastConvolutionsArePermitted) {
  options_.fast_conv = true;
  EXPECT_THAT(forms(), ElementsAre("[winograd]", "direct", "direct in groups of 2 blocks",
                                   "direct in groups of 4 blocks"));
  EXPECT_THAT(graph_, HasSubstr("winograd"));
  seconds_ = {50e-5, 20e-5, 15e-5, 16e-5, 17e-5};
  EXPECT_THAT(forms(), ElementsAre("winograd", "[direct]", "direct in groups of 2 blocks",
                                   "direct in groups of 4 blocks"));
  EXPECT_THAT(graph_, Not(HasSubstr("winograd")));
}

TEST_F(ConvolutionForms, TheLayoutIsChosenByTheFastestForm) {
  seconds_ = {20e-5, 40e-5, 10e-5, 30e-5};
  const Result<LayoutExplanation> explanation = explain<LayoutExplanation>(options_);
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  ASSERT_THAT(explanation->ops, SizeIs(1));
  const LayoutExplanation::Op& op = explanation->ops.front();
  EXPECT_TRUE(op.is_measured);
  ASSERT_THAT(op.forms, SizeIs(3));
  EXPECT_TRUE(op.forms[1].is_chosen);
  EXPECT_DOUBLE_EQ(op.is_blocked ? op.seconds : op.other_seconds, 10e-5);
  EXPECT_DOUBLE_EQ(op.is_blocked ? op.other_seconds : op.seconds, 20e-5);
}

// One block has no other form than the direct one.
TEST_F(ConvolutionForms, OneFormIsNotListed) {
  const TemporaryFile narrow(graph_of(64, 16));
  options_.model_path = narrow.path();
  EXPECT_THAT(compiled().convolutions, IsEmpty());
  EXPECT_EQ(count_, 2u);
}

TEST_F(ConvolutionForms, StoredTimesAreUsedIfTheirNumberIsThatOfTheForms) {
  std::map<std::string, std::vector<double>> cache;
  options_.tuning.find = [&](const std::string& key, size_t) -> std::optional<std::vector<double>> {
    const auto found = cache.find(key);
    return found == cache.end() ? std::nullopt : std::optional(found->second);
  };
  options_.tuning.store = [&](const std::string& key, const std::vector<double>& seconds) {
    cache[key] = seconds;
  };
  compiled();
  EXPECT_EQ(measurements_, 1);
  ASSERT_THAT(cache, SizeIs(1));
  EXPECT_THAT(cache.begin()->second, ElementsAre(50e-5, 20e-5, 21e-5, 22e-5));
  // A build that chooses other schedules does not find the times.
  EXPECT_THAT(cache.begin()->first,
              MatchesRegex(".*; direct in groups of 1 block, omits the padding.*"
                           "; direct in groups of 2 blocks, omits the padding.*"
                           "; direct in groups of 4 blocks, omits the padding.*"));
  compiled();
  EXPECT_EQ(measurements_, 1);
  cache.begin()->second.pop_back();
  compiled();
  EXPECT_EQ(measurements_, 2);
  EXPECT_THAT(cache.begin()->second, SizeIs(4));
  options_.fast_conv = true;  // other forms
  compiled();
  EXPECT_EQ(measurements_, 3);
  EXPECT_THAT(cache, SizeIs(2));
}

TEST_F(ConvolutionForms, KeysHaveTheScheduleOfEachForm) {
  std::string key;
  options_.tuning.store = [&](const std::string& stored, const auto&) { key = stored; };
  const auto key_of = [&](const std::string& text) {
    const TemporaryFile file(text);
    options_.model_path = file.path();
    compiled();
    return key;
  };
  EXPECT_THAT(key_of(graph_of(64, 64)), HasSubstr("; blocks of 6 tiles of 10 to 11 rows, "));
  // One channel per group: by channel, and blocked.
  EXPECT_THAT(key_of(graph_of(32, 32, 32)), HasSubstr("; tiles of 8 rows; tiles of 3x7 pixels"));
  // The channels of a block are those of several pixels.
  EXPECT_THAT(key_of(graph_of(64, 3)), HasSubstr("; direct in groups of 1 block, "));
}

}  // namespace
}  // namespace scopevm
