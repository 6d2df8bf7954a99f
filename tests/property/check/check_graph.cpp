// Implements check_graph.h. A child process compiles and calls the graph, compares the results, and
// sends its verdict.
#include "tests/property/check/check_graph.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <ranges>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/conformance/isolate.h"
#include "tests/conformance/memory_use.h"
#include "tests/dims/formula_value.h"
#include "tests/property/check/check_bound.h"
#include "tests/property/check/check_copies.h"
#include "tests/property/check/check_memory.h"
#include "tests/property/check/check_pool.h"
#include "tests/property/check/divide.h"
#include "tests/property/check/external_ops.h"
#include "tests/property/random/outline.h"
#include "tests/property/random/scatter.h"
#include "tests/ranks/local_ranks.h"
#include "tests/temporary_file.h"

namespace scopevm::compiler::property {
namespace {

Verdict failure(Finding finding, std::string detail) { return {finding, std::move(detail)}; }

Result<Tensor> tensor_of(const Array& array) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(array.dtype, array.dims));
  std::memset(tensor.data(), 0, static_cast<size_t>(tensor.bytes()));
  for (size_t i = 0; i < array.elements.size(); ++i)
    encode(array.dtype, array.elements[i].value, tensor.data(), i);
  return tensor;
}

std::string joined(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

void compare(const Arrays& expected, std::span<const Tensor> actual, Verdict& verdict) {
  for (size_t i = 0; i < expected.size(); ++i) {
    std::string at = "output" + std::to_string(i) + ": ";
    const Array& want = expected[i];
    std::span<const int64_t> dims = actual[i].dims();
    if (actual[i].dtype() != want.dtype ||
        !std::equal(dims.begin(), dims.end(), want.dims.begin(), want.dims.end())) {
      verdict.finding = Finding::kMismatch;
      verdict.detail = at + "dims " + joined(dims) + ", expected " + joined(want.dims);
      return;
    }
    std::string difference = first_difference(want, want.dtype, actual[i].data());
    if (!difference.empty()) {
      verdict.finding = Finding::kMismatch;
      verdict.detail = at;
      verdict.detail.append(scopevm::name(want.dtype)).append(joined(dims)).append(difference);
      return;
    }
    for (const Number& number : want.elements)
      ++(number.is_known() ? verdict.compared : verdict.skipped);
  }
}

std::string str(const Symbols& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols) text += " " + name + "=" + std::to_string(value);
  return text;
}

// Checks that the printed formulas of the memory bound have the values of the shape function.
Verdict check_formulas(const Module& module, const Symbols& symbols) {
  constexpr int kThreads = 3;
  std::map<std::string, int64_t> dims;
  for (const DimensionSignature& dimension : module.signature().dimensions)
    dims[dimension.name] = symbols.at(dimension.name);
  const auto bound = module.memory_bound(dims, kThreads);
  if (!bound.ok()) return {};  // the dims do not determine a bound
  Verdict verdict;
  for (const MemoryLine& line : bound->lines) {
    if (line.depends_on_data) continue;
    if (line.formula.starts_with("omitted"))
      ++verdict.omitted;
    else if (formula_value(bound->definitions, line.formula, dims, kThreads) != line.bytes)
      return failure(Finding::kWrongFormula, "formula of " + line.what + " is " + line.formula +
                                                 ", expected " + std::to_string(line.bytes));
  }
  return verdict;
}

// Reserves the memory of all requests. Returns false if the module has no bound function, or its
// sizes exceed 64 bits.
bool reserve(const Session& session, const std::vector<Expectation>& calls) {
  std::map<std::string, DimRange> ranges;
  for (const DimensionSignature& dimension : session.signature().dimensions) {
    const auto value_in = [&](const Expectation& call) {
      return call.request.symbols.at(dimension.name);
    };
    const auto [least, most] = std::ranges::minmax(calls | std::views::transform(value_in));
    ranges[dimension.name] = {least, most};
  }
  return session.reserve(ranges).ok();
}

Verdict check_memory(const Module& module, const CallStats& stats, const Symbols& symbols,
                     bool is_reserved) {
  std::map<std::string, int64_t> dims;
  for (const DimensionSignature& dimension : module.signature().dimensions)
    dims[dimension.name] = symbols.at(dimension.name);
  const std::string wrong = conformance::wrong_memory_use(module, stats, dims, is_reserved);
  return wrong.empty() ? Verdict{} : failure(Finding::kWrongMemory, wrong);
}

