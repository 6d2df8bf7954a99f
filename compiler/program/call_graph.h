// CallGraph: the calls between the functions of a program, including calls through closures that a
// function makes.
#pragma once

#include <set>
#include <vector>

#include "compiler/program/program.h"

namespace scopevm::compiler {

class CallGraph {
 public:
  explicit CallGraph(const Program& program);

  // The functions that calls of `function` may run, transitively. A step that makes a closure
  // counts as a call of the closure's function.
  const std::set<FunctionIndex>& reachable(FunctionIndex function) const {
    return reachable_[function];
  }
  bool is_recursive(FunctionIndex function) const {
    return reachable_[function].contains(function);
  }
  // All functions, callees before callers: a depth-first post-order. The order within a cycle of
  // recursive calls is unspecified.
  const std::vector<FunctionIndex>& callees_first() const { return callees_first_; }

 private:
  IndexedVector<FunctionIndex, std::set<FunctionIndex>> reachable_;
  std::vector<FunctionIndex> callees_first_;
};

}  // namespace scopevm::compiler
