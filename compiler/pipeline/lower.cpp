// Lowers the graphs to a Program and kernels.
#include "compiler/kernels/lower_program.h"
#include "compiler/pipeline/stages.h"
#include "compiler/program/program_text.h"
#include "compiler/program/transform/inline_calls.h"
#include "compiler/program/transform/pinned.h"
#include "compiler/program/transform/reorder.h"
#include "compiler/program/transform/scratch.h"
#include "compiler/program/transform/stack.h"

namespace scopevm::compiler::pipeline {

// Lowers the graphs in rounds, one per target. The Program must be identical in all rounds.
Result<Lowering> lower_graphs(const Placed& placed, Context& context) {
  SCOPEVM_RETURN_IF_ERROR(context.begin("kernels"));
  std::vector<kernels::GraphFunction> functions;
  for (const Graph& graph : placed.graphs)
    functions.push_back({graph.module(), graph.name, graph.dims});
  const Machine& machine = placed.machine;
  SCOPEVM_ASSIGN_OR_RETURN(codegen::KernelModules kernels,
                           codegen::KernelModules::create(*context.mlir, context.backends, machine,
                                                          context.options.target_cpus));
  Lowering lowering{make_leakable<codegen::KernelModules>(std::move(kernels)), {}, {}};
  std::string text;
  for (size_t round = 0; round < lowering.kernels->rounds(); ++round) {
    SCOPEVM_ASSIGN_OR_RETURN(
        lowering.program,
        kernels::lower_program(functions, machine, lowering.kernels->begin_round(round, machine)));
    std::string program_text = str(lowering.program);
    // All targets share one bytecode, so their kernels must have the same buffers and launches.
    if (!text.empty() && program_text != text)
      return Status(StatusCode::kInternal,
                    "internal error: target " + lowering.kernels->round_name(round) +
                        " produced a different program than the first target");
    text = std::move(program_text);
  }
  context.dump("kernels", text);
  return lowering;
}

Status choose_pools(Lowering& lowering, Context& context) {
  SCOPEVM_RETURN_IF_ERROR(context.begin("memory"));
  Program& program = lowering.program;
  transform::inline_calls(program, context.options.inline_limit);
  if (context.options.reorder) transform::reorder_steps(program);
  transform::use_pinned(program);
  SCOPEVM_RETURN_IF_ERROR(transform::use_stacks(program));
  SCOPEVM_ASSIGN_OR_RETURN(lowering.spills, memory::enforce_limits(program));
  transform::use_fast_scratch(program);
  return {};
}

Result<Lowered> lower(Placed placed, Context& context) {
  if (!placed.lowering) {
    SCOPEVM_ASSIGN_OR_RETURN(placed.lowering, lower_graphs(placed, context));
    SCOPEVM_RETURN_IF_ERROR(choose_pools(*placed.lowering, context));
  }
  Lowering lowering = *std::move(placed.lowering);
  placed.lowering.reset();
  return Lowered{std::move(placed), std::move(lowering)};
}

}  // namespace scopevm::compiler::pipeline