// Runs one call. Adds the elements that it compares to `verdict`, or what is wrong.
void run(const Session& session, const Module& module, const Expectation& expected,
         bool is_reserved, Verdict& verdict) {
  const auto fail = [&](const Verdict& found) {
    verdict.finding = found.finding;
    verdict.detail = found.detail;
  };
  const Verdict formulas = check_formulas(module, expected.request.symbols);
  verdict.omitted += formulas.omitted;
  if (formulas.finding != Finding::kAgrees) return fail(formulas);
  if (const std::string wrong = wrong_bound(module, expected.request.symbols); !wrong.empty())
    return fail(failure(Finding::kWrongFormula, wrong));
  Result<Call> call = session.make_call();
  Status status = call.status();
  for (size_t i = 0; i < expected.request.inputs.size() && status.ok(); ++i) {
    const Result<Tensor> tensor = tensor_of(expected.request.inputs[i]);
    status = tensor.ok() ? call->set_input(i, *tensor) : tensor.status();
  }
  if (status.ok()) status = call->run();
  if (!status.ok()) return fail(failure(Finding::kRunError, std::string(status.message())));
  compare(expected.results, call->outputs(), verdict);
  if (verdict.finding == Finding::kAgrees)
    fail(check_memory(module, call->stats(), expected.request.symbols, is_reserved));
}

bool are_permitted(const Symbols& symbols, const std::map<std::string, DimBound>& dims) {
  return std::ranges::all_of(dims, [&](const auto& each) {
    const auto found = symbols.find(each.first);
    return found == symbols.end() ||
           (found->second >= each.second.least() && found->second <= each.second.max);
  });
}

Verdict run_requests(const GraphCase& graph, const std::vector<Arrays>& expected,
                     const std::vector<uint8_t>& bytes, const CompileOptions& options) {
  auto module = Module::load_bytes(bytes);
  if (!module.ok())
    return failure(Finding::kRunError, "load: " + std::string(module.status().message()));
  std::vector<Expectation> calls;
  for (size_t i = 0; i < graph.requests.size(); ++i)
    if (are_permitted(graph.requests[i].symbols, options.dims))
      calls.push_back({graph.requests[i], expected[i]});
  Verdict verdict;
  const size_t whole = calls.size();
  for (size_t i = 0; i < whole; ++i)
    for (Expectation& part : parts_of(calls[i], module->signature())) {
      if (!are_permitted(part.request.symbols, options.dims)) continue;
      calls.push_back(std::move(part));
      ++verdict.parts;
    }
  // Functions that are not inlined can release their storages in another order.
  const bool may_be_reserved =
      options.inline_limit > 0 && std::hash<std::string>()(graph.text()) % 3 != 0;
  const SessionOptions session_options = {.external_libraries = options.external_libraries};
  constexpr int64_t kEagerBytes = 64;
  std::optional<LocalRanks> ranks;
  if (module->ranks() > 1)
    ranks.emplace(
        *module, module->ranks(), kEagerBytes, [&](int) { return session_options; },
        [&](int rank, const Session& session) {
          if (may_be_reserved && rank > 0) (void)reserve(session, calls);
        });
  auto session = ranks ? ranks->leader() : Session::create(*module, session_options);
  if (!session.ok())
    return failure(Finding::kRunError, "session: " + std::string(session.status().message()));
  const bool is_reserved = may_be_reserved && reserve(*session, calls);
  for (const Expectation& call : calls) {
    run(*session, *module, call, is_reserved, verdict);
    if (verdict.finding == Finding::kAgrees) continue;
    verdict.detail += str(call.request.symbols);
    break;
  }
  if (ranks && verdict.finding == Finding::kAgrees && ranks->job().left() > 0)
    return failure(Finding::kRunError, "ranks: messages that no rank has received");
  return verdict;
}

// The JSON description of a machine with this workspace limit. Its frames have a small limit, which
// most graphs exceed.
std::string limited_machine(int64_t limit) {
  return R"({"devices": [{"name": "npu", "kind": "cpu", "max_stack_bytes": 512}, {"name": "cpu", "kind": "cpu"}],
             "pools": [{"device": "npu", "scope": "global", "bytes_per_second": 1e9},
                       {"device": "npu", "scope": "global.workspace", "bytes_per_second": 4e11,
                        "latency_seconds": 0, "limit_bytes": )" +
         std::to_string(limit) + "}]}";
}

// The workspace bytes of a call on "npu" for the maxima of the dims in `options`; -1 if they depend
// on data.
Result<int64_t> workspace_bytes(const std::vector<uint8_t>& bytes, const CompileOptions& options) {
  constexpr int kPlannedThreads = 2;
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load_bytes(bytes));
  std::map<std::string, int64_t> dims;
  for (const DimensionSignature& dimension : module.signature().dimensions)
    dims[dimension.name] = options.dims.at(dimension.name).max;
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound bound, module.memory_bound(dims, kPlannedThreads));
  for (const MemoryLine& line : bound.lines)
    if (line.depends_on_data && line.scope == "global.workspace") return -1;
  for (const ScopeBound& scope : bound.scopes)
    if (scope.scope == "global.workspace" && scope.device == "npu") return scope.bytes;
  return 0;
}

