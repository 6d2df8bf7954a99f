// Compiles and measures alternatives; see tuner.h.
#include "compiler/pipeline/tuning/tuner.h"

#include <algorithm>
#include <set>

#include "compiler/dims/representative.h"
#include "compiler/pipeline/stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::pipeline {
namespace {

// The options for one alternative of a part. Machine and targets are those of the model; the facts
// about dims are in the graph.
CompileOptions part_options(const CompileOptions& model) {
  CompileOptions options;
  options.target_cpus = model.target_cpus;
  options.machine_json = model.machine_json;
  options.machine_name = model.machine_name;
  options.threads = model.threads;
  options.stop_token = model.stop_token;
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
  auto main = graph.lookupSymbol<mlir::func::FuncOp>(format::kEntryName);
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

}  // namespace

std::vector<Request> requests_of(const Tuning& tuning) {
  return tuning.requests.empty() ? std::vector<Request>(1) : tuning.requests;
}

Result<std::vector<double>> measure_modules(const Tuning& tuning,
                                            std::span<const std::span<const uint8_t>> modules,
                                            const Request& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<double> seconds, tuning.measure(modules, dims));
  if (seconds.size() == modules.size()) return seconds;
  return Status(StatusCode::kInvalidArgument,
                "Tuning::measure returned " + std::to_string(seconds.size()) + " durations for " +
                    std::to_string(modules.size()) + " modules");
}

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
      if (value < std::max<int64_t>(bound.least(), 1) || value > bound.max)
        return invalid("dimension \"" + name + "\" is " + std::to_string(value) + ", expected " +
                       std::to_string(std::max<int64_t>(bound.least(), 1)) + " to " +
                       std::to_string(bound.max));
      if (value % bound.multiple_of != 0)
        return invalid("dimension \"" + name + "\" is " + std::to_string(value) +
                       ", expected a multiple of " + std::to_string(bound.multiple_of));
    }
  return {};
}

Result<Tuner::Seconds> Tuner::measure(Alternatives part) const {
  // Calls with equal dims are measured once.
  std::map<Request, int64_t> counts;
  for (const Request& request : requests_of(options_.tuning))
    for (const graph::DimBindings& call : part.calls) ++counts[dims_of_call(call, request)];
  Seconds total(part.graphs.size());
  Modules modules;
  for (const auto& [dims, count] : counts) {
    SCOPEVM_ASSIGN_OR_RETURN(const Seconds seconds, measure_call(part, dims, modules));
    for (size_t i = 0; i < total.size(); ++i) total[i] += static_cast<double>(count) * seconds[i];
  }
  return total;
}

Result<Tuner::Seconds> Tuner::measure_call(Alternatives& part, const Request& dims,
                                           Modules& modules) const {
  const Tuning& tuning = options_.tuning;
  const std::string key = key_of(part, dims, options_);
  const size_t count = part.graphs.size();
  if (tuning.find)
    if (const std::optional<Seconds> known = tuning.find(key, count);
        known && known->size() == count)
      return *known;
  if (modules.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(modules, compile(part));
  }
  const std::vector<std::span<const uint8_t>> bytes(modules.begin(), modules.end());
  SCOPEVM_ASSIGN_OR_RETURN(Seconds seconds, measure_modules(tuning, bytes, dims));
  if (tuning.store) tuning.store(key, seconds);
  return seconds;
}

Result<Tuner::Modules> Tuner::compile(Alternatives& part) const {
  Modules modules;
  for (mlir::OwningOpRef<mlir::ModuleOp>& graph : part.graphs) {
    CompileOptions options = part_options(options_);
    options.image_layout = part.layout;
    add_bounds(*graph, options.dims);
    Context context(options, context_);
    SCOPEVM_ASSIGN_OR_RETURN(Compiled compiled, compile_graph(std::move(graph), context));
    modules.push_back(std::move(compiled.output.module));
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

Status Tuner::measure_convolutions(mlir::ModuleOp graph, const Machine& machine,
                                   layouts::Options& options) const {
  // With several devices, the device of a convolution depends on the other ops of the model.
  if (!options_.tuning.measure || options_.image_layout != ImageLayout::kAuto ||
      machine.devices.size() != 1)
    return {};
  for (const Request& request : requests_of(options_.tuning))
    options.requests.emplace_back(request.begin(), request.end());
  for (layouts::Forms& forms : layouts::forms_of(graph, machine, options)) {
    SCOPEVM_ASSIGN_OR_RETURN(const Seconds seconds, measure({.graphs = std::move(forms.modules),
                                                             .key = forms.key,
                                                             .calls = {forms.dims},
                                                             .layout = ImageLayout::kByChannel}));
    const std::vector<double> blocked(seconds.begin() + 1, seconds.end());
    options.measured[forms.id] = {
        .plain = seconds.front(), .blocked = blocked, .form = fastest_form(blocked)};
  }
  return {};
}

Result<PartSeconds> Tuner::measure_part(external::Alternatives part) const {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> graphs;
  graphs.push_back(std::move(part.library));
  graphs.push_back(std::move(part.own));
  SCOPEVM_ASSIGN_OR_RETURN(const Seconds seconds, measure({.graphs = std::move(graphs),
                                                           .key = std::move(part.key),
                                                           .calls = std::move(part.calls)}));
  return PartSeconds{.library = seconds[0], .own = seconds[1]};
}

}  // namespace scopevm::compiler::pipeline
