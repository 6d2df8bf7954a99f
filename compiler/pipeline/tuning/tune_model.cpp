// Compiles and measures a model with and without external functions; see tune_model.h.
#include "compiler/pipeline/tuning/tune_model.h"

#include <algorithm>
#include <span>

#include "compiler/external/take.h"
#include "compiler/pipeline/tuning/tuner.h"

namespace scopevm::compiler::pipeline {
namespace {

using Part = ExternalExplanation::Part;

// A way to compile the model.
struct Candidate {
  std::string functions;  // TunedModel::functions
  Compiled compiled;
};

// The dims of a request, with representative values of those that it does not contain.
Request complete(Request request, const std::vector<Dimension>& dimensions) {
  for (const Dimension& dimension : dimensions)
    request.try_emplace(dimension.name, dimension.representative);
  return request;
}

// The time of all requests, by module.
Result<std::vector<double>> measure_models(const Tuning& tuning,
                                           std::span<const std::span<const uint8_t>> modules,
                                           const std::vector<Dimension>& dimensions) {
  std::vector<double> total(modules.size());
  for (const Request& request : requests_of(tuning)) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                             measure_modules(tuning, modules, complete(request, dimensions)));
    for (size_t i = 0; i < total.size(); ++i) total[i] += seconds[i];
  }
  return total;
}

// Parts that the library accepted and that are `taken`, or not.
bool has_parts(const std::vector<Part>& parts, bool taken) {
  return std::ranges::any_of(
      parts, [&](const Part& part) { return part.seconds && part.is_taken == taken; });
}

// The index of the fastest candidate, without libraries unless one with them is clearly faster.
size_t fastest_candidate(const std::vector<double>& seconds,
                         const std::vector<Candidate>& candidates) {
  const auto best = static_cast<size_t>(std::ranges::min_element(seconds) - seconds.begin());
  for (size_t i = 0; i < candidates.size(); ++i)
    if (std::ranges::none_of(candidates[i].compiled.external_parts, &Part::is_taken) &&
        !external::is_faster(seconds[best], seconds[i]))
      return i;
  return best;
}

std::vector<Part> without_taken(std::vector<Part> parts) {
  for (Part& part : parts)
    if (part.is_taken) {
      part.is_taken = false;
      part.reason = "the whole model is faster without external functions";
    }
  return parts;
}

}  // namespace

bool is_tuned(const CompileOptions& options) {
  return options.tuning.measure && !options.external_libraries.empty();
}

Result<Compiled> compile_tuned(Context& context) {
  const CompileOptions& given = context.options;
  std::vector<Candidate> candidates;
  SCOPEVM_ASSIGN_OR_RETURN(Compiled faster, compile_once(context));
  candidates.push_back({"faster", std::move(faster)});
  const std::vector<Part> parts = candidates[0].compiled.external_parts;
  const auto compile_other = [&](const char* functions, bool has_libraries) -> Status {
    CompileOptions options = given;
    if (has_libraries) options.tuning = {};
    options.dump_after.clear();
    options.progress = {};
    if (!has_libraries) options.external_libraries.clear();
    Context other(options, context.backends);
    SCOPEVM_ASSIGN_OR_RETURN(Compiled compiled, compile_once(other));
    if (!has_libraries) compiled.external_parts = without_taken(parts);
    candidates.push_back({functions, std::move(compiled)});
    return {};
  };
  // The candidates differ only if the library computes some of the accepted parts.
  if (has_parts(parts, true)) SCOPEVM_RETURN_IF_ERROR(compile_other("none", false));
  if (has_parts(parts, false)) SCOPEVM_RETURN_IF_ERROR(compile_other("all", true));
  if (candidates.size() == 1) return std::move(candidates[0].compiled);

  std::vector<std::span<const uint8_t>> modules;
  for (const Candidate& candidate : candidates)
    modules.emplace_back(candidate.compiled.output.module);
  const auto seconds = measure_models(given.tuning, modules, candidates[0].compiled.dimensions);
  const size_t best = seconds.ok() ? fastest_candidate(*seconds, candidates) : 0;
  Compiled compiled = std::move(candidates[best].compiled);
  if (!seconds.ok())
    compiled.output.warnings.push_back(
        "tuning: the model cannot be measured, so each part is chosen by its own time: " +
        std::string(seconds.status().message()));
  for (size_t i = 0; seconds.ok() && i < candidates.size(); ++i)
    compiled.output.tuned.push_back({candidates[i].functions, (*seconds)[i], i == best});
  return compiled;
}

}  // namespace scopevm::compiler::pipeline
