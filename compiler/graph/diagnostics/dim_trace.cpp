// Traces dims from a value back to the function's inputs: see dim_trace.h.
#include "compiler/graph/diagnostics/dim_trace.h"

#include <algorithm>

#include "compiler/dims/dim_text.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::graph {
namespace {

constexpr size_t kLongestName = 40;
constexpr size_t kLongestExpression = 60;
constexpr size_t kMostSymbols = 2;
constexpr size_t kMostOps = 3;

std::string quoted(const std::string& name) { return "\"" + cut_text(name, kLongestName) + "\""; }

// Maps a block argument of a group to the group's operand.
mlir::Value outside_group(mlir::Value value) {
  while (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    auto group = mlir::dyn_cast_or_null<GroupOp>(argument.getOwner()->getParentOp());
    if (!group) break;
    value = group->getOperand(argument.getArgNumber());
  }
  return value;
}

llvm::ArrayRef<DimExpr> dims_of(mlir::Value value) {
  auto type = mlir::dyn_cast<TensorType>(value.getType());
  return type ? type.getShape() : llvm::ArrayRef<DimExpr>();
}

bool has_any_of(DimExpr e, const std::vector<std::string>& symbols) {
  return std::ranges::any_of(
      e.symbols(), [&](const std::string& name) { return llvm::is_contained(symbols, name); });
}

// The defining op; null for arguments.
mlir::Operation* defining_op(mlir::Value value) { return value.getDefiningOp(); }

struct Step {
  mlir::Value from;
  DimExpr dim;
};

// The operand dim from which result dim `e` of `op` is computed: an equal dim, else a dim with a
// common symbol. Empty if there is none.
std::optional<Step> step_back(mlir::Operation* op, DimExpr e) {
  for (mlir::Value operand : op->getOperands())
    if (llvm::is_contained(dims_of(operand), e)) return Step{operand, e};
  std::vector<std::string> symbols = e.symbols();
  for (mlir::Value operand : op->getOperands())
    for (DimExpr dim : dims_of(operand))
      if (has_any_of(dim, symbols)) return Step{operand, dim};
  return std::nullopt;
}

// Names of the ops that changed the dim between an input and `value`. The op nearest to `value` is
// first.
std::vector<std::string> changes(DimExpr e, mlir::Value value) {
  std::vector<std::string> names;
  value = outside_group(value);
  while (mlir::Operation* op = defining_op(value)) {
    // A group is one step: the trace continues at its operands, without a visit to its ops.
    std::optional<Step> step = step_back(op, e);
    if (!step) break;
    if (step->dim != e) names.push_back(op_name(op));
    e = step->dim;
    value = outside_group(step->from);
  }
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostOps; ++i)
    text += (i > 0 ? ", " : "") + quoted(names[names.size() - 1 - i]);
  return names.size() > kMostOps ? text + ", ..." : text;
}

}  // namespace

std::string DimTrace::name(mlir::Operation* op) { return quoted(op_name(op)); }

std::string DimTrace::name(mlir::Value value) {
  value = outside_group(value);
  std::string input = input_name(value);
  if (!input.empty()) return "input " + quoted(input);
  if (mlir::Operation* op = defining_op(value)) return name(op);
  return "an operand";
}

// The origin of a symbol: `input "x" dim 2`, else the op that defines it, else "a value".
std::string DimTrace::definition_of(const std::string& symbol, mlir::Value value) {
  auto function = value.getParentRegion()->getParentOfType<mlir::func::FuncOp>();
  if (!function) return "a value";
  for (mlir::BlockArgument argument : function.getArguments())
    for (auto [axis, dim] : llvm::enumerate(dims_of(argument)))
      if (dim.kind() == DimExpr::Kind::kSymbol && dim.symbol_name() == symbol)
        return name(argument) + " dim " + std::to_string(axis);
  std::string definition;
  function.walk([&](mlir::Operation* op) {
    std::vector<SymbolDefinition> definitions = symbols_defined_by(op);
    auto found = std::ranges::find(definitions, symbol, &SymbolDefinition::symbol);
    if (found == definitions.end()) return mlir::WalkResult::advance();
    definition = found->where;
    return mlir::WalkResult::interrupt();
  });
  return definition.empty() ? "a value" : definition;
}

std::vector<SymbolDefinition> symbols_defined_by(mlir::Operation* op) {
  std::vector<SymbolDefinition> definitions;
  std::string described_op = op->getName().stripDialect().str() + " \"" + op_name(op) + "\"";
  if (auto read = mlir::dyn_cast<ReadDimsOp>(op)) {
    for (auto [index, symbol] : llvm::enumerate(read.getSymbols())) {
      std::string name = mlir::cast<mlir::StringAttr>(symbol).getValue().str();
      std::string where = DimTrace::name(read.getX()) + " element " + std::to_string(index);
      definitions.push_back({name, where});
      if (read.getIsSigned())
        definitions.push_back({name + ".neg", "the negative part of " + where});
    }
    return definitions;
  }
  if (auto size = mlir::dyn_cast<ListSizeOp>(op))
    definitions.push_back({size.getSymbol().str(), described_op});
  if (auto loop = mlir::dyn_cast<LoopOp>(op))
    definitions.push_back({loop.getIndex().str(), described_op + " iteration"});
  for (const char* list : {"carried_symbols", "symbols"})
    if (auto symbols = op->getAttrOfType<mlir::ArrayAttr>(list))
      for (auto symbol : symbols.getAsRange<mlir::StringAttr>())
        definitions.push_back({symbol.getValue().str(), described_op});
  return definitions;
}

std::string DimTrace::origin(DimExpr e, mlir::Value value) {
  if (e.is_constant()) return "";
  value = outside_group(value);
  bool is_symbol = e.kind() == DimExpr::Kind::kSymbol;
  // The message already names the input and the dim.
  if (is_symbol && !input_name(value).empty() && llvm::is_contained(dims_of(value), e)) return "";
  std::string text = is_symbol ? std::string(e.symbol_name()) : short_text(e, kLongestExpression);
  if (is_symbol) return cut_text(text, kLongestName) + " from " + definition_of(text, value);
  size_t count = 0;
  for (const std::string& symbol : e.symbols()) {
    DimExpr named = DimExpr::symbol(symbol);
    if (llvm::is_contained(shown_, named)) continue;  // already described in this message
    if (++count > kMostSymbols) return text + ", ...";
    shown_.push_back(named);
    text += (count == 1 ? " with " : ", ") + cut_text(symbol, kLongestName) + " = {" +
            std::to_string(shown_.size() + 1) + "} from " + definition_of(symbol, value);
  }
  return text;
}

std::string DimTrace::way(DimExpr e, mlir::Value value) {
  value = outside_group(value);
  std::vector<std::string> names = changes(e, value);
  // The message already names the value's own op.
  if (!names.empty() && defining_op(value) && names.front() == op_name(defining_op(value)))
    names.erase(names.begin());
  return names.empty() ? "" : ", through " + list_of(names);
}

}  // namespace scopevm::compiler::graph
