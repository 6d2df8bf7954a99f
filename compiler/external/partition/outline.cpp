// Moves partitions into functions: see partition.h.
#include <map>
#include <set>

#include "compiler/external/partition/clone_ops.h"
#include "compiler/external/partition/partition.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::external {
namespace {

using graph::PartitionOp;
using graph::TensorType;

llvm::ArrayRef<DimExpr> dims_of(mlir::Type type) { return mlir::cast<TensorType>(type).getShape(); }

// The names of a function's dims: s0, s1, ... for the symbols among the dims of the partition's
// operands and results, in this order. An operand's dim that also has other symbols, such as
// floordiv(w, 2) if no dim is w, has a name of its own. A name keeps the facts about its dim.
class Names {
 public:
  explicit Names(PartitionOp partition) {
    for (mlir::Type type :
         llvm::concat<const mlir::Type>(llvm::to_vector(partition->getOperandTypes()),
                                        llvm::to_vector(partition->getResultTypes())))
      for (DimExpr dim : dims_of(type))
        if (dim.kind() == DimExpr::Kind::kSymbol) add(dim, dim.facts());
    for (mlir::Type type : partition->getOperandTypes())
      for (DimExpr dim : dims_of(type)) {
        if (in_function(dim)) continue;
        const DimInterval bounds = interval_of(dim);
        add(dim, {std::max<int64_t>(bounds.min, 0), bounds.max, known_factor(dim)});
      }
  }

  // The dim in the function's names; empty if it uses a symbol without a name.
  std::optional<DimExpr> in_function(DimExpr dim) const {
    if (auto known = names_.find(dim); known != names_.end()) return known->second;
    for (const std::string& symbol : dim.symbols())
      if (!symbols_.contains(symbol)) return std::nullopt;
    return dim.substitute([&](std::string_view name) -> std::optional<DimExpr> {
      return symbols_.find(name)->second;
    });
  }

  // The dim in the names of the partition.
  DimExpr in_caller(DimExpr dim) const {
    return dim.substitute(
        [&](std::string_view name) -> std::optional<DimExpr> { return dims_.find(name)->second; });
  }

  // The facts about the names, which the textual form of the function does not contain.
  std::string facts() const {
    std::string text;
    for (DimExpr name : in_order_)
      text += std::string(name.symbol_name()) + " " + std::to_string(name.facts().min) + " " +
              std::to_string(name.facts().max) + " " + std::to_string(name.facts().multiple_of) +
              ";";
    return text;
  }

 private:
  void add(DimExpr dim, const DimFacts& facts) {
    if (names_.contains(dim)) return;
    // The parser assumes that a dim without `$` is at least 1.
    const std::string text = (facts.min > 0 ? "s" : "$s") + std::to_string(names_.size());
    const DimExpr name = DimExpr::symbol(text, facts);
    in_order_.push_back(name);
    names_.emplace(dim, name);
    dims_.emplace(text, dim);
    if (dim.kind() == DimExpr::Kind::kSymbol) symbols_.emplace(dim.symbol_name(), name);
  }

