// A function for each place that it is called at; see constraints.h. Before placement each call
// gets a clone of its callee, afterwards clones that came out equal become one.
#include <map>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/placement/constraints.h"
#include "llvm/ADT/SetVector.h"

namespace scopevm::placement {
namespace {

// Calls nest, and each level multiplies: beyond this many clones, calls share.
constexpr int kMostClones = 256;

class Cloner {
 public:
  explicit Cloner(mlir::ModuleOp module) : module_(module) {}

  void run() {
    llvm::SmallVector<mlir::func::FuncOp> entries;
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (function.isPublic()) entries.push_back(function);
    for (mlir::func::FuncOp entry : entries) {
      suffix_ = entry.getName() == "main" ? "" : "_of_" + entry.getName().str();
      clone_callees(entry, {});
    }
    graph::remove_unused_functions(module_);
  }

 private:
  // `above`: the functions that are being called, and their clones: a recursive call goes to the
  // same clone, so that recursion ends.
  void clone_callees(mlir::func::FuncOp caller, std::map<std::string, std::string> above) {
    llvm::SmallVector<graph::CallOp> calls;
    caller.walk([&](graph::CallOp call) { calls.push_back(call); });
    for (graph::CallOp call : calls) {
      const std::string name = call.getCallee().str();
      if (auto known = above.find(name); known != above.end()) {
        call.setCallee(known->second);
        continue;
      }
      if (clones_ >= kMostClones) continue;
      auto callee = module_.lookupSymbol<mlir::func::FuncOp>(name);
      auto clone = mlir::cast<mlir::func::FuncOp>(callee->clone());
      const std::string base = base_name(name);
      std::string own;
      do own = base + suffix_ + "__" + std::to_string(++clones_);
      while (module_.lookupSymbol(own));
      clone.setName(own);
      module_.push_back(clone);
      call.setCallee(own);
      std::map<std::string, std::string> inner = above;
      inner[name] = own;
      clone_callees(clone, inner);
    }
  }

  // Without what an earlier run appended.
  static std::string base_name(const std::string& name) {
    const size_t at = name.rfind("__");
    if (at == std::string::npos || at + 2 == name.size()) return name;
    return name.find_first_not_of("0123456789", at + 2) == std::string::npos ? name.substr(0, at)
                                                                             : name;
  }

  mlir::ModuleOp module_;
  std::string suffix_;
  int clones_ = 0;
};

std::string text_without_name(mlir::func::FuncOp function) {
  const std::string name = function.getName().str();
  function.setName("f");
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, mlir::OpPrintingFlags().printGenericOpForm());
  function.setName(name);
  return text;
}

}  // namespace

void clone_per_call(mlir::ModuleOp module) { Cloner(module).run(); }

// Callees first, so that callers of equal ones become equal; as long as any are.
void merge_equal_functions(mlir::ModuleOp module) {
  for (bool has_merged = true; has_merged;) {
    has_merged = false;
    std::map<std::string, mlir::func::FuncOp> by_text;
    for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
      if (function.isPublic()) continue;
      auto [first, is_new] = by_text.try_emplace(text_without_name(function), function);
      if (is_new) continue;
      const std::string kept = first->second.getName().str();
      if (failed(mlir::SymbolTable::replaceAllSymbolUses(
              function, mlir::StringAttr::get(module.getContext(), kept), module)))
        continue;
      function.erase();
      has_merged = true;
    }
  }
}

}  // namespace scopevm::placement
