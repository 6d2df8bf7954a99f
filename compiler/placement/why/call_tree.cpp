// Propagates the dims and counts of calls from callers to callees; see call_tree.h.
#include "compiler/placement/why/call_tree.h"

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/placement/functions.h"
#include "compiler/placement/graph_problem.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::placement {
namespace {

// Nested calls multiply the number of sites. Beyond this many different dims of one function, its
// sites are merged into one without dims.
constexpr size_t kMostSites = 64;

// Binds the callee's symbols to the arguments' dims. A symbol that is only part of a parameter's
// dim expression stays unbound.
std::map<std::string, DimExpr> dims_of_call(llvm::ArrayRef<mlir::Value> arguments,
                                            mlir::func::FuncOp callee, const CallSite& caller) {
  std::map<std::string, DimExpr> dims;
  for (auto [given, taken] : llvm::zip(arguments, callee.getFunctionType().getInputs())) {
    auto from = mlir::dyn_cast<graph::TensorType>(given.getType());
    auto to = mlir::dyn_cast<graph::TensorType>(taken);
    // Lists and closures have no dims.
    if (!from || !to) continue;
    for (auto [argument, parameter] : llvm::zip(from.getShape(), to.getShape())) {
      if (parameter.kind() != DimExpr::Kind::kSymbol) continue;
      if (std::optional<DimExpr> known = caller.resolve(argument))
        // A symbol that occurs in several parameters has the same value in all of them: the first
        // one suffices.
        dims.try_emplace(std::string(parameter.symbol_name()), *known);
    }
  }
  return dims;
}

// The closure that an op calls; null if it calls a function.
mlir::Value called_closure(mlir::CallOpInterface call) {
  return mlir::dyn_cast<mlir::Value>(call.getCallableForCallee());
}

// The callee and arguments of a call with a known callee. A call of a closure that is made in the
// same function is such a call, also inside a loop or branch.
struct Called {
  std::string function;
  llvm::SmallVector<mlir::Value> arguments;
};
std::optional<Called> read_call(mlir::Operation* op) {
  auto call = mlir::dyn_cast<mlir::CallOpInterface>(op);
  const mlir::Value closure = call ? called_closure(call) : mlir::Value();
  auto user = mlir::dyn_cast_or_null<graph::FunctionUserOp>(closure ? closure.getDefiningOp() : op);
  // A closure that a call returns is not known here.
  if (!call || !user || (closure && user.isCall())) return std::nullopt;
  Called called{user.getCalleeAttr().getValue().str(), llvm::to_vector(user->getOperands())};
  if (closure) llvm::append_range(called.arguments, call.getArgOperands());
  return called;
}

// Whether the closure has a use other than a direct call of it.
bool escapes(mlir::Value closure) {
  return llvm::any_of(closure.getUsers(), [&](mlir::Operation* user) {
    auto call = mlir::dyn_cast<mlir::CallOpInterface>(user);
    return !call || llvm::is_contained(call.getArgOperands(), closure);
  });
}

}  // namespace

std::optional<DimExpr> CallSite::resolve(DimExpr e) const {
  if (is_entry) return e;
  for (const std::string& symbol : e.symbols())
    if (!dims.contains(symbol)) return std::nullopt;
  return e.substitute([&](std::string_view name) { return dims.at(std::string(name)); });
}

double CallSite::times_of(mlir::Operation* op) const {
  double product = times;
  for (auto merge = op->getParentOfType<graph::MergeOp>(); merge;
       merge = merge->getParentOfType<graph::MergeOp>())
    // An expression that the calls do not determine is evaluated over the function's own symbols,
    // at their default representatives.
    product *=
        merge.getAssumedTrips([&](DimExpr e) { return representative(resolve(e).value_or(e)); });
  return product;
}

Copy copy_at(const CallSite& site, const FunctionCalls& function, Copy copy, double times) {
  const std::optional<DimExpr> bytes = site.resolve(copy.bytes);
  copy.is_local = !bytes;
  copy.bytes = bytes.value_or(copy.bytes);
  copy.times = times;
  copy.function = function.name;
  copy.times_depend_on = function.depends_on;
  return copy;
}

CallTree::CallTree(mlir::ModuleOp module, bool has_clones) : module_(module) {
  read_edges();
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    const llvm::StringRef name = function.getName();
    FunctionCalls& calls = functions_[name];
    if (name != format::kEntryName)
      calls.name = has_clones ? std::string(without_number(name)) : name.str();
    if (function.isPublic()) calls.sites.push_back({.is_entry = true});
  }
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (reaches(function.getName(), function.getName())) mark(function.getName(), "recursion");
  // The number of calls through a closure depends on data.
  for (const std::string& function : escaping_) mark(function, "data");
  // Counts are propagated from callers to callees. Callers come first, so that all sites of a
  // function are known when its calls are visited.
  for (auto function : module.getOps<mlir::func::FuncOp>()) order_callees_first(function.getName());
  for (mlir::func::FuncOp function : llvm::reverse(callees_first_)) add_sites(function);
}

