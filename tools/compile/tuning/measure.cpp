// Runs modules in turn; see measure.h.
#include "tools/compile/tuning/measure.h"

#include <algorithm>
#include <chrono>

#include "scopevm/module.h"
#include "tools/tensors/random_tensor.h"

namespace scopevm::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUpRounds = 2;
constexpr size_t kLeastRounds = 11;
constexpr size_t kMostRounds = 200;
constexpr std::chrono::milliseconds kEnough(50);  // of all rounds, per module

Status set_inputs(Call& call, const Module& module, const std::map<std::string, int64_t>& dims) {
  const std::vector<TensorSignature>& inputs = module.signature().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].has_default) continue;
    if (inputs[i].kind != ValueKind::kTensor)
      return {StatusCode::kUnsupported, "input \"" + inputs[i].name + "\" is not a tensor"};
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, module.input_shape(i, dims));
    const RandomTensor request{.dims = std::move(shape),
                               .high = is_float(inputs[i].dtype) ? 1.0 : 0.0};
    Result<Tensor> tensor = random_tensor(inputs[i].dtype, request, /*seed=*/i);
    if (!tensor.ok())
      return std::move(tensor).status().with_context("input \"" + inputs[i].name + "\"");
    SCOPEVM_RETURN_IF_ERROR(call.set_input(i, *std::move(tensor)));
  }
  return {};
}

// A module that is ready to run.
struct Candidate {
  Module module;
  Session session;
  Call call;
  std::vector<double> seconds;  // of each measured call
};

Result<Candidate> prepare(std::span<const uint8_t> bytes,
                          const std::map<std::string, int64_t>& dims,
                          const SessionOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(Module module, Module::load_bytes(bytes));
  SCOPEVM_ASSIGN_OR_RETURN(Session session, Session::create(module, options));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_RETURN_IF_ERROR(set_inputs(call, module, dims));
  return Candidate{std::move(module), std::move(session), std::move(call), {}};
}

Result<double> run(Call& call) {
  const Clock::time_point began = Clock::now();
  SCOPEVM_RETURN_IF_ERROR(call.run());
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

Result<std::vector<double>> measure_modules(std::span<const std::span<const uint8_t>> modules,
                                            const std::map<std::string, int64_t>& dims,
                                            const SessionOptions& options) {
  std::vector<Candidate> candidates;
  for (const std::span<const uint8_t> bytes : modules) {
    SCOPEVM_ASSIGN_OR_RETURN(Candidate candidate, prepare(bytes, dims, options));
    candidates.push_back(std::move(candidate));
  }
  for (int i = 0; i < kWarmUpRounds; ++i)
    for (Candidate& candidate : candidates) SCOPEVM_RETURN_IF_ERROR(run(candidate.call).status());
  const Clock::time_point began = Clock::now();
  const auto enough = kEnough * candidates.size();
  for (size_t round = 0;
       round < kLeastRounds || (round < kMostRounds && Clock::now() - began < enough); ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      // Each round begins with another module, so that none always runs after the same one.
      Candidate& candidate = candidates[(round + i) % candidates.size()];
      SCOPEVM_ASSIGN_OR_RETURN(const double seconds, run(candidate.call));
      candidate.seconds.push_back(seconds);
    }
  std::vector<double> medians;
  for (Candidate& candidate : candidates) medians.push_back(median(std::move(candidate.seconds)));
  return medians;
}

}  // namespace scopevm::tool
