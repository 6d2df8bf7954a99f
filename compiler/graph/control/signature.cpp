// Type inference of calls and closures: binds the names of the callee's parameters to the dims of
// the arguments, and computes the result types. Also compares the signatures of closures.
#include "compiler/graph/control/signature.h"

#include <map>

#include "compiler/graph/control/tuples.h"
#include "compiler/graph/type_rule.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::graph {
namespace {

using Names = std::map<std::string, DimExpr, std::less<>>;

DimExpr substituted(DimExpr dim, const Names& names) {
  return dim.substitute([&](std::string_view name) -> std::optional<DimExpr> {
    auto bound = names.find(name);
    return bound == names.end() ? std::nullopt : std::optional(bound->second);
  });
}

class CallTyper {
 public:
  CallTyper(mlir::Operation* call, const llvm::Twine& callee, mlir::ArrayAttr symbols)
      : call_(call), callee_(callee.str()), symbols_(symbols) {}

  llvm::LogicalResult bind(mlir::TypeRange parameters, mlir::TypeRange arguments) {
    if (parameters.size() != arguments.size())
      return call_->emitOpError() << callee_ << " takes "
                                  << runtime::count_text(parameters.size(), "argument")
                                  << ", given " << arguments.size();
    // All names are bound first: a parameter "2*n" may precede the parameter that has dim n.
    for (auto check : {&CallTyper::bind_names, &CallTyper::check_dims})
      for (size_t i = 0; i < parameters.size(); ++i) {
        const Binding binding = {i, parameters[i], arguments[i]};
        const std::optional<TypePairs> leaves = pair_leaves(parameters[i], arguments[i]);
        if (!leaves) return mismatch(binding);
        for (auto [parameter, argument] : *leaves)
          if (failed((this->*check)(binding, parameter, argument))) return mlir::failure();
      }
    return mlir::success();
  }

  // Like bind(), and also binds the names in the results. The call has result types of its own.
  llvm::LogicalResult bind_all(mlir::FunctionType signature) {
    if (signature.getNumResults() != call_->getNumResults())
      return call_->emitOpError() << "has " << runtime::count_text(call_->getNumResults(), "result")
                                  << ", but " << callee_ << " returns "
                                  << signature.getNumResults();
    if (signature.getNumInputs() != call_->getNumOperands())
      return bind(signature.getInputs(), call_->getOperandTypes());
    llvm::SmallVector<mlir::Type> declared(signature.getInputs()), given(call_->getOperandTypes());
    llvm::append_range(declared, signature.getResults());
    llvm::append_range(given, call_->getResultTypes());
    return bind(declared, given);
  }

  const Names& names() const { return names_; }

  llvm::LogicalResult add_results(mlir::TypeRange declared,
                                  llvm::SmallVectorImpl<mlir::Type>& results) {
    if (failed(add_types(declared, results))) return mlir::failure();
    if (definitions_.size() == symbols_.size()) return mlir::success();
    return call_->emitOpError() << "symbols has " << runtime::count_text(symbols_.size(), "name")
                                << ", expected " << definitions_.size()
                                << ", one for each data-dependent dim in the results of "
                                << callee_;
  }

 private:
  // An argument and its parameter, which can be tuples.
  struct Binding {
    size_t index;
    mlir::Type parameter, argument;
  };

