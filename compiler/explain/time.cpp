// The time of a request, as the machine's cost model predicts it. Runs all stages that determine
// the memory plan, but not codegen.
#include <algorithm>

#include "compiler/explain/report.h"
#include "compiler/memory/explain/explain.h"
#include "compiler/simulation/simulation.h"

namespace scopevm::compiler::explain {
namespace {

Result<TimeExplanation> time(pipeline::Context& context) {
  const MemoryRequest& given = context.options.memory_request;
  if (given.threads < 1)
    return Status(StatusCode::kInvalidArgument,
                  "threads is " + std::to_string(given.threads) + ", expected at least 1");
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Planned planned, pipeline::plan_model(context));
  const Program& program = planned.program;
  constexpr FunctionIndex kMain{0};
  const Function& main = program.functions[kMain];
  SCOPEVM_ASSIGN_OR_RETURN(const memory::Request request,
                           memory::explained_request(main, planned.functions[kMain].shapes, given));
  SCOPEVM_ASSIGN_OR_RETURN(
      simulation::RequestTime time,
      simulation::simulate(program, main, planned.functions[kMain].plan.liveness, request));
  TimeExplanation explanation{.seconds = time.seconds,
                              .ranks = std::move(time.ranks),
                              .links = std::move(time.links),
                              .threads = given.threads,
                              .warnings = std::move(planned.warnings)};
  for (const Dimension& dimension : main.dimensions) {
    explanation.dims[dimension.name] = request.symbols.at(dimension.name);
    if (!given.dims.contains(dimension.name) && dimension.min != dimension.max)
      explanation.assumed.push_back(dimension.name);
  }
  return explanation;
}

const Report<&time> kTimeReport;

}  // namespace
}  // namespace scopevm::compiler::explain
