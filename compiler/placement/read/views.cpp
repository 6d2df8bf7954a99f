// Chooses the pools of views; see the header.
#include "compiler/placement/read/views.h"

namespace scopevm::compiler::placement {
namespace {

// The device of a flow's maker, if a constraint requires one.
std::optional<DeviceIndex> source_device(const Flow& flow, const GraphProblem& graph) {
  const std::optional<Constraint>& constraint = graph.tasks[flow.maker].constraint;
  return constraint ? constraint->place.device : std::nullopt;
}

}  // namespace

void keep_in_place(const View& view, FlowIndex of, GraphProblem& graph) {
  Flow& source = graph.problem.flows[of];
  Flow& result = graph.problem.flows[view.flow];
  // A constant is stored on each device that reads it. It is read in another pool only if a scope
  // is required for the view.
  if (source.is_free && result.pool.is_default()) return;
  // A view without a required scope uses the pool that is required for the operand, if both are
  // required on the same device. Otherwise the view is stored in "global" of its device, and the
  // operand is copied to that pool if needed.
  if (result.pool.is_default()) {
    const bool is_same =
        source.pool.pool() && source_device(source, graph) == source_device(result, graph);
    result.pool = is_same ? source.pool : PoolRequirement::own_scope();
    if (is_same) graph.scopes[view.flow] = graph.scopes[of];
  }
  for (size_t i = 0; i < source.readers.size(); ++i) {
    // The view must read its operand in the view's pool, because the result aliases the operand.
    // Other ops read an operand in any pool that their device reaches.
    if (source.readers[i].task != view.task) continue;
    source.readers[i].pool = result.pool;
    graph.reader_scopes[of][i] = graph.scopes[view.flow];
  }
}

}  // namespace scopevm::compiler::placement
