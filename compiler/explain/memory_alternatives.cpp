// Plans a model with other options; see memory_alternatives.h.
#include "compiler/explain/memory_alternatives.h"

#include <algorithm>
#include <ranges>

#include "compiler/memory/explain/explain.h"

namespace scopevm::compiler::explain {
namespace {

using pipeline::Planned;

// The number of the largest buffers at a peak that are placed in other pools. Each placement is one
// compilation.
constexpr size_t kMostPlaced = 6;

// Adds the alternative to the arenas whose plan it lowers. `planned` is the model with the
// alternative.
void add_alternative(const std::string& option, const Planned& planned,
                     const MemoryRequest& request, MemoryExplanation& explanation) {
  const Machine& machine = planned.program.machine;
  for (FunctionIndex f : planned.program.functions.indices()) {
    const Function& function = planned.program.functions[f];
    const auto explained =
        std::ranges::find(explanation.functions, function.name, &MemoryExplanation::Function::name);
    if (explained == explanation.functions.end()) continue;
    const bytecode::PlannedFunction& plans = planned.functions[f];
    const Result<memory::Request> known =
        memory::explained_request(function, plans.shapes, request_of(f, request));
    const auto values =
        known.ok() ? plans.shapes.evaluate(known->symbols, known->threads) : std::nullopt;
    if (!values) continue;
    for (MemoryExplanation::Arena& arena : explained->arenas) {
      if (arena.segment != 0) continue;  // another compilation can have other segments
      MemoryExplanation::Alternative alternative{.option = option};
      for (const memory::Arena& other : plans.plan.arenas) {
        if (other.segment > SegmentIndex{0} || machine.pool_name(other.pool) != arena.pool)
          continue;
        alternative.bytes = (*values)[other.height];
        alternative.lower_bound_bytes = (*values)[other.lower_bound];
      }
      if (alternative.bytes < arena.bytes) arena.alternatives.push_back(std::move(alternative));
    }
  }
}

// The pools that could store a buffer of `from` in other memory. Both default pools of a device are
// its memory if they have no limits.
std::vector<std::string> other_pools(const Machine& machine, const std::string& from) {
  PoolIndex home;
  for (PoolIndex pool : machine.pools.indices())
    if (machine.pool_name(pool) == from) home = pool;
  const DeviceIndex device = machine.pools[home].device;
  const auto is_default = [&](PoolIndex pool) {
    return (pool == machine.global_pool(device) || pool == machine.workspace_pool(device)) &&
           !machine.pools[pool].limit;
  };
  std::vector<std::string> others;
  for (PoolIndex pool : machine.pools.indices()) {
    const PoolKind kind = machine.pools[pool].kind;
    if (pool != home && (kind == PoolKind::kHeap || kind == PoolKind::kArena) &&
        machine.reaches(device, pool) && !(is_default(home) && is_default(pool)))
      others.push_back(machine.pool_name(pool));
  }
  return others;
}

}  // namespace

MemoryRequest request_of(FunctionIndex function, const MemoryRequest& given) {
  return {.dims = function.value == 0 ? given.dims : std::map<std::string, int64_t>(),
          .threads = given.threads};
}

void add_alternatives(const Planned& planned, const pipeline::Context& context,
                      MemoryExplanation& explanation) {
  const CompileOptions& given = context.options;
  if (given.memory_request.threads > 1) {
    MemoryRequest request = given.memory_request;
    request.threads = 1;
    add_alternative("--threads 1", planned, request, explanation);
  }
  const auto add_compiled = [&](const std::string& option, const auto& change) {
    CompileOptions options = given;
    options.dump_after.clear();
    options.tuning = {};
    change(options);
    pipeline::Context changed(options, context.backends);
    const Result<Planned> other = plan_model(changed);
    if (other.ok()) add_alternative(option, *other, given.memory_request, explanation);
  };
  if (!given.reorder) add_compiled("--reorder", [](CompileOptions& o) { o.reorder = true; });
  if (!planned.runs.front()->layouts.ops.empty()) {
    if (given.image_layout != ImageLayout::kByChannel)
      add_compiled("--image-layout by-channel",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kByChannel; });
    if (given.image_layout != ImageLayout::kBlocked)
      add_compiled("--image-layout blocked",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kBlocked; });
    add_compiled(given.fast_conv ? "without --fast-conv" : "--fast-conv",
                 [](CompileOptions& o) { o.fast_conv = !o.fast_conv; });
  }
  for (const MemoryExplanation::Arena& arena : explanation.functions.front().arenas) {
    if (arena.segment != 0) continue;  // as in add_alternative()
    for (const MemoryExplanation::LiveBuffer& live : arena.live | std::views::take(kMostPlaced)) {
      const MemoryExplanation::Buffer& buffer = arena.buffers[live.buffer];
      if (buffer.is_scratch) continue;
      for (const std::string& pool : other_pools(planned.program.machine, arena.pool)) {
        std::vector<std::string> rules;
        std::string option;
        for (const std::string& value : buffer.values) {
          rules.push_back(value + "=" + pool);
          option += (option.empty() ? "" : " ") + ("--place '" + rules.back() + "'");
        }
        add_compiled(option, [&](CompileOptions& o) {
          o.places.insert(o.places.end(), rules.begin(), rules.end());
        });
      }
    }
  }
  for (MemoryExplanation::Function& function : explanation.functions)
    for (MemoryExplanation::Arena& arena : function.arenas)
      std::ranges::stable_sort(arena.alternatives, {}, &MemoryExplanation::Alternative::bytes);
}

}  // namespace scopevm::compiler::explain
