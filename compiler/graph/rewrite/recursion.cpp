// Unrolls recursion of known depth: function specialization, applied to recursive calls. A call of
// a recursive function gets a copy of the function for its constant arguments and dims.
// Simplification of the copy decides the branches that end the recursion. The calls in the copy get
// copies in turn. The result is a chain of functions that are not recursive, so that the bound of
// the caller covers them. A call whose depth depends on data, or on dims that are not constant,
// still calls the original function.
#include <map>
#include <string>

#include "compiler/graph/control/signature.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"

namespace scopevm::compiler::graph {
namespace {

// Limits of the copies for one call. The time of memory planning is quadratic in the number of
// inlined steps: 1 s for 500 copies of a small function, and 10 s for 1000.
constexpr size_t kMostCopies = 512;
constexpr int64_t kMostOps = 20'000;

llvm::SmallVector<CallOp> calls_in(mlir::func::FuncOp function) {
  llvm::SmallVector<CallOp> calls;
  function.walk([&](CallOp call) { calls.push_back(call); });
  return calls;
}

// The functions that can call themselves, directly or through others.
llvm::SetVector<mlir::Operation*> recursive_functions(mlir::ModuleOp module) {
  llvm::SetVector<mlir::Operation*> recursive;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    llvm::SetVector<mlir::Operation*> reached;
    for (mlir::func::FuncOp callee : callees_of(function)) reached.insert(callee);
    // A worklist: insertion appends to the set that the loop walks.
    for (size_t i = 0; i < reached.size(); ++i)
      for (mlir::func::FuncOp callee : callees_of(mlir::cast<mlir::func::FuncOp>(reached[i])))
        reached.insert(callee);
    if (reached.contains(function)) recursive.insert(function);
  }
  return recursive;
}

// The constant that can replace a parameter for this argument; null if there is none.
ConstantOp constant_of(mlir::Value argument) {
  auto constant = argument.getDefiningOp<ConstantOp>();
  return constant && !is_constrained(constant) ? constant : ConstantOp();
}

// Equal for calls that can share a copy.
std::string key_of(CallOp call) {
  std::string key;
  llvm::raw_string_ostream text(key);
  text << call.getCallee();
  for (mlir::Value argument : call.getArguments()) {
    text << "; " << argument.getType();
    // An attribute is unique in its context.
    if (ConstantOp constant = constant_of(argument))
      text << " = " << constant.getValue().getAsOpaquePointer();
  }
  return key;
}

class Unroller {
 public:
  explicit Unroller(mlir::ModuleOp module)
      : module_(module), symbols_(module), recursive_(recursive_functions(module)) {}

  void run() {
    if (recursive_.empty()) return;
    for (auto function : llvm::to_vector(module_.getOps<mlir::func::FuncOp>()))
      if (!recursive_.contains(function))
        for (CallOp call : calls_in(function))
          if (is_recursive(call)) unroll(call);
    remove_unused_functions(module_);
  }

 private:
  // A copy for the calls of one key.
  struct Copy {
    mlir::func::FuncOp function;
    bool is_complete = false;
  };

  bool is_recursive(CallOp call) { return recursive_.contains(symbols_.lookup(call.getCallee())); }

  // Redirects the call to a copy. On failure, erases all copies that were made for it.
  void unroll(CallOp call) {
    made_.clear();
    ops_ = 0;
    // If a copy fails type inference, the original function remains in use.
    mlir::ScopedDiagnosticHandler silence(module_.getContext(),
                                          [](mlir::Diagnostic&) { return mlir::success(); });
    if (succeeded(redirect(call))) return;
    for (const std::string& key : made_) {
      if (mlir::func::FuncOp copy = copies_[key].function) symbols_.erase(copy);
      copies_.erase(key);
    }
  }

