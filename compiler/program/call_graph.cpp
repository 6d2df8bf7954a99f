// Computes the order and the transitive closure of the call relation; see the header.
#include "compiler/program/call_graph.h"

namespace scopevm::compiler {
namespace {

using Callees = IndexedVector<FunctionIndex, std::set<FunctionIndex>>;

void visit(FunctionIndex function, const Callees& callees,
           IndexedVector<FunctionIndex, bool>& is_seen, std::vector<FunctionIndex>& order) {
  if (is_seen[function]) return;
  is_seen[function] = true;
  for (FunctionIndex callee : callees[function]) visit(callee, callees, is_seen, order);
  order.push_back(function);
}

}  // namespace

CallGraph::CallGraph(const Program& program) : reachable_(program.functions.size()) {
  for (FunctionIndex f : program.functions.indices())
    for (const Step& step : program.functions[f].steps)
      if (step.callee()) reachable_[f].insert(*step.callee());
  IndexedVector<FunctionIndex, bool> is_seen(program.functions.size());
  for (FunctionIndex f : program.functions.indices()) visit(f, reachable_, is_seen, callees_first_);
  // A pass in this order completes all functions outside of cycles; more passes complete cycles.
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (FunctionIndex f : callees_first_) {
      const std::set<FunctionIndex> known = reachable_[f];
      for (FunctionIndex callee : known)
        reachable_[f].insert(reachable_[callee].begin(), reachable_[callee].end());
      has_grown = has_grown || reachable_[f].size() > known.size();
    }
  }
}

}  // namespace scopevm::compiler
