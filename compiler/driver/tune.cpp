// Measures parts and models; see tune.h.
#include "compiler/driver/tune.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/driver/compilation.h"
#include "compiler/shapes/representative.h"
#include "compiler/support/leaked_on_exception.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler {
namespace {

using Request = std::map<std::string, int64_t>;

std::vector<Request> requests_of(const Tuning& tuning) {
  return tuning.requests.empty() ? std::vector<Request>(1) : tuning.requests;
}

// The options for one alternative of a part. Machine and targets are those of the model; the facts
// about dims are in the graph.
CompileOptions part_options(const CompileOptions& model) {
  CompileOptions options;
  options.target_cpus = model.target_cpus;
  options.machine_json = model.machine_json;
  options.machine_name = model.machine_name;
  options.threads = model.threads;
  return options;
}

Request dims_of_call(const graph::DimBindings& call, const Request& request) {
  const DimValues known(request.begin(), request.end());
  Request dims;
  for (const auto& [name, dim] : call) {
    const auto value = static_cast<int64_t>(std::llround(representative(dim, known)));
    dims[name] = std::max<int64_t>(value, 1);
  }
  return dims;
}

// The dimensions of a module's inputs.
void add_bounds(mlir::ModuleOp graph, std::map<std::string, DimBound>& bounds) {
  auto main = graph.lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::Type type : main.getArgumentTypes())
    for (DimExpr dim : mlir::cast<graph::TensorType>(type).getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) {
        DimBound& bound = bounds[std::string(dim.symbol_name())];
        bound = {dim.facts().min, std::min(dim.facts().max, bound.max), dim.facts().multiple_of};
      }
}

std::string key_of(const Alternatives& part, const Request& dims, const CompileOptions& options) {
  std::string key = part.key;
  for (const auto& [name, value] : dims) key += " " + name + "=" + std::to_string(value);
  for (const std::string& target : options.target_cpus) key += " " + target;
  return key + " " + options.machine_json;
}

// The duration of a call of each module.
Result<std::vector<double>> measure_modules(const Tuning& tuning,
                                            std::span<const std::span<const uint8_t>> modules,
                                            const Request& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<double> seconds, tuning.measure(modules, dims));
  if (seconds.size() == modules.size()) return seconds;
  return Status(StatusCode::kInvalidArgument,
                "Tuning::measure returned " + std::to_string(seconds.size()) + " durations for " +
                    std::to_string(modules.size()) + " modules");
}

}  // namespace

Status check_requests(const CompileOptions& options, mlir::ModuleOp graph) {
  std::set<std::string> names;
  for (auto function : graph.getOps<mlir::func::FuncOp>())
    for (mlir::Type type : function.getArgumentTypes())
      if (auto tensor = mlir::dyn_cast<graph::TensorType>(type))
        for (DimExpr dim : tensor.getShape())
          for (const std::string& name : dim.symbols()) names.insert(name);
  const auto invalid = [](const std::string& message) {
    return Status(StatusCode::kInvalidArgument, "tuning: " + message);
  };
  for (const Request& request : options.tuning.requests)
    for (const auto& [name, value] : request) {
      const auto known = options.dims.find(name);
      const DimBound bound = known == options.dims.end() ? DimBound() : known->second;
      if (known == options.dims.end() && !names.contains(name))
        return invalid("the model has no dimension \"" + name + "\"");
      if (value < std::max<int64_t>(bound.min, 1) || value > bound.max)
        return invalid("dimension \"" + name + "\" is " + std::to_string(value) + ", expected " +
                       std::to_string(std::max<int64_t>(bound.min, 1)) + " to " +
                       std::to_string(bound.max));
      if (value % bound.multiple_of != 0)
        return invalid("dimension \"" + name + "\" is " + std::to_string(value) +
                       ", expected a multiple of " + std::to_string(bound.multiple_of));
    }
  return {};
}

Result<Tuner::Seconds> Tuner::operator()(Alternatives part) const {
  // Calls with equal dims are measured once.
  std::map<Request, int64_t> counts;
  for (const Request& request : requests_of(options_.tuning))
    for (const graph::DimBindings& call : part.calls) ++counts[dims_of_call(call, request)];
  Seconds total(part.graphs.size());
  Modules modules;
  for (const auto& [dims, count] : counts) {
    SCOPEVM_ASSIGN_OR_RETURN(const Seconds seconds, measure(part, dims, modules));
    for (size_t i = 0; i < total.size(); ++i) total[i] += static_cast<double>(count) * seconds[i];
  }
  return total;
}

Result<Tuner::Seconds> Tuner::measure(Alternatives& part, const Dims& dims,
                                      Modules& modules) const {
  const Tuning& tuning = options_.tuning;
  const std::string key = key_of(part, dims, options_);
  const size_t count = part.graphs.size();
  if (tuning.find)
    if (const std::optional<Seconds> known = tuning.find(key, count);
        known && known->size() == count)
      return *known;
  if (modules.index.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(modules, compile(part));
  }
  const std::vector<std::span<const uint8_t>> bytes(modules.distinct.begin(),
                                                    modules.distinct.end());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<double> seconds, measure_modules(tuning, bytes, dims));
  Seconds times;
  for (const size_t index : modules.index) times.push_back(seconds[index]);
  if (tuning.store) tuning.store(key, times);
  return times;
}

