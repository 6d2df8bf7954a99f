// explain_memory(): the storages of a call, as the module's memory formulas count them, and the
// peaks of the arenas. Runs all stages that determine the memory plan, but not codegen.
#include <algorithm>

#include "compiler/driver/compilation.h"
#include "compiler/memory/explain/explain.h"

namespace scopevm::compiler {
namespace {

using Explained = MemoryExplanation::Function;

// Explains one function of the planned program.
class FunctionExplainer {
 public:
  FunctionExplainer(const Program& program, FunctionIndex index,
                    const bytecode::PlannedFunction& planned, const format::FunctionDecl& decl,
                    memory::Request request)
      : program_(program),
        function_(program.functions[index]),
        planned_(planned),
        decl_(decl),
        request_(std::move(request)),
        values_(*planned.shapes.evaluate(request_.symbols, request_.threads)) {}

  Explained run(const MemoryRequest& given) {
    explained_.name = function_.name;
    explained_.steps = memory::explained_steps(program_, function_);
    add_dims(given);
    add_lines();
    add_pools();
    for (const memory::Arena& arena : planned_.plan.arenas) add_arena(arena);
    return std::move(explained_);
  }

 private:
  void add_dims(const MemoryRequest& given) {
    const bool needs_data = std::ranges::any_of(
        planned_.plan.arenas, [](const auto& arena) { return arena.segment > SegmentIndex{0}; });
    for (const auto& [name, value] : request_.symbols) {
      const auto dimension = std::ranges::find(function_.dimensions, name, &Dimension::name);
      const bool is_dimension = dimension != function_.dimensions.end();
      if (!is_dimension && !needs_data) continue;
      explained_.dims[name] = value;
      const bool is_fixed = is_dimension && dimension->min == dimension->max;
      if (!given.dims.contains(name) && !is_fixed) explained_.assumed.push_back(name);
    }
  }

  // The bytes of a slot. Slots that the VM writes belong to entries without known bytes.
  int64_t bytes_of(uint32_t slot) const {
    const std::optional<ShapeProgram::ValueIndex> value = planned_.shapes.stores()[SlotIndex{slot}];
    return value ? values_[*value] : 0;
  }

  void add_lines() {
    size_t results = 0;
    for (const format::MemoryDecl& entry : decl_.memory) {
      MemoryExplanation::Line line{.pool = program_.machine.pool_name({entry.pool}),
                                   .what = entry.what,
                                   .is_result = entry.is_result,
                                   .depends_on_data = entry.depends_on_data};
      if (!entry.depends_on_data) {
        line.bytes = bytes_of(entry.bytes_slot);
        line.lower_bound_bytes = bytes_of(entry.lower_bound_slot);
      }
      // The entries of results have the order of the outputs.
      if (entry.is_result) line.step = first_write(function_.outputs[results++]);
      bytes_of_pool_[{entry.pool}] += line.bytes;
      explained_.lines.push_back(std::move(line));
    }
  }

  std::optional<int64_t> first_write(ValueId output) const {
    const ValueId root = memory::root_of(function_, output);
    for (size_t at = 0; at < function_.steps.size(); ++at)
      for (ValueId result : function_.steps[at].results)
        if (memory::root_of(function_, result) == root) return static_cast<int64_t>(at);
    return std::nullopt;
  }

  void add_pools() {
    const Machine& machine = program_.machine;
    for (const MemoryExplanation::Line& line : explained_.lines) {
      auto pool = std::ranges::find(explained_.pools, line.pool, &MemoryExplanation::Pool::name);
      if (pool == explained_.pools.end()) pool = explained_.pools.insert(pool, {.name = line.pool});
      pool->bytes += line.bytes;
      pool->lower_bound_bytes += line.lower_bound_bytes;
    }
    for (const Constant& constant : program_.constants) {
      const std::string name = machine.pool_name(constant.pool);
      auto pool = std::ranges::find(explained_.pools, name, &MemoryExplanation::Pool::name);
      if (pool == explained_.pools.end()) pool = explained_.pools.insert(pool, {.name = name});
      pool->constant_bytes += constant.bytes;
      bytes_of_pool_[constant.pool] += constant.bytes;
    }
    for (PoolIndex pool : machine.pools.indices())
      if (machine.pools[pool].is_limited())
        for (MemoryExplanation::Pool& explained : explained_.pools)
          if (explained.name == machine.pool_name(pool))
            explained.limit_bytes = machine.pools[pool].limit;
  }