// Compiles the graph without a limit. Then sets the machine in `options` to one with a limit of 30
// to 100 % of its workspace bytes. Returns false if this limit does not exist, because the graph
// needs no workspace or the size depends on data.
Result<bool> squeeze(const GraphCase& graph, CompileOptions& options) {
  for (const Request& request : graph.requests)
    for (const auto& [name, value] : request.symbols)
      if (name[0] != '$') {
        int64_t& most = options.dims.at(name).max;
        most = std::max(&request == &graph.requests.front() ? 1 : most, value);
      }
  options.machine_json = limited_machine(int64_t{1} << 60);
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, compile(options));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, workspace_bytes(output.module, options));
  if (bytes <= 0) return false;
  const auto part = static_cast<int64_t>(std::hash<std::string>()(graph.text()) % 71);
  options.machine_json = limited_machine(bytes * (30 + part) / 100);
  return true;
}

// A graph that contradictory constraints make impossible to place is counted as refused.
Verdict check_reasons(const Annotated& graph, const CompileOptions& options) {
  Verdict verdict;
  const auto wrong = wrong_copy(graph, options);
  if (wrong.ok() && !wrong->empty()) return failure(Finding::kMismatch, *wrong);
  verdict.is_refused = !wrong.ok() && wrong.status().code() == StatusCode::kInvalidModel;
  if (!wrong.ok() && !verdict.is_refused)
    return failure(Finding::kCompileError, std::string(wrong.status().message()));
  return verdict;
}

// Whether two constraints exclude each other. The message then names both.
bool is_contradiction(const Status& status) {
  const auto contains = [&](std::string_view text) {
    return status.message().find(text) != std::string_view::npos;
  };
  return status.code() == StatusCode::kInvalidModel &&
         ((contains(" is required ") && contains(" and ")) ||
          contains(" does not have the scope required by "));
}

// All dims have the values of the first request, so that costs are known. Counts one element.
Verdict check_pool(const std::string& text, const GraphCase& graph, CompileOptions options) {
  for (const auto& [name, value] : graph.requests.front().symbols)
    if (name[0] != '$') options.dims[name] = {value, value};
  const Result<std::string> worse = worse_with_pool(text, options);
  if (worse.ok() && !worse->empty()) return failure(Finding::kMismatch, *worse);
  if (worse.ok()) return {.compared = 1};
  if (is_contradiction(worse.status()) || worse.status().code() == StatusCode::kResourceLimit)
    return {.is_refused = true};
  return failure(Finding::kCompileError, std::string(worse.status().message()));
}

// Explains the memory of each request. Counts one element per request whose dims determine a bound.
Verdict check_plans(const GraphCase& graph, CompileOptions options) {
  constexpr int kThreads = 3;
  const auto output = compile(options);
  if (!output.ok() && is_contradiction(output.status())) return {.is_refused = true};
  if (!output.ok()) return failure(Finding::kCompileError, std::string(output.status().message()));
  const auto module = Module::load_bytes(output->module);
  if (!module.ok()) return failure(Finding::kRunError, std::string(module.status().message()));
  Verdict verdict;
  for (const Request& request : graph.requests) {
    options.memory_request = {.dims = {}, .threads = kThreads};
    for (const DimensionSignature& dimension : module->signature().dimensions)
      options.memory_request.dims[dimension.name] = request.symbols.at(dimension.name);
    const auto bound = module->memory_bound(options.memory_request.dims, kThreads);
    const auto explanation = explain<MemoryExplanation>(options);
    // Without a bound for other reasons, the dims do not determine the sizes.
    const bool is_invalid = bound.status().code() == StatusCode::kInvalidArgument;
    if (explanation.ok() ? is_invalid : bound.ok())
      return failure(Finding::kWrongMemory,
                     "bound: " + std::string(bound.status().message()) +
                         "; explanation: " + std::string(explanation.status().message()));
    if (!bound.ok()) {
      ++verdict.skipped;
      continue;
    }
    ++verdict.compared;
    if (const std::string wrong = wrong_memory(*explanation, *bound); !wrong.empty())
      return failure(Finding::kWrongMemory, wrong + str(request.symbols));
  }
  return verdict;
}

bool cannot_be_split(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument &&
         status.message().find("--split") != std::string_view::npos;
}

