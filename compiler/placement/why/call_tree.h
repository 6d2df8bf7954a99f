// Counts how often each function of a graph runs in a call of the model, and at which dims. A copy
// inside a function is reported with these counts and dims. Private to the compiler.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::placement {

// All calls of one function at equal dims.
struct CallSite {
  std::map<std::string, DimExpr> dims;  // the function's symbols -> expressions over the model's
                                        // symbols
  double times = 1;                     // calls per call of the model
  bool is_entry = false;                // a public function: its symbols are those of the model

  // `e` as an expression over the model's symbols; empty if the calls do not determine it.
  std::optional<DimExpr> resolve(DimExpr e) const;
  // Executions of `op` per call of the model, at representative trip counts.
  double times_of(mlir::Operation* op) const;
};

struct FunctionCalls {
  std::string name;  // as in the model; empty for main
  // Why the number of calls is unknown: "recursion", or "data" for functions that are called
  // through a closure made elsewhere. The functions that such a function calls have a reason too.
  // If there is a reason, `sites` has one element, without dims.
  std::string depends_on;
  std::vector<CallSite> sites;
};

// Describes a copy inside the function for the calls of one site, with `times` executions per call
// of the model. Its bytes are over the model's symbols if the calls determine them.
Copy copy_at(const CallSite& site, const FunctionCalls& function, Copy copy, double times);

class CallTree {
 public:
  // `has_clones`: function names may end in a number that clone_per_call() added.
  CallTree(mlir::ModuleOp module, bool has_clones);

  const FunctionCalls& of(llvm::StringRef function) const { return functions_.at(function); }

 private:
  void read_edges();
  void mark(llvm::StringRef function, const std::string& depends_on);
  bool reaches(llvm::StringRef from, llvm::StringRef to) const;
  void order_callees_first(llvm::StringRef function);
  void add_sites(mlir::func::FuncOp caller);
  static void add_site(FunctionCalls& callee, CallSite site);

  mlir::ModuleOp module_;
  llvm::StringMap<FunctionCalls> functions_;
  llvm::StringMap<std::vector<std::string>> callees_;  // without duplicates
  std::vector<std::string> escaping_;                  // functions of closures that are used other
                                                       // than by direct calls
  llvm::StringMap<bool> is_ordered_;
  std::vector<mlir::func::FuncOp> callees_first_;
};

}  // namespace scopevm::compiler::placement
