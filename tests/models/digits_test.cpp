// The digits example, from the ONNX file to predictions, through the public API only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/models/npy_file.h"

namespace scopevm {
namespace {

const std::string kExample = SCOPEVM_SOURCE_DIR "/examples/digits/";
const std::string kReference = SCOPEVM_SOURCE_DIR "/tests/models/digits/";

std::vector<uint8_t> compile_digits() {
  CompileOptions options;
  options.model_path = kExample + "digits.onnx";
  Result<CompileOutput> output = compile(options);
  if (output.ok()) return std::move(output->module);
  ADD_FAILURE() << output.status().message();
  return {};
}

class DigitsExample : public testing::Test {
 protected:
  static void SetUpTestSuite() { bytes_ = new std::vector<uint8_t>(compile_digits()); }
  static void TearDownTestSuite() { delete bytes_; }

  void SetUp() override {
    Result<Module> module = Module::load_bytes(*bytes_);
    ASSERT_TRUE(module.ok()) << module.status().message();
    module_.emplace(*module);
    Result<Session> session = Session::create(*module_);
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(*session);
  }

  Tensor probabilities(const Tensor& images) {
    Result<std::vector<Tensor>> results = session_->call(std::span(&images, 1));
    if (results.ok()) return results->at(0);
    ADD_FAILURE() << results.status().message();
    return {};
  }

  static std::vector<uint8_t>* bytes_;
  std::optional<Module> module_;
  std::optional<Session> session_;
};

std::vector<uint8_t>* DigitsExample::bytes_ = nullptr;

std::vector<int> predictions(const Tensor& probability) {
  std::vector<int> digits;
  std::span<const float> p = probability.elements<float>();
  for (; !p.empty(); p = p.subspan(10))
    digits.push_back(static_cast<int>(std::max_element(p.begin(), p.begin() + 10) - p.begin()));
  return digits;
}

// labels.txt has one line `NAME DIGIT DIGIT ...` for each image file.
TEST_F(DigitsExample, PredictsTheLabelsOfBothBatches) {
  std::ifstream file(kExample + "labels.txt");
  int batches = 0;
  for (std::string line; std::getline(file, line); ++batches) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<int> labels;
    for (int label; words >> label;) labels.push_back(label);
    Tensor probability = probabilities(read_floats(kExample + name + ".npy"));
    EXPECT_EQ(predictions(probability), labels) << name;
  }
  EXPECT_EQ(batches, 2);
}

// The stored probabilities were computed by ONNX Runtime.
TEST_F(DigitsExample, AgreesWithTheReferenceRuntime) {
  for (const char* name : {"five", "three"}) {
    Tensor actual = probabilities(read_floats(kExample + name + ".npy"));
    Tensor expected = read_floats(kReference + name + ".npy");
    ASSERT_EQ(actual.element_count(), expected.element_count()) << name;
    for (int64_t i = 0; i < expected.element_count(); ++i)
      EXPECT_NEAR(actual.elements<float>()[i], expected.elements<float>()[i], 1e-5)
          << name << " " << i;
  }
}

TEST_F(DigitsExample, UsesExactlyItsBoundAndOneAllocationPerScope) {
  for (int64_t n : {1, 3, 5, 64}) {
    Result<MemoryBound> bound = module_->memory_bound({{"n", n}});
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    Result<Tensor> images = Tensor::allocate(DType::kF32, {n, 1, 8, 8});
    ASSERT_TRUE(images.ok());
    std::ranges::fill(images->elements<float>(), 0.5f);
    Call call = *session_->make_call();
    ASSERT_TRUE(call.set_input("image", *images).ok());
    for (int round = 0; round < 2; ++round) {
      Status status = call.run();
      ASSERT_TRUE(status.ok()) << status.message();
      for (const ScopeUse& use : call.stats().memory) {
        EXPECT_EQ(use.peak_bytes, use.bound_bytes) << use.scope << " n=" << n;
        EXPECT_LE(use.allocations, 1) << use.scope << " n=" << n;
        for (const ScopeBound& scope : bound->scopes)
          if (scope.device == use.device && scope.scope == use.scope)
            EXPECT_EQ(scope.bytes, use.bound_bytes) << use.scope << " n=" << n;
      }
      call.clear_outputs();
    }
  }
}

TEST_F(DigitsExample, CompilesToTheSameBytesAgain) { EXPECT_EQ(compile_digits(), *bytes_); }

}  // namespace
}  // namespace scopevm