Verdict compile_and_run(const GraphCase& graph, const std::vector<Arrays>& expected,
                        const CheckOptions& options) {
  std::string text = options.is_outlined ? outlined(graph) : graph.text();
  if (options.is_pinned) text = Annotated(text, Annotated::Forms::kAll).text();
  TemporaryFile file(text);
  CompileOptions compile_options;
  const size_t hash = std::hash<std::string>()(graph.text());
  if (options.is_outlined && hash % 2 == 0) compile_options.inline_limit = 0;
  compile_options.reorder = hash % 5 == 0;
  if (hash % 3 == 0) compile_options.image_layout = ImageLayout::kBlocked;
  compile_options.model_path = file.path();
  compile_options.target_cpus = {options.cpu};
  compile_options.threads = 1;
  for (const auto& [name, value] : graph.requests.front().symbols)
    if (name[0] != '$') compile_options.dims[name].min = 0;
  if (options.is_placed()) {
    Scatter scattered = scatter(graph.text(), options.devices());
    compile_options.machine_json = std::move(scattered.machine_json);
    compile_options.places = std::move(scattered.places);
    compile_options.allow_unmatched = true;
  }
  if (options.is_split) {
    RandomSplit by = random_split(graph.text());
    compile_options.machine_json = std::move(by.machine_json);
    compile_options.split = std::move(by.split);
    // Only static axes are divided.
    for (auto& [name, bound] : compile_options.dims)
      if (hash % 2 == 0) bound.min = bound.max = graph.requests.front().symbols.at(name);
  }
  if (options.is_external) {
    const bool merges_parts = hash / 2 % 2 == 0;
    compile_options.external_libraries = {&external_ops(merges_parts)};
  }
  if (options.is_explained) return check_reasons(Annotated(text), compile_options);
  if (options.is_pooled) return check_pool(text, graph, compile_options);
  if (options.is_planned) return check_plans(graph, compile_options);
  if (hash % 4 == 1 && !compile_options.dims.empty()) {
    const std::string& name = compile_options.dims.begin()->first;
    const Symbols& symbols = graph.requests.back().symbols;
    // Some graphs have a bound of a dim that none of their inputs has.
    if (const auto value = symbols.find(name); value != symbols.end())
      compile_options.variants = {{{name, {value->second, value->second}}}};
  }
  bool is_limited = false;
  if (options.is_squeezed) {
    auto squeezed = squeeze(graph, compile_options);
    is_limited = squeezed.ok() && *squeezed;  // compile() below repeats an error
  }
  std::clock_t began = std::clock();
  auto output = compile(compile_options);
  double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  Verdict verdict;
  if (output.ok() && options.measures_plans) {
    verdict.plans = measure_plans(output->module);
  } else if (output.ok()) {
    verdict = run_requests(graph, expected, output->module, compile_options);
  } else if ((is_limited && output.status().code() == StatusCode::kResourceLimit) ||
             (options.is_pinned && is_contradiction(output.status())) ||
             (options.is_split && cannot_be_split(output.status()))) {
    verdict.is_refused = true;
  } else {
    Status status = output.status();
    std::string message(status.message());
    if (size_t at = message.find(file.path()); at == 0) message.erase(0, file.path().size());
    verdict = failure(
        status.code() == StatusCode::kUnsupported ? Finding::kUnsupported : Finding::kCompileError,
        message);
  }
  verdict.compile_seconds = seconds;
  verdict.external_runs = external_runs();
  return verdict;
}

}  // namespace

std::string first_difference(const Array& expected, DType dtype, const void* actual) {
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    const Number& want = expected.elements[i];
    if (!want.is_known()) continue;
    long double got = decode(dtype, actual, i);
    bool agrees = std::isnan(want.value) ? std::isnan(got)
                  : std::isinf(want.value)
                      ? got == want.value
                      : std::fabs(got - want.value) <= static_cast<long double>(want.error);
    if (agrees) continue;
    char text[160];
    std::snprintf(text, sizeof text, " element %zu is %.10Lg, expected %.10Lg within %.3g", i, got,
                  want.value, want.error);
    return text;
  }
  return "";
}

Verdict check_graph(const GraphCase& graph, const CheckOptions& options) {
  std::vector<Arrays> expected;
  for (const Request& request : graph.requests) {
    auto arrays = interpret(graph.main(), request.inputs, request.symbols);
    if (!arrays.ok())
      return failure(Finding::kCompileError,
                     "reference: " + std::string(arrays.status().message()));
    expected.push_back(std::move(*arrays));
  }
  conformance::Limits limits;
  limits.cpu_seconds = options.cpu_seconds;
  auto work = [&] {
    Verdict verdict = compile_and_run(graph, expected, options);
    return conformance::Outcome{conformance::Verdict::kPass, "", packed(verdict)};
  };
  auto child = conformance::Child::start(work, limits);
  if (!child) return failure(Finding::kCrash, "no process could be started");
  conformance::Outcome outcome = child->finish();
  if (outcome.verdict == conformance::Verdict::kTimeout) return failure(Finding::kTimeout, "");
  if (outcome.verdict != conformance::Verdict::kPass)
    return failure(Finding::kCrash, outcome.detail);
  return unpacked(outcome.detail);
}

}  // namespace scopevm::compiler::property