  llvm::LogicalResult add_types(mlir::TypeRange declared,
                                llvm::SmallVectorImpl<mlir::Type>& results) {
    for (mlir::Type type : declared) {
      if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type)) {
        llvm::SmallVector<mlir::Type> elements;
        if (failed(add_types(tuple.getTypes(), elements))) return mlir::failure();
        results.push_back(mlir::TupleType::get(type.getContext(), elements));
        continue;
      }
      auto tensor = mlir::dyn_cast<TensorType>(type);
      if (!tensor) {
        results.push_back(type);
        continue;
      }
      llvm::SmallVector<DimExpr> dims;
      for (DimExpr dim : tensor.getShape()) {
        // Equal unbound dims of the results share one symbol of the call.
        std::optional<DimExpr> given = is_bound(dim) ? substituted(dim) : runtime_defined(dim);
        if (!given)
          return call_->emitOpError()
                 << "symbols has " << runtime::count_text(symbols_.size(), "name")
                 << ", expected one more for dim " << dim.str() << " of the results of " << callee_;
        dims.push_back(*given);
      }
      results.push_back(TensorType::get(type.getContext(), tensor.getDtype(), dims));
    }
    return mlir::success();
  }

  llvm::LogicalResult mismatch(const Binding& binding, const std::string& why = "") {
    const auto [index, parameter, argument] = binding;
    // bind_all() appends the results to the arguments.
    const bool is_result = index >= call_->getNumOperands();
    return call_->emitOpError() << (is_result ? "result " : "argument ")
                                << (is_result ? index - call_->getNumOperands() : index) << " is "
                                << text_of(argument) << ", but " << callee_
                                << (is_result ? " returns " : " takes ") << text_of(parameter)
                                << why;
  }

  // " with n = 2*m": the value of a dim of the callee; empty if both have the same text.
  static std::string value_text(const std::string& dim, DimExpr value) {
    return dim == value.str() ? "" : " with " + dim + " = " + value.str();
  }

  llvm::LogicalResult bind_names(const Binding& binding, mlir::Type parameter,
                                 mlir::Type argument) {
    auto declared = mlir::dyn_cast<TensorType>(parameter);
    auto given = mlir::dyn_cast<TensorType>(argument);
    if (!declared) return is_same_value(argument, parameter) ? mlir::success() : mismatch(binding);
    if (!given || declared.getDtype() != given.getDtype() || declared.getRank() != given.getRank())
      return mismatch(binding);
    for (auto [dim, actual] : llvm::zip(declared.getShape(), given.getShape())) {
      if (dim.kind() != DimExpr::Kind::kSymbol) continue;
      auto [bound, is_new] = names_.try_emplace(std::string(dim.symbol_name()), actual);
      if (!is_new && bound->second != actual)
        return mismatch(binding, value_text(bound->first, bound->second));
    }
    return mlir::success();
  }

  llvm::LogicalResult check_dims(const Binding& binding, mlir::Type parameter,
                                 mlir::Type argument) {
    auto declared = mlir::dyn_cast<TensorType>(parameter);
    if (!declared) return mlir::success();
    for (auto [dim, actual] :
         llvm::zip(declared.getShape(), mlir::cast<TensorType>(argument).getShape())) {
      DimExpr expected = substituted(dim);
      if (expected == actual) continue;
      return mismatch(binding, value_text(dim.str(), expected));
    }
    return mlir::success();
  }

  bool is_bound(DimExpr dim) const {
    return llvm::all_of(dim.symbols(),
                        [&](const std::string& name) { return names_.contains(name); });
  }

  DimExpr substituted(DimExpr dim) const { return graph::substituted(dim, names_); }

  // The caller's symbol for a result dim that the arguments do not determine.
  std::optional<DimExpr> runtime_defined(DimExpr dim) {
    auto known = definitions_.find(dim);
    if (known != definitions_.end()) return known->second;
    if (definitions_.size() == symbols_.size()) return std::nullopt;
    auto name = mlir::cast<mlir::StringAttr>(symbols_[static_cast<unsigned>(definitions_.size())]);
    return definitions_.emplace(dim, DimExpr::symbol(name.getValue().str())).first->second;
  }

  mlir::Operation* call_;
  std::string callee_;
  mlir::ArrayAttr symbols_;
  Names names_;
  std::map<DimExpr, DimExpr> definitions_;
};

mlir::func::FuncOp callee_of(mlir::Operation* op, llvm::StringRef name) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto callee = module ? module.lookupSymbol<mlir::func::FuncOp>(name) : nullptr;
  if (!callee) op->emitOpError() << "unknown function @" << name;
  return callee;
}

// A bijection between the symbol names of two signatures.
class Renaming {
 public:
  bool run(mlir::FunctionType a, mlir::FunctionType b) {
    const std::optional<TypePairs> inputs = pair_leaves(a.getInputs(), b.getInputs());
    const std::optional<TypePairs> results = pair_leaves(a.getResults(), b.getResults());
    return inputs && results && bind(*inputs) && bind(*results) && are_equal(*inputs) &&
           are_equal(*results);
  }

 private:
  static bool has_like_dims(TensorType a, TensorType b) {
    return a && b && a.getDtype() == b.getDtype() && a.getRank() == b.getRank();
  }

  // Binds each dim of a first type that is a single symbol to the dim of the second, also a symbol.
  bool bind(const TypePairs& pairs) {
    for (auto [x, y] : pairs) {
      auto first = mlir::dyn_cast<TensorType>(x), second = mlir::dyn_cast<TensorType>(y);
      if (!has_like_dims(first, second)) {
        if (first || second || !is_same_value(x, y)) return false;
        continue;
      }
      for (auto [from, to] : llvm::zip(first.getShape(), second.getShape()))
        if (from.kind() == DimExpr::Kind::kSymbol && !bind(from, to)) return false;
    }
    return true;
  }

  bool bind(DimExpr from, DimExpr to) {
    if (to.kind() != DimExpr::Kind::kSymbol) return false;
    std::string a(from.symbol_name()), b(to.symbol_name());
    // Both directions, so that two names of one signature do not map to one name of the other.
    return to_.try_emplace(a, to).first->second == to && from_.try_emplace(b, a).first->second == a;
  }

  bool are_equal(const TypePairs& pairs) const {
    for (auto [x, y] : pairs) {
      auto first = mlir::dyn_cast<TensorType>(x), second = mlir::dyn_cast<TensorType>(y);
      if (!first) continue;
      for (auto [from, to] : llvm::zip(first.getShape(), second.getShape()))
        if (substituted(from, to_) != to) return false;
    }
    return true;
  }

