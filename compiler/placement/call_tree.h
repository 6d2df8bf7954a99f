// How often each function of a graph runs in a call of the model, and at which of the model's dims:
// what a copy inside a function amounts to. Private to the compiler.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/placement/place.h"
#include "compiler/shapes/dim_expr.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::placement {

// Calls of one function at equal dims, all together.
struct CallSite {
  std::map<std::string, DimExpr> dims;  // the function's symbols, over those of the model
  double times = 1;                     // in a call of the model
  bool is_entry = false;                // its symbols are the model's

  // `e` over the model's symbols; empty where calls do not decide it.
  std::optional<DimExpr> resolve(DimExpr e) const;
  // That `op` of the function runs in a call of the model, at representative trip counts.
  double times_of(mlir::Operation* op) const;
};

struct FunctionCalls {
  std::string name;  // the model's; empty for main
  // What decides how often it runs, where that is not known: "recursion", or "data" of what is
  // called through a closure that others gave. Then there is one site, which says nothing.
  std::string depends_on;
  std::vector<CallSite> sites;
};

// A copy inside the function, as made by the calls of one site, `times` in a call of the model.
Copy copy_at(const CallSite& site, const FunctionCalls& function, Copy copy, double times);

class CallTree {
 public:
  // `has_clones`: names may have a number of clone_per_call().
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
  llvm::StringMap<std::vector<std::string>> callees_;  // each once
  std::vector<std::string> escaping_;                  // as closures that anybody may call
  llvm::StringMap<bool> is_ordered_;
  std::vector<mlir::func::FuncOp> callees_first_;
};

}  // namespace scopevm::compiler::placement
