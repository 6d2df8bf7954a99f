// Sets the callbacks of Tuning; see tuning.h.
#include "tools/compile/tuning/tuning.h"

#include <fmt/format.h>

#include "tools/command_line/arguments.h"
#include "tools/compile/tuning/measure.h"

namespace scopevm::tool {
namespace {

Result<std::map<std::string, int64_t>> parse_request(const std::string& text) {
  std::map<std::string, int64_t> dims;
  for (const std::string& item : split_strings(text)) {
    SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(item));
    SCOPEVM_RETURN_IF_ERROR(add_dim_value(parts.first, parts.second, dims));
  }
  return dims;
}

}  // namespace

Result<std::shared_ptr<TuningCache>> set_tuning(const TuneOptions& tune, CompileOptions& options) {
  if (!tune.is_enabled) return std::shared_ptr<TuningCache>();
  for (const std::string& text : tune.requests) {
    Result<std::map<std::string, int64_t>> request = parse_request(text);
    if (!request.ok()) return std::move(request).status().with_context("--tune-for");
    options.tuning.requests.push_back(*std::move(request));
  }
  SCOPEVM_ASSIGN_OR_RETURN(TuningCache opened, TuningCache::open(tune.cache));
  auto cache = std::make_shared<TuningCache>(std::move(opened));
  const std::string prefix = tune.threads == 1 ? "" : fmt::format("{} threads ", tune.threads);
  options.tuning.find = [cache, prefix](const std::string& key, size_t count) {
    return cache->find(prefix + key, count);
  };
  options.tuning.store = [cache, prefix](const std::string& key, const auto& seconds) {
    cache->store(prefix + key, seconds);
  };
  options.tuning.measure = [libraries = options.external_libraries, threads = tune.threads](
                               const auto& modules, const auto& dims) {
    return measure_modules(modules, dims, {.threads = threads, .external_libraries = libraries});
  };
  return cache;
}

std::string text_of(const std::vector<TunedModel>& models) {
  std::string text, chosen;
  for (const TunedModel& model : models) {
    text += fmt::format("{}{} {:.3g} ms", text.empty() ? "" : ", ", model.functions,
                        1e3 * model.seconds);
    if (model.is_chosen) chosen = model.functions;
  }
  return fmt::format("{}; chosen: {}", text, chosen);
}

std::string text_of(const std::vector<MeasuredForm>& forms) {
  std::string text, chosen;
  for (const MeasuredForm& form : forms) {
    text += fmt::format("{}{} {:.4g} us", text.empty() ? "" : ", ", form.name, 1e6 * form.seconds);
    if (form.is_chosen) chosen = form.name;
  }
  return fmt::format("{}; chosen: {}", text, chosen);
}

}  // namespace scopevm::tool