  void add_arena(const memory::Arena& arena) {
    std::map<PoolIndex, int64_t> heights;
    for (const memory::Arena& other : planned_.plan.arenas)
      if (other.segment == SegmentIndex{0}) heights[other.pool] = values_[other.height];
    explained_.arenas.push_back(memory::explain({.program = program_,
                                                 .function = function_,
                                                 .arena = arena,
                                                 .height = values_[arena.height],
                                                 .request = request_,
                                                 .bytes_of_pool = bytes_of_pool_,
                                                 .heights = heights},
                                                planned_.plan, planned_.shapes));
  }

  const Program& program_;
  const Function& function_;
  const bytecode::PlannedFunction& planned_;
  const format::FunctionDecl& decl_;
  const memory::Request request_;
  const ShapeProgram::Values values_;
  std::map<PoolIndex, int64_t> bytes_of_pool_;  // with constants
  Explained explained_;
};

}  // namespace

Status Compilation::plan_only() {
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  SCOPEVM_RETURN_IF_ERROR(import({}));
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages());
  SCOPEVM_RETURN_IF_ERROR(lower());
  return plan();
}

Result<MemoryExplanation> Compilation::explain_memory() {
  const MemoryRequest& given = options_.memory_request;
  if (given.threads < 1)
    return Status(StatusCode::kInvalidArgument,
                  "threads is " + std::to_string(given.threads) + ", expected at least 1");
  SCOPEVM_RETURN_IF_ERROR(plan_only());
  const Program& program = *placed_.program;
  SCOPEVM_ASSIGN_OR_RETURN(module_, bytecode::emit_module(program, planned_));
  MemoryExplanation explanation{.threads = given.threads, .warnings = output_.warnings};
  for (FunctionIndex f : program.functions.indices()) {
    // The request has the dims of main. Each caller has its own dims of another function.
    const MemoryRequest request =
        f.value == 0 ? given : MemoryRequest{.dims = {}, .threads = given.threads};
    const Function& function = program.functions[f];
    Result<memory::Request> symbols =
        memory::explained_request(function, planned_[f].shapes, request);
    if (!symbols.ok() && f.value == 0) return symbols.status();
    if (!symbols.ok()) {
      // Calls satisfy each check, but representative dims can violate one.
      explanation.warnings.push_back(
          "the memory of function " + function.name +
          " is not explained: " + std::string(symbols.status().message()));
      continue;
    }
    explanation.functions.push_back(
        FunctionExplainer(program, f, planned_[f], module_.functions[f.value], *std::move(symbols))
            .run(request));
  }
  add_alternatives(explanation.functions.front());
  return explanation;
}

namespace {

// Adds the alternative to the arenas of `main` whose plan it lowers. `planned` is the plan of main
// with the alternative.
void add_alternative(const std::string& option, const Machine& machine,
                     const bytecode::PlannedFunction& planned, const memory::Request& request,
                     Explained& main) {
  const auto values = planned.shapes.evaluate(request.symbols, request.threads);
  if (!values) return;
  for (MemoryExplanation::Arena& arena : main.arenas) {
    if (arena.segment != 0) continue;  // another compilation can have other segments
    MemoryExplanation::Alternative alternative{.option = option};
    for (const memory::Arena& other : planned.plan.arenas) {
      if (other.segment > SegmentIndex{0} || machine.pool_name(other.pool) != arena.pool) continue;
      alternative.bytes = (*values)[other.height];
      alternative.lower_bound_bytes = (*values)[other.lower_bound];
    }
    if (alternative.bytes < arena.bytes) arena.alternatives.push_back(std::move(alternative));
  }
}

}  // namespace