  llvm::LogicalResult redirect(CallOp call) {
    auto [entry, is_new] = copies_.try_emplace(key_of(call));
    Copy& copy = entry->second;  // entries of a std::map do not move
    if (is_new) {
      made_.push_back(entry->first);
      if (failed(make(copy, call))) return mlir::failure();
      copy.is_complete = true;
    }
    // A call inside the copy that it needs is an endless recursion.
    if (!copy.is_complete) return mlir::failure();
    call.setCallee(copy.function.getName());
    return mlir::success();
  }

  llvm::LogicalResult make(Copy& copy, CallOp call) {
    auto original = mlir::cast<mlir::func::FuncOp>(symbols_.lookup(call.getCallee()));
    ops_ += op_count(original);
    if (made_.size() > kMostCopies || ops_ > kMostOps) return mlir::failure();
    copy.function = original.clone();
    // Messages about placement omit such a number.
    copy.function.setName(call.getCallee().str() + "__" + std::to_string(++number_));
    symbols_.insert(copy.function, std::next(original->getIterator()));
    bind_constants(copy.function, call);
    if (failed(bind_dims(copy.function, call))) return mlir::failure();
    simplify(copy.function);
    for (CallOp inner : calls_in(copy.function))
      if (is_recursive(inner) && failed(redirect(inner))) return mlir::failure();
    return mlir::success();
  }

  static int64_t op_count(mlir::func::FuncOp function) {
    int64_t count = 0;
    function.walk([&](mlir::Operation*) { ++count; });
    return count;
  }

  // Replaces the uses of parameters whose arguments are constants.
  static void bind_constants(mlir::func::FuncOp copy, CallOp call) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&copy.getBody().front());
    for (auto [parameter, argument] : llvm::zip(copy.getArguments(), call.getArguments()))
      if (ConstantOp constant = constant_of(argument))
        parameter.replaceAllUsesWith(builder.clone(*constant)->getResult(0));
  }

  // Replaces the names of dims that are constant in the call. Fails if the copy's results would
  // not have the types of the call's.
  llvm::LogicalResult bind_dims(mlir::func::FuncOp copy, CallOp call) {
    const auto names = bind_signature(call, "@" + call.getCallee(), copy.getFunctionType());
    if (failed(names)) return mlir::failure();
    const auto constant_dim = [&](std::string_view name) -> std::optional<DimExpr> {
      const auto found = names->find(name);
      if (found == names->end() || !found->second.is_constant()) return std::nullopt;
      return found->second;
    };
    bind_dims_tensors(copy, constant_dim);
    simplify(copy);
    if (failed(specialise(copy, constant_dim))) return mlir::failure();
    const std::string callee = call.getCallee().str();
    llvm::SmallVector<mlir::Type> types;
    call.setCallee(copy.getName());
    const bool is_inferred = succeeded(infer_call(call, types));
    call.setCallee(callee);
    return mlir::success(is_inferred && llvm::equal(types, call.getResultTypes(), is_same_value));
  }

  // Replaces the names in dims tensors. Simplification then removes the branches that these
  // exclude: type inference with the constant dims could reject ops of these branches.
  static void bind_dims_tensors(mlir::func::FuncOp copy, const Replacement& with) {
    copy.walk([&](DimsTensorOp op) {
      const auto dims = llvm::map_to_vector(op.getDims().getValue(),
                                            [&](DimExpr dim) { return dim.substitute(with); });
      op.setDimsAttr(DimsAttr::get(op.getContext(), dims));
    });
  }

  mlir::ModuleOp module_;
  mlir::SymbolTable symbols_;
  const llvm::SetVector<mlir::Operation*> recursive_;
  std::map<std::string, Copy> copies_;  // by key
  int64_t number_ = 0;                  // of the last copy
  // For the call that is unrolled:
  std::vector<std::string> made_;  // keys of new copies
  int64_t ops_ = 0;                // in the originals of these
};

}  // namespace

void unroll_recursion(mlir::ModuleOp module) { Unroller(module).run(); }

}  // namespace scopevm::compiler::graph
