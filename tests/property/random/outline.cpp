#include "tests/property/random/outline.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/loop_body.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

namespace scopevm::compiler::property {
namespace {

using Names = std::set<std::string>;

Names bare_dims(mlir::Type type) {
  Names names;
  if (auto tensor = mlir::dyn_cast<graph::TensorType>(type))
    for (DimExpr dim : tensor.getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) names.insert(std::string(dim.symbol_name()));
  return names;
}

Names bare_dims(mlir::TypeRange types) {
  Names names;
  for (mlir::Type type : types) names.merge(bare_dims(type));
  return names;
}

bool mentions_inside(mlir::Operation* op, const std::string& symbol) {
  return op
      ->walk([&](mlir::Operation* inner) {
        return graph::mentions(inner, {symbol}) ? mlir::WalkResult::interrupt()
                                                : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

class Outliner {
 public:
  explicit Outliner(const GraphCase& graph)
      : module_(graph.module.get().clone()),
        random_(std::hash<std::string>()(graph.text())),
        builder_(module_->getContext()) {
    for (const auto& [name, value] : graph.requests.front().symbols) {
      symbols_.insert(name);
      if (!name.starts_with('$')) symbols_.insert("$" + name);
    }
  }

  std::string run() {
    mlir::ScopedDiagnosticHandler ignored(module_->getContext(), [](mlir::Diagnostic&) {});
    const int most = 1 + below(4);
    for (int tries = 0; tries < 20 && made_ < most; ++tries) {
      mlir::OwningOpRef<mlir::ModuleOp> before(module_->clone());
      if (!outline() || failed(mlir::verify(*module_)))
        module_ = std::move(before);
      else
        ++made_;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_->print(stream);
    return text;
  }

 private:
  int below(size_t count) { return static_cast<int>(random_() % count); }

  // Moves up to eight successive ops of a random block to a new function, and replaces them by a
  // call. Returns false if they cannot be a function; the module may then be invalid.
  bool outline() {
    std::vector<mlir::Block*> blocks;
    module_->walk([&](mlir::Block* block) {
      if (!mlir::isa<mlir::ModuleOp>(block->getParentOp()) && block->getOperations().size() > 1)
        blocks.push_back(block);
    });
    mlir::Block& block = *blocks[below(blocks.size())];
    std::vector<mlir::Operation*> all;
    for (mlir::Operation& op : block.without_terminator()) all.push_back(&op);
    const size_t first = below(all.size());
    const size_t count = 1 + below(std::min<size_t>(8, all.size() - first));
    ops_.assign(all.begin() + first, all.begin() + first + count);
    find_inputs_and_outputs();
    if (outputs_.empty() || llvm::any_of(inputs_, [](mlir::Value value) {
          return !mlir::isa<graph::TensorType>(value.getType());
        }))
      return false;
    if (!add_inputs_for_symbols()) return false;
    auto function = make_function();
    const std::optional<mlir::ArrayAttr> exported = exported_symbols(function);
    if (!exported) return false;
    replace_ops(function, *exported);
    for (auto each : module_->getOps<mlir::func::FuncOp>()) allow_empty(each);
    return true;
  }

  bool is_moved(mlir::Operation* op) const {
    return llvm::any_of(ops_, [&](mlir::Operation* moved) { return moved->isAncestor(op); });
  }

  void find_inputs_and_outputs() {
    inputs_.clear();
    outputs_.clear();
    for (mlir::Operation* op : ops_) {
      op->walk([&](mlir::Operation* inner) {
        for (mlir::Value operand : inner->getOperands()) {
          mlir::Operation* owner = operand.getDefiningOp();
          if (!owner) owner = operand.getParentBlock()->getParentOp();
          if (!is_moved(owner)) inputs_.insert(operand);
        }
      });
      for (mlir::Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](mlir::Operation* user) { return !is_moved(user); }))
          outputs_.insert(result);
    }
  }

  // A function knows only symbols that are dims of its inputs. For each other symbol that the ops
  // use, adds an argument of the enclosing function that has it as a dim. Returns false if there is
  // none.
  bool add_inputs_for_symbols() {
    Names defined;
    for (mlir::Operation* op : ops_) {
      mlir::OwningOpRef<mlir::ModuleOp> holder(mlir::ModuleOp::create(builder_.getUnknownLoc()));
      mlir::IRMapping ignored;
      holder->getBody()->push_back(op->clone(ignored));
      defined.merge(graph::symbols_defined_in(holder->getRegion()));
    }
    auto function = ops_.front()->getParentOfType<mlir::func::FuncOp>();
    for (const std::string& symbol : symbols_) {
      auto has = [&](mlir::Value value) { return bare_dims(value.getType()).contains(symbol); };
      const bool is_used =
          llvm::any_of(ops_, [&](mlir::Operation* op) { return mentions_inside(op, symbol); }) ||
          llvm::any_of(inputs_, [&](mlir::Value input) {
            return llvm::any_of(
                mlir::cast<graph::TensorType>(input.getType()).getShape(),
                [&](DimExpr dim) { return llvm::is_contained(dim.symbols(), symbol); });
          });
      if (!is_used || defined.contains(symbol) || llvm::any_of(inputs_, has)) continue;
      auto argument = llvm::find_if(function.getArguments(), has);
      if (argument == function.getArguments().end()) return false;
      inputs_.insert(*argument);
    }
    return true;
  }

  mlir::func::FuncOp make_function() {
    llvm::SmallVector<mlir::Type> inputs, outputs;
    for (mlir::Value input : inputs_) inputs.push_back(input.getType());
    for (mlir::Value output : outputs_) outputs.push_back(output.getType());
    builder_.setInsertionPointToEnd(module_->getBody());
    auto function = builder_.create<mlir::func::FuncOp>(builder_.getUnknownLoc(),
                                                        "outlined" + std::to_string(made_),
                                                        builder_.getFunctionType(inputs, outputs));
    function.setPrivate();
    mlir::Block* body = function.addEntryBlock();
    mlir::IRMapping mapping;
    mapping.map(inputs_.getArrayRef(), body->getArguments());
    builder_.setInsertionPointToStart(body);
    for (mlir::Operation* op : ops_) builder_.clone(*op, mapping);
    llvm::SmallVector<mlir::Value> returned;
    for (mlir::Value output : outputs_) returned.push_back(mapping.lookup(output));
    builder_.create<mlir::func::ReturnOp>(builder_.getUnknownLoc(), returned);
    return function;
  }

  // The symbols that the function defines and that are dims of its results. An empty optional if
  // the caller uses another symbol that the function defines.
  std::optional<mlir::ArrayAttr> exported_symbols(mlir::func::FuncOp function) {
    const Names defined = graph::symbols_defined_in(function.getBody());
    const Names visible = bare_dims(mlir::TypeRange(function.getResultTypes()));
    llvm::SmallVector<llvm::StringRef> exported;
    for (const std::string& symbol : defined) {
      bool is_needed = visible.contains(symbol);
      auto caller = ops_.front()->getParentOfType<mlir::func::FuncOp>();
      caller.walk([&](mlir::Operation* op) {
        is_needed = is_needed || (!is_moved(op) && graph::mentions(op, {symbol}));
      });
      if (is_needed && !visible.contains(symbol)) return std::nullopt;
      if (is_needed) exported.push_back(symbol);
    }
    return builder_.getStrArrayAttr(exported);
  }

  void replace_ops(mlir::func::FuncOp function, mlir::ArrayAttr exported) {
    builder_.setInsertionPointAfter(ops_.back());
    const mlir::Location location = builder_.getUnknownLoc();
    const mlir::FunctionType type = function.getFunctionType();
    llvm::ArrayRef<mlir::Value> inputs = inputs_.getArrayRef();
    mlir::Operation* call = nullptr;
    if (below(5) < 2) {
      const size_t captured = below(inputs.size() + 1);
      auto closure_type = graph::ClosureType::get(
          type.getContext(),
          builder_.getFunctionType(type.getInputs().drop_front(captured), type.getResults()));
      mlir::Value closure = builder_.create<graph::ClosureOp>(
          location, closure_type, function.getSymName(), inputs.take_front(captured));
      call = builder_.create<graph::CallClosureOp>(location, type.getResults(), closure,
                                                   inputs.drop_front(captured), exported);
    } else {
      call = builder_.create<graph::CallOp>(location, type.getResults(), function.getSymName(),
                                            inputs, exported);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      mlir::Value output = outputs_[i];
      output.replaceUsesWithIf(call->getResult(static_cast<unsigned>(i)),
                               [&](mlir::OpOperand& use) { return !is_moved(use.getOwner()); });
    }
    for (mlir::Operation* op : llvm::reverse(ops_)) op->erase();
  }

  // Renames the symbols of the function so that they start with `$`. The compiler assumes that
  // other symbols of a function are at least 1, but dims of random graphs can be 0.
  // The names of the main function have the bounds of the graph, but closure types have names of
  // their own.
  static void allow_empty(mlir::func::FuncOp function) {
    const auto renamed = [](llvm::ArrayRef<DimExpr> dims) {
      std::vector<DimExpr> result;
      for (DimExpr dim : dims)
        result.push_back(dim.substitute([](std::string_view name) -> std::optional<DimExpr> {
          if (name.starts_with('$')) return std::nullopt;
          return DimExpr::symbol("$" + std::string(name));
        }));
      return result;
    };
    mlir::AttrTypeReplacer replacer;
    replacer.addReplacement([&](graph::TensorType type) -> mlir::Type {
      return graph::TensorType::get(type.getContext(), type.getDtype(), renamed(type.getShape()));
    });
    replacer.addReplacement([&](graph::DimsAttr dims) -> mlir::Attribute {
      return graph::DimsAttr::get(dims.getContext(), renamed(dims.getValue()));
    });
    mlir::AttrTypeReplacer of_closures;
    of_closures.addReplacement([&](graph::ClosureType type) -> mlir::Type {
      return graph::ClosureType::get(
          type.getContext(), mlir::cast<mlir::FunctionType>(replacer.replace(type.getSignature())));
    });
    (function.isPrivate() ? replacer : of_closures)
        .recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                      /*replaceTypes=*/true);
  }

  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::mt19937_64 random_;
  mlir::OpBuilder builder_;
  Names symbols_;  // of the graph
  int made_ = 0;
  std::vector<mlir::Operation*> ops_;  // the ops to move
  llvm::SmallSetVector<mlir::Value, 8> inputs_, outputs_;
};

}  // namespace

std::string outlined(const GraphCase& graph) { return Outliner(graph).run(); }

}  // namespace scopevm::compiler::property