// If another function made a closure, a call of it may reach the function of every escaping closure
// of its type.
void CallTree::read_edges() {
  std::map<std::string, std::vector<mlir::Type>> closures;  // by function
  module_.walk([&](graph::FunctionUserOp user) {
    if (!user.isCall() && escapes(user->getResult(0)))
      closures[user.getCalleeAttr().getValue().str()].push_back(user->getResult(0).getType());
  });
  for (const auto& [function, types] : closures) escaping_.push_back(function);
  for (auto function : module_.getOps<mlir::func::FuncOp>()) {
    std::vector<std::string>& callees = callees_[function.getName()];
    auto add = [&](const std::string& callee) {
      if (!llvm::is_contained(callees, callee)) callees.push_back(callee);
    };
    function.walk([&](mlir::Operation* op) {
      if (std::optional<Called> called = read_call(op)) return add(called->function);
      auto call = mlir::dyn_cast<mlir::CallOpInterface>(op);
      if (!call) return;
      for (const auto& [callee, types] : closures)
        if (llvm::is_contained(types, called_closure(call).getType())) add(callee);
    });
  }
}

bool CallTree::reaches(llvm::StringRef from, llvm::StringRef to) const {
  llvm::StringMap<bool> is_seen;
  std::vector<std::string> queue = callees_.at(from);
  for (size_t i = 0; i < queue.size(); ++i) {
    const std::string name = queue[i];
    if (name == to) return true;
    if (!is_seen.try_emplace(name, true).second) continue;
    const std::vector<std::string>& next = callees_.at(name);
    queue.insert(queue.end(), next.begin(), next.end());
  }
  return false;
}

// Marks the function and all functions that it calls, directly or not.
void CallTree::mark(llvm::StringRef function, const std::string& depends_on) {
  std::vector<std::string> queue = {function.str()};
  for (size_t i = 0; i < queue.size(); ++i) {
    FunctionCalls& calls = functions_[queue[i]];
    // Also ends the search in a recursive cycle. The first reason is kept: "recursion" precedes
    // "data".
    if (!calls.depends_on.empty()) continue;
    calls.depends_on = depends_on;
    calls.sites = {CallSite()};
    const std::vector<std::string>& next = callees_.at(queue[i]);
    queue.insert(queue.end(), next.begin(), next.end());
  }
}

void CallTree::order_callees_first(llvm::StringRef function) {
  if (!is_ordered_.try_emplace(function, true).second) return;
  for (const std::string& callee : callees_.at(function)) order_callees_first(callee);
  // Depth-first postorder. In a recursive cycle the order is arbitrary, which is harmless:
  // add_sites() skips functions whose counts are unknown.
  callees_first_.push_back(module_.lookupSymbol<mlir::func::FuncOp>(function));
}

void CallTree::add_sites(mlir::func::FuncOp caller) {
  if (!functions_.at(caller.getName()).depends_on.empty()) return;
  const std::vector<CallSite> sites = functions_.at(caller.getName()).sites;
  caller.walk([&](mlir::Operation* op) {
    const std::optional<Called> called = read_call(op);
    if (!called) return;
    FunctionCalls& callee = functions_[called->function];
    if (!callee.depends_on.empty()) return;
    auto function = module_.lookupSymbol<mlir::func::FuncOp>(called->function);
    for (const CallSite& site : sites)
      add_site(callee, {dims_of_call(called->arguments, function, site), site.times_of(op)});
  });
}

void CallTree::add_site(FunctionCalls& callee, CallSite site) {
  for (CallSite& other : callee.sites)
    // The site of an entry represents calls from outside the module. Its symbols are those of the
    // model, so it never merges with a call in the module.
    if (!other.is_entry && other.dims == site.dims) {
      other.times += site.times;
      return;
    }
  if (callee.sites.size() < kMostSites) return callee.sites.push_back(std::move(site));
  // Too many sites: one without dims, with the total count, replaces them.
  for (CallSite& other : callee.sites)
    if (!other.is_entry) site.times += other.times;
  site.dims.clear();
  std::erase_if(callee.sites, [](const CallSite& other) { return !other.is_entry; });
  callee.sites.push_back(std::move(site));
}

}  // namespace scopevm::compiler::placement