Result<Tuner::Modules> Tuner::compile(Alternatives& part) const {
  Modules modules;
  for (mlir::OwningOpRef<mlir::ModuleOp>& graph : part.graphs) {
    CompileOptions options = part_options(options_);
    options.image_layout = part.layout;
    add_bounds(*graph, options.dims);
    const LeakedOnException<Compilation> compilation(options, backends_, context_);
    SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, compilation->run_graph(std::move(graph)));
    const auto known = std::ranges::find(modules.distinct, output.module);
    modules.index.push_back(static_cast<size_t>(known - modules.distinct.begin()));
    if (known == modules.distinct.end()) modules.distinct.push_back(std::move(output.module));
  }
  return modules;
}

namespace {

// The index of the fastest form, or 0 unless another one is clearly faster than the first one.
size_t fastest_form(const std::vector<double>& seconds) {
  const auto best = std::ranges::min_element(seconds);
  return external::is_faster(*best, seconds.front()) ? static_cast<size_t>(best - seconds.begin())
                                                     : 0;
}

}  // namespace

Status Compilation::measure_convolutions(size_t graph) {
  // With several devices, the device of a convolution depends on the other ops of the model.
  if (!options_.tuning.measure || options_.image_layout != ImageLayout::kAuto ||
      machine_.devices.size() != 1)
    return {};
  layouts::Options& options = placed_.runs[graph]->layout_options;
  for (const Request& request : requests_of(options_.tuning))
    options.requests.emplace_back(request.begin(), request.end());
  const Tuner tuner(options_, backends_, context_);
  for (layouts::Forms& forms :
       layouts::forms_of(*placed_.graphs[graph], machine_, options_.fast_conv)) {
    SCOPEVM_ASSIGN_OR_RETURN(const Tuner::Seconds seconds,
                             tuner({.graphs = std::move(forms.modules),
                                    .key = forms.key,
                                    .calls = {forms.dims},
                                    .layout = ImageLayout::kByChannel}));
    const std::vector<double> blocked(seconds.begin() + 1, seconds.end());
    options.measured[forms.id] = {
        .plain = seconds.front(), .blocked = blocked, .form = fastest_form(blocked)};
  }
  return {};
}

namespace {

using Part = ExternalExplanation::Part;

// A way to compile the model.
struct Candidate {
  std::string functions;  // TunedModel::functions
  CompileOutput output;
  std::vector<Part> parts;
};

// The dims of a request, with representative values of those that it does not contain.
Request complete(Request request, const Function& main) {
  for (const Dimension& dimension : main.dimensions)
    request.try_emplace(dimension.name, dimension.representative);
  return request;
}

// The time of all requests, by module.
Result<std::vector<double>> measure_models(const Tuning& tuning,
                                           std::span<const std::span<const uint8_t>> modules,
                                           const Function& main) {
  std::vector<double> total(modules.size());
  for (const Request& request : requests_of(tuning)) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                             measure_modules(tuning, modules, complete(request, main)));
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
    if (std::ranges::none_of(candidates[i].parts, &Part::is_taken) &&
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

Result<CompileOutput> Compilation::run_tuned() {
  std::vector<Candidate> candidates;
  const auto compile_other = [&](const char* functions, bool has_libraries) -> Status {
    CompileOptions options = options_;
    if (has_libraries) options.tuning = {};
    options.dump_after.clear();
    options.progress = {};
    if (!has_libraries) options.external_libraries.clear();
    const LeakedOnException<Compilation> other(options, backends_);
    SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, other->run_once());
    candidates.push_back({functions, std::move(output),
                          has_libraries ? other->external_parts_ : without_taken(external_parts_)});
    return {};
  };
  SCOPEVM_ASSIGN_OR_RETURN(CompileOutput faster, run_once());
  candidates.push_back({"faster", std::move(faster), external_parts_});
  // The candidates differ only if the library computes some of the accepted parts.
  if (has_parts(external_parts_, true)) SCOPEVM_RETURN_IF_ERROR(compile_other("none", false));
  if (has_parts(external_parts_, false)) SCOPEVM_RETURN_IF_ERROR(compile_other("all", true));
  if (candidates.size() == 1) return std::move(candidates[0].output);

  std::vector<std::span<const uint8_t>> modules;
  for (const Candidate& candidate : candidates) modules.emplace_back(candidate.output.module);
  const auto seconds = measure_models(options_.tuning, modules, placed_.program->functions.front());
  size_t best = 0;
  if (seconds.ok()) best = fastest_candidate(*seconds, candidates);
  CompileOutput output = std::move(candidates[best].output);
  external_parts_ = std::move(candidates[best].parts);
  if (!seconds.ok())
    output.warnings.push_back(
        "tuning: the model cannot be measured, so each part is chosen by its own time: " +
        std::string(seconds.status().message()));
  for (size_t i = 0; seconds.ok() && i < candidates.size(); ++i)
    output.tuned.push_back({candidates[i].functions, (*seconds)[i], i == best});
  return output;
}

}  // namespace scopevm::compiler
