// Computes the shape programs and the memory plans.
#include "compiler/memory/plan.h"

#include "compiler/pipeline/stages.h"
#include "compiler/program/transform/unused.h"

namespace scopevm::compiler::pipeline {
namespace {

std::map<std::string, int64_t> representative_dims(const Function& function) {
  std::map<std::string, int64_t> symbols;
  for (const Dimension& dimension : function.dimensions)
    symbols[dimension.name] = dimension.representative;
  for (const Segment& segment : function.segments)
    // Data-dependent sizes are unknown before a call. The value 0 is a placeholder: dump_plan()
    // omits the arenas that depend on it, those of later segments.
    for (const RuntimeSymbol& defined : segment.symbols) symbols[defined.symbol] = 0;
  return symbols;
}

void dump_plan(const Machine& machine, const Function& function,
               const bytecode::PlannedFunction& planned, Context& context) {
  if (!context.wants("memory")) return;
  const auto symbols = representative_dims(function);
  for (const memory::Arena& arena : planned.plan.arenas) {
    if (arena.segment > SegmentIndex{0}) continue;
    // On a machine with one device, the workspace pool is printed without its name.
    if (machine.devices.size() > 1 || arena.pool != machine.workspace_pool(machine.host_device()))
      context.dump("memory", "# " + machine.pool_name(arena.pool) + "\n");
    if (const auto placed = planned.plan.at(machine, arena, planned.shapes, symbols, 1))
      if (const auto text = plan::to_csv(placed->problem, &placed->plan); text.ok())
        context.dump("memory", *text);
  }
}

}  // namespace

Result<Planned> plan(Lowered lowered, Context& context) {
  Planned planned{std::move(lowered), {}};
  SCOPEVM_RETURN_IF_ERROR(context.begin("memory"));
  // Renumbers devices and pools.
  transform::remove_unused_devices(planned.program);
  const Machine& machine = planned.program.machine;
  for (const Function& function : planned.program.functions) {
    SCOPEVM_RETURN_IF_ERROR(context.begin("shapes"));
    SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram shapes, ShapeProgram::create(function));
    context.dump("shapes", shapes.str());
    SCOPEVM_RETURN_IF_ERROR(context.begin("memory"));
    SCOPEVM_ASSIGN_OR_RETURN(memory::Plan plan, memory::make_plan(machine, function, shapes));
    planned.functions.push_back({std::move(shapes), std::move(plan)});
    dump_plan(machine, function, planned.functions.back(), context);
  }
  return planned;
}

}  // namespace scopevm::compiler::pipeline