// Evaluates the plan with one thread, and compiles the model with other options for convolutions.
void Compilation::add_alternatives(Explained& main) {
  const auto add = [&](const std::string& option, Compilation& other, int threads) {
    MemoryRequest given = options_.memory_request;
    given.threads = threads;
    const Function& function = other.placed_.program->functions.front();
    const Result<memory::Request> request =
        memory::explained_request(function, other.planned_.front().shapes, given);
    if (request.ok())
      add_alternative(option, other.machine_, other.planned_.front(), *request, main);
  };
  if (options_.memory_request.threads > 1) add("--threads 1", *this, 1);
  const auto add_compiled = [&](const std::string& option, const auto& change) {
    CompileOptions options = options_;
    options.dump_after.clear();
    options.tuning = {};
    change(options);
    Compilation other(options, backends_);
    if (other.plan_only().ok()) add(option, other, options.memory_request.threads);
  };
  if (!placed_.runs.front()->layouts.ops.empty()) {
    if (options_.image_layout != ImageLayout::kByChannel)
      add_compiled("--image-layout by-channel",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kByChannel; });
    if (options_.image_layout != ImageLayout::kBlocked)
      add_compiled("--image-layout blocked",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kBlocked; });
    add_compiled(options_.fast_conv ? "without --fast-conv" : "--fast-conv",
                 [](CompileOptions& o) { o.fast_conv = !o.fast_conv; });
  }
  for (MemoryExplanation::Arena& arena : main.arenas)
    std::ranges::stable_sort(arena.alternatives, {}, &MemoryExplanation::Alternative::bytes);
  for (MemoryExplanation::Arena& arena : main.arenas) find_options(arena);
}

// Compiles the model with --place rules that move all values of the buffer. They are an option if
// the plan is that of the suggestion: a rule can name no op, and can change the fusion of ops.
void Compilation::find_options(MemoryExplanation::Arena& arena) const {
  for (MemoryExplanation::Suggestion& suggestion : arena.suggestions)
    for (MemoryExplanation::Change& change : suggestion.changes) {
      const auto buffer =
          std::ranges::find(arena.buffers, change.value, &MemoryExplanation::Buffer::name);
      if (change.kind != MemoryExplanation::Change::Kind::kMove || !change.steps.empty() ||
          buffer == arena.buffers.end())
        continue;
      CompileOptions options = options_;
      options.dump_after.clear();
      options.tuning = {};
      std::string option;
      for (const std::string& value : buffer->values) {
        options.places.push_back(value + "=" + change.pool);
        option += (option.empty() ? "" : " ") + ("--place '" + options.places.back() + "'");
      }
      Compilation other(options, backends_);
      if (other.plan_only().ok() && other.main_height(arena) == suggestion.bytes)
        change.option = option;
    }
}

// The height of the corresponding arena of main; none if the sizes are unknown.
std::optional<int64_t> Compilation::main_height(const MemoryExplanation::Arena& arena) const {
  const bytecode::PlannedFunction& planned = planned_.front();
  const Result<memory::Request> request = memory::explained_request(
      placed_.program->functions.front(), planned.shapes, options_.memory_request);
  if (!request.ok()) return std::nullopt;
  const auto values = planned.shapes.evaluate(request->symbols, request->threads);
  if (!values) return std::nullopt;
  for (const memory::Arena& other : planned.plan.arenas)
    if (static_cast<int64_t>(other.segment.value) == arena.segment &&
        machine_.pool_name(other.pool) == arena.pool)
      return (*values)[other.height];
  return 0;
}

}  // namespace scopevm::compiler