  Names to_;
  std::map<std::string, std::string> from_;
};

llvm::LogicalResult infer(mlir::Operation* call, const llvm::Twine& callee,
                          mlir::FunctionType signature, mlir::TypeRange arguments,
                          mlir::ArrayAttr symbols, llvm::SmallVectorImpl<mlir::Type>& results) {
  CallTyper typer(call, callee, symbols);
  if (failed(typer.bind(signature.getInputs(), arguments))) return mlir::failure();
  return typer.add_results(signature.getResults(), results);
}

}  // namespace

bool is_same_value(mlir::Type a, mlir::Type b) {
  auto first = mlir::dyn_cast<ClosureType>(a), second = mlir::dyn_cast<ClosureType>(b);
  if (first && second) return Renaming().run(first.getSignature(), second.getSignature());
  if (mlir::isa<mlir::TupleType>(a) && mlir::isa<mlir::TupleType>(b)) {
    const std::optional<TypePairs> leaves = pair_leaves(a, b);
    return leaves &&
           llvm::all_of(*leaves, [](auto pair) { return is_same_value(pair.first, pair.second); });
  }
  return a == b || equal_but_for_place(a, b);
}

llvm::LogicalResult infer_call(CallOp call, llvm::SmallVectorImpl<mlir::Type>& results) {
  mlir::func::FuncOp callee = callee_of(call, call.getCallee());
  if (!callee) return mlir::failure();
  return infer(call, "@" + call.getCallee(), callee.getFunctionType(),
               call.getArguments().getTypes(), call.getSymbols(), results);
}

llvm::LogicalResult infer_call(CallClosureOp call, llvm::SmallVectorImpl<mlir::Type>& results) {
  return infer(call, "the closure", call.getClosure().getType().getSignature(),
               call.getArguments().getTypes(), call.getSymbols(), results);
}

llvm::SmallVector<mlir::Type> expected_arguments(mlir::FunctionType signature,
                                                 mlir::TypeRange arguments) {
  Names names;
  const auto tensors = [&](auto pair) {
    auto [parameter, argument] = pair;
    auto declared = mlir::dyn_cast<TensorType>(parameter);
    auto given = mlir::dyn_cast<TensorType>(argument);
    return declared && given && declared.getRank() == given.getRank()
               ? std::optional(std::pair(declared, given))
               : std::nullopt;
  };
  for (auto pair : llvm::zip(signature.getInputs(), arguments))
    if (const auto types = tensors(pair))
      for (auto [dim, actual] : llvm::zip(types->first.getShape(), types->second.getShape()))
        if (dim.kind() == DimExpr::Kind::kSymbol)
          names.try_emplace(std::string(dim.symbol_name()), actual);
  llvm::SmallVector<mlir::Type> expected(arguments);
  for (auto [pair, type] : llvm::zip(llvm::zip(signature.getInputs(), arguments), expected))
    if (const auto types = tensors(pair)) {
      llvm::SmallVector<DimExpr> dims;
      for (auto [dim, actual] : llvm::zip(types->first.getShape(), types->second.getShape())) {
        const bool is_bound = llvm::all_of(
            dim.symbols(), [&](const std::string& name) { return names.contains(name); });
        dims.push_back(is_bound ? substituted(dim, names) : actual);
      }
      type = types->second.withShape(dims);
    }
  return expected;
}

llvm::FailureOr<std::map<std::string, DimExpr, std::less<>>> bind_signature(
    mlir::Operation* call, const llvm::Twine& callee, mlir::FunctionType signature) {
  CallTyper typer(call, callee, mlir::ArrayAttr::get(call->getContext(), {}));
  if (failed(typer.bind_all(signature))) return mlir::failure();
  return typer.names();
}

ClosureType infer_closure(ClosureOp op) {
  mlir::func::FuncOp callee = callee_of(op, op.getCallee());
  if (!callee) return nullptr;
  const size_t bound = op.getCaptured().size();
  llvm::ArrayRef<mlir::Type> parameters = callee.getFunctionType().getInputs();
  std::string name = ("@" + op.getCallee()).str();
  if (bound > parameters.size()) {
    op.emitOpError() << name << " takes " << runtime::count_text(parameters.size(), "argument")
                     << ", given " << bound;
    return nullptr;
  }
  for (mlir::Type type : leaves_of(llvm::to_vector(
           llvm::concat<const mlir::Type>(parameters, callee.getFunctionType().getResults()))))
    if (mlir::isa<ListType>(type)) {
      op.emitOpError() << name << " takes or returns lists, which closures do not support";
      return nullptr;
    }
  CallTyper typer(op, name, mlir::ArrayAttr::get(op.getContext(), {}));
  if (failed(typer.bind(parameters.take_front(bound), op.getCaptured().getTypes()))) return nullptr;
  return ClosureType::get(op.getContext(),
                          mlir::FunctionType::get(op.getContext(), parameters.drop_front(bound),
                                                  callee.getFunctionType().getResults()));
}

}  // namespace scopevm::compiler::graph