  std::vector<DimExpr> in_order_;  // the names
  std::map<DimExpr, DimExpr> names_;
  std::map<std::string, DimExpr, std::less<>> symbols_;  // the symbols of names_
  std::map<std::string, DimExpr, std::less<>> dims_;     // the inverse of names_
};

// The type of a parameter or result in the names of the function.
std::optional<mlir::Type> in_function(mlir::Type type, const Names& names) {
  llvm::SmallVector<DimExpr> dims;
  for (DimExpr dim : dims_of(type)) {
    const std::optional<DimExpr> named = names.in_function(dim);
    if (!named) return std::nullopt;
    dims.push_back(*named);
  }
  return mlir::cast<TensorType>(type).withShape(dims);
}

// True if the function's results have the types of the partition's results.
bool returns_results_of(mlir::func::FuncOp function, PartitionOp partition, const Names& names) {
  return llvm::all_of(
      llvm::zip(function.getFunctionType().getResults(), partition->getResultTypes()),
      [&](auto types) {
        auto [result, expected] = types;
        return llvm::equal(dims_of(result), dims_of(expected), [&](DimExpr dim, DimExpr other) {
          return names.in_caller(dim) == other;
        });
      });
}

// Copies the ops of the partition into the function, and adds the terminator. Fails if the function
// cannot compute the partition for all values of its dims.
llvm::LogicalResult fill(mlir::func::FuncOp function, PartitionOp partition, const Names& names) {
  // An op can reject dims for which an expression in the partition proves a condition.
  const mlir::ScopedDiagnosticHandler ignore(function.getContext(),
                                             [](mlir::Diagnostic&) { return mlir::success(); });
  mlir::Block* block = &function.getBody().emplaceBlock();
  mlir::Block& body = partition.getBody().front();
  mlir::IRMapping mapping;
  for (mlir::BlockArgument argument : body.getArguments())
    mapping.map(argument,
                block->addArgument(*in_function(argument.getType(), names), argument.getLoc()));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(block);
  if (failed(
          clone_ops(body, builder, mapping, [&](DimExpr dim) { return names.in_function(dim); })))
    return mlir::failure();
  llvm::SmallVector<mlir::Value> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  auto end = builder.create<mlir::func::ReturnOp>(partition.getLoc(), results);
  function.setType(mlir::FunctionType::get(function.getContext(), block->getArgumentTypes(),
                                           end.getOperandTypes()));
  return mlir::success(returns_results_of(function, partition, names));
}

bool is_free_constant(mlir::Value value) {
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  return constant && !graph::is_constrained(constant);
}

// A function without a symbol; null if the partition cannot become a function.
mlir::OwningOpRef<mlir::func::FuncOp> function_of(PartitionOp partition, const Names& names) {
  mlir::OwningOpRef<mlir::func::FuncOp> function = mlir::func::FuncOp::create(
      partition.getLoc(), "f", mlir::FunctionType::get(partition.getContext(), {}, {}));
  function->setPrivate();
  (*function)->setAttr(kLibrary, partition.getLibraryAttr());
  (*function)->setAttr(kPatterns, partition.getPatternsAttr());
  if (failed(fill(*function, partition, names))) return nullptr;
  for (auto [i, input] : llvm::enumerate(partition.getInputs()))
    if (is_free_constant(input))
      function->setArgAttr(i, kConstant, mlir::UnitAttr::get(partition.getContext()));
  return function;
}

// LIBRARY.PATTERN_N, or LIBRARY.merged_N for several patterns.
std::string symbol_of(PartitionOp partition, mlir::SymbolTable& symbols) {
  const mlir::ArrayAttr patterns = partition.getPatterns();
  const llvm::StringRef name =
      patterns.size() == 1 ? mlir::cast<mlir::StringAttr>(patterns[0]).getValue() : "merged";
  const std::string prefix = (partition.getLibrary() + "." + name + "_").str();
  size_t number = 0;
  while (symbols.lookup(prefix + std::to_string(number))) ++number;
  return prefix + std::to_string(number);
}

class Outliner {
 public:
  explicit Outliner(mlir::ModuleOp module) : symbols_(module) {}

  void run(PartitionOp partition) {
    const Names names(partition);
    mlir::OwningOpRef<mlir::func::FuncOp> function = function_of(partition, names);
    if (!function) return dissolve(partition);
    std::string text = names.facts();
    llvm::raw_string_ostream stream(text);
    (*function)->print(stream, mlir::OpPrintingFlags().printGenericOpForm().useLocalScope());
    auto [known, is_new] = functions_by_text_.try_emplace(text, *function);
    if (is_new) {
      function->setName(symbol_of(partition, symbols_));
      symbols_.insert(*function);
      functions_.push_back(function.release());
    }
    mlir::OpBuilder builder(partition);
    auto call = builder.create<graph::CallExternOp>(
        partition.getLoc(), partition->getResultTypes(),
        mlir::FlatSymbolRefAttr::get(known->second.getNameAttr()), partition.getInputs());
    partition->replaceAllUsesWith(call);
    partition->erase();
  }

  std::vector<mlir::func::FuncOp> functions() { return std::move(functions_); }

 private:
  mlir::SymbolTable symbols_;
  std::map<std::string, mlir::func::FuncOp> functions_by_text_;
  std::vector<mlir::func::FuncOp> functions_;
};

}  // namespace

void dissolve(PartitionOp partition) {
  mlir::IRMapping mapping;
  mlir::Block& body = partition.getBody().front();
  mapping.map(body.getArguments(), partition.getInputs());
  mlir::OpBuilder builder(partition);
  for (mlir::Operation& op : body.without_terminator()) builder.clone(op, mapping);
  for (auto [result, value] :
       llvm::zip(partition->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  partition->erase();
}

std::vector<mlir::func::FuncOp> outline(mlir::ModuleOp module) {
  llvm::SmallVector<PartitionOp> partitions;
  module.walk([&](PartitionOp partition) { partitions.push_back(partition); });
  Outliner outliner(module);
  for (PartitionOp partition : partitions) outliner.run(partition);
  return outliner.functions();
}

}  // namespace scopevm::compiler::external
