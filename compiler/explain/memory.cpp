// The memory plan of a model: the storages of a call, as the module's memory formulas count them,
// and the peaks of the arenas. Runs all stages that determine the memory plan, but not codegen.
#include <algorithm>

#include "compiler/explain/memory_alternatives.h"
#include "compiler/explain/report.h"
#include "compiler/memory/explain/explain.h"

namespace scopevm::compiler::explain {
namespace {

using ExplainedMemory = MemoryExplanation::Function;

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

  ExplainedMemory run(const MemoryRequest& given) {
    explained_.name = function_.name;
    explained_.steps = memory::explained_steps(program_, function_);
    add_dims(given);
    add_lines();
    add_pools();
    for (const memory::Arena& arena : planned_.plan.arenas)
      explained_.arenas.push_back(
          memory::explain(program_, function_, planned_.plan, arena, planned_.shapes, request_));
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
      explained_.lines.push_back(std::move(line));
    }
  }

  std::optional<int64_t> first_write(ValueId output) const {
    const ValueId root = root_of(function_, output);
    for (size_t at = 0; at < function_.steps.size(); ++at)
      for (ValueId result : function_.steps[at].results)
        if (root_of(function_, result) == root) return static_cast<int64_t>(at);
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
    }
    for (PoolIndex pool : machine.pools.indices())
      if (machine.pools[pool].is_limited())
        for (MemoryExplanation::Pool& explained : explained_.pools)
          if (explained.name == machine.pool_name(pool))
            explained.limit_bytes = machine.pools[pool].limit;
  }

  const Program& program_;
  const Function& function_;
  const bytecode::PlannedFunction& planned_;
  const format::FunctionDecl& decl_;
  const memory::Request request_;
  const ShapeProgram::Values values_;
  ExplainedMemory explained_;
};

Result<MemoryExplanation> memory(pipeline::Context& context) {
  const MemoryRequest& given = context.options.memory_request;
  if (given.threads < 1)
    return Status(StatusCode::kInvalidArgument,
                  "threads is " + std::to_string(given.threads) + ", expected at least 1");
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Planned planned, pipeline::plan_model(context));
  const Program& program = planned.program;
  SCOPEVM_ASSIGN_OR_RETURN(const format::ModuleContents contents,
                           bytecode::emit_module(program, planned.functions));
  MemoryExplanation explanation{.threads = given.threads, .warnings = planned.warnings};
  for (FunctionIndex f : program.functions.indices()) {
    const MemoryRequest request = request_of(f, given);
    const Function& function = program.functions[f];
    Result<memory::Request> symbols =
        memory::explained_request(function, planned.functions[f].shapes, request);
    if (!symbols.ok() && f.value == 0) return symbols.status();
    if (!symbols.ok()) {
      // Calls satisfy each check, but representative dims can violate one.
      explanation.warnings.push_back(
          "the memory of function " + function.name +
          " is not explained: " + std::string(symbols.status().message()));
      continue;
    }
    explanation.functions.push_back(FunctionExplainer(program, f, planned.functions[f],
                                                      contents.functions[f.value],
                                                      *std::move(symbols))
                                        .run(request));
  }
  add_alternatives(planned, context, explanation);
  return explanation;
}

const Report<&memory> kMemoryReport;

}  // namespace
}  // namespace scopevm::compiler::explain
