// Finds the values that are not computed row by row, starting from none, until no op adds another
// one: the greatest fixed point, so that a loop whose carried values keep their rows is no
// obstacle.
#include "compiler/graph/parallel/batch_dims.h"

#include <set>

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::graph {
namespace {

class RowAnalysis {
 public:
  // `dim` is a symbol of the inputs of `function`. Each row is one element along it.
  RowAnalysis(mlir::func::FuncOp function, std::string_view dim) : function_(function), dim_(dim) {
    varying_.emplace(dim);
  }

  // Why the dimension is not a batch dim. Empty if it is one.
  std::string obstacle() {
    for (mlir::BlockArgument input : function_.getArguments())
      if (!has_plain_rows(input)) return form_of(DimTrace::name(input));
    const mlir::OperandRange outputs = function_.getBody().front().getTerminator()->getOperands();
    do {
      changed_ = false;
      function_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) { visit(op); });
      for (mlir::Value output : outputs)
        if (mixed_.contains(output)) return cause(output);
    } while (changed_);
    for (const auto [i, output] : llvm::enumerate(outputs))
      if (!has_plain_rows(output))
        return form_of("output " + runtime::quoted(output_name(function_, i)));
    return condition();
  }

 private:
  static constexpr int64_t kNoRows = ParallelAxis::kWhole;

  // Whether the dim differs between a request and requests that are joined.
  bool varies(DimExpr dim) const {
    return llvm::any_of(dim.symbols(),
                        [&](const std::string& name) { return varying_.contains(name); });
  }

  // The axis of the rows: its size is the dimension times a size that is the same in all requests.
  // kNoRows if no dim varies. Empty for other values.
  std::optional<int64_t> row_axis(mlir::Value value) const {
    const auto type = mlir::dyn_cast<TensorType>(value.getType());
    if (!type || mixed_.contains(value)) return std::nullopt;
    int64_t rows = kNoRows;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      const DimExpr dim = type.getDim(axis);
      if (!varies(dim)) continue;
      const DimExpr of_one = dim.substitute([&](std::string_view name) {
        return name == dim_ ? std::optional(DimExpr(1)) : std::nullopt;
      });
      const bool is_product = !varies(of_one) && dim == rows_in(dim) * of_one;
      if (!is_product || rows != kNoRows) return std::nullopt;
      rows = axis;
    }
    return rows;
  }

  // The dimension as a symbol of `e`, with its facts; 0 if `e` does not contain it.
  DimExpr rows_in(DimExpr e) const {
    if (e.kind() == DimExpr::Kind::kSymbol && e.symbol_name() == dim_) return e;
    for (DimExpr operand : e.operands())
      if (const DimExpr found = rows_in(operand); !found.is_constant()) return found;
    return {};
  }

  // The row axis of a value consists of `outer` parts, each with the elements of all rows, one row
  // after the other: 1, or t if [t, n] was reshaped to [t*n].
  DimExpr outer_of(mlir::Value value) const {
    const auto found = outer_.find(value);
    return found != outer_.end() ? found->second : DimExpr(1);
  }

  // Whether the value has the dimension as one of its dims, and in no other way.
  bool has_plain_rows(mlir::Value value) const {
    const std::optional<int64_t> axis = row_axis(value);
    if (!axis || *axis == kNoRows) return axis.has_value();
    const DimExpr dim = type_of(value).getDim(*axis);
    return dim.kind() == DimExpr::Kind::kSymbol && outer_of(value) == 1;
  }

  bool is_the_same_in_all_requests(mlir::Value value) const { return row_axis(value) == kNoRows; }

  // Whether an attribute of the op has dims that vary, except the one of a result's axis `rows`.
  bool reads_varying_dims(mlir::Operation* op, int64_t rows) const {
    const auto rank = [&] {
      return op->getNumResults() == 0 ? 0 : type_of(op->getResult(0)).getRank();
    };
    for (const mlir::NamedAttribute attribute : op->getAttrs()) {
      const auto dims = mlir::dyn_cast<DimsAttr>(attribute.getValue());
      if (!dims) continue;
      for (const auto [i, dim] : llvm::enumerate(dims.getValue())) {
        const bool is_of_rows = rows != kNoRows && static_cast<int64_t>(i) == rows &&
                                static_cast<int64_t>(dims.getValue().size()) == rank();
        if (!is_of_rows && varies(dim)) return true;
      }
    }
    return false;
  }

  // The outer parts of all results, if their rows are computed from the same rows of the operands.
  std::optional<DimExpr> outer_after(ParallelAxesOp op) const {
    ParallelAxis rows;
    std::optional<DimExpr> outer;
    for (mlir::Value operand : op->getOperands()) {
      const std::optional<int64_t> axis = row_axis(operand);
      if (!axis) return std::nullopt;
      rows.operands.push_back(*axis);
      if (*axis == kNoRows) continue;
      if (outer && *outer != outer_of(operand)) return std::nullopt;
      outer = outer_of(operand);
    }
    for (mlir::Value result : op->getResults()) {
      const std::optional<int64_t> axis = row_axis(result);
      if (!axis) return std::nullopt;
      rows.results.push_back(*axis);
    }
    if (reads_varying_dims(op, rows.results.front())) return std::nullopt;
    const auto is_whole = [](int64_t axis) { return axis == kNoRows; };
    if (llvm::all_of(rows.operands, is_whole) && llvm::all_of(rows.results, is_whole))
      return DimExpr(1);
    if (auto reshape = mlir::dyn_cast<ReshapeOp>(op.getOperation()))
      return outer_after(reshape, rows.operands.front(), rows.results.front());
    const bool is_parallel = llvm::any_of(op.getParallelAxes(), [&](const ParallelAxis& parallel) {
      return parallel.operands == rows.operands && parallel.results == rows.results;
    });
    // Without outer parts, equal parts of the axes correspond; with them, only equal indices.
    if (!is_parallel || (outer && *outer != 1 && !have_equal_dims(op, rows))) return std::nullopt;
    return outer.value_or(1);
  }

  // A reshape keeps the order of the elements, and so what is before the rows.
  std::optional<DimExpr> outer_after(ReshapeOp reshape, int64_t from, int64_t to) const {
    if (from == kNoRows || to == kNoRows) return std::nullopt;
    const auto before = [](mlir::Value value, int64_t axis) {
      return element_count(type_of(value).getShape().take_front(axis));
    };
    const DimExpr all_before = before(reshape.getX(), from) * outer_of(reshape.getX());
    const DimExpr axes_before = before(reshape.getResult(), to);
    const DimExpr dim = type_of(reshape.getResult()).getDim(to), rows = rows_in(dim);
    const DimExpr outer = floordiv(all_before, axes_before);
    const DimExpr inner = floordiv(floordiv(dim, rows), outer);
    const bool is_exact = axes_before * outer == all_before && outer * rows * inner == dim;
    return is_exact ? std::optional(outer) : std::nullopt;
  }

  static bool have_equal_dims(mlir::Operation* op, const ParallelAxis& rows) {
    const DimExpr dim = type_of(op->getResult(0)).getDim(rows.results.front());
    const auto is_equal = [&](mlir::Value value, int64_t axis) {
      return axis == kNoRows || type_of(value).getDim(axis) == dim;
    };
    return llvm::all_of_zip(op->getOperands(), rows.operands, is_equal) &&
           llvm::all_of_zip(op->getResults(), rows.results, is_equal);
  }

  void visit(mlir::Operation* op) {
    if (auto merge = mlir::dyn_cast<MergeOp>(op)) return visit_merge(merge);
    if (auto read = mlir::dyn_cast<ReadDimsOp>(op)) {
      if (!is_the_same_in_all_requests(read.getX())) add_symbols(op);
      return;
    }
    add_symbols(op);
    auto parallel = mlir::dyn_cast<ParallelAxesOp>(op);
    const std::optional<DimExpr> outer = parallel ? outer_after(parallel) : std::nullopt;
    for (mlir::Value result : op->getResults()) outer ? set_outer(result, *outer) : add(result);
  }

  // A branch or a loop takes the same way for all rows if its conditions and its trip count are the
  // same. Dims that only the execution determines are not compared.
  void visit_merge(MergeOp merge) {
    bool is_same_way = !reads_varying_dims(merge, kNoRows);
    for_each_edge(merge, [&](mlir::OpOperand& operand) {
      const mlir::OpResult result = merge.getMergePoint(operand);
      if (!result)
        is_same_way = is_same_way && is_the_same_in_all_requests(operand.get());
      else if (has_rows(operand.get()) != has_rows(result))
        add(result);
      else
        set_outer(result, outer_of(operand.get()));
    });
    for (const SymbolDefinition& definition : symbols_defined_by(merge)) {
      auto loop = mlir::dyn_cast<LoopOp>(merge.getOperation());
      if (!is_same_way || !loop || definition.symbol != loop.getIndex()) add_symbol(definition);
    }
    for (mlir::OpResult result : merge->getResults()) {
      if (!is_same_way || !row_axis(result)) add(result);
      for (mlir::Region& region : merge->getRegions()) {
        if (result.getResultNumber() >= region.getNumArguments()) continue;
        const mlir::BlockArgument argument = region.getArgument(result.getResultNumber());
        mixed_.contains(result) ? add(argument) : set_outer(argument, outer_of(result));
      }
    }
  }

  // Empty if the value is mixed.
  std::optional<bool> has_rows(mlir::Value value) const {
    const std::optional<int64_t> axis = row_axis(value);
    return axis ? std::optional(*axis != kNoRows) : std::nullopt;
  }

  static void for_each_edge(MergeOp merge, llvm::function_ref<void(mlir::OpOperand&)> visit) {
    for (mlir::OpOperand& operand : merge->getOpOperands()) visit(operand);
    for (mlir::Region& region : merge->getRegions())
      for (mlir::OpOperand& operand : region.front().getTerminator()->getOpOperands())
        visit(operand);
  }

  void add(mlir::Value value) { changed_ = mixed_.insert(value).second || changed_; }
  // A value for which two ops find different parts is mixed.
  void set_outer(mlir::Value value, DimExpr outer) {
    const auto [entry, is_new] = outer_.try_emplace(value, outer);
    changed_ = changed_ || (is_new && outer != 1);
    if (entry->second != outer) add(value);
  }
  void add_symbols(mlir::Operation* op) {
    for (const SymbolDefinition& definition : symbols_defined_by(op)) add_symbol(definition);
  }
  void add_symbol(const SymbolDefinition& definition) {
    changed_ = varying_.insert(definition.symbol).second || changed_;
  }

  std::string form_of(const std::string& value) const {
    return value + " has it in another form than the size of one axis";
  }

  // The first op that mixes rows, of those from which `output` is computed.
  std::string cause(mlir::Value output) {
    const llvm::SmallPtrSet<mlir::Operation*, 16> ops = ops_before(output);
    std::string text = "rows depend on each other";
    function_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      const auto is_mixed = [&](mlir::Value value) { return mixed_.contains(value); };
      if (!ops.contains(op) || llvm::none_of(op->getResults(), is_mixed) ||
          llvm::any_of(op->getOperands(), is_mixed))
        return mlir::WalkResult::advance();
      text = DimTrace::name(op) + " combines rows, or depends on their number";
      return mlir::WalkResult::interrupt();
    });
    return text;
  }

  // The ops that compute a mixed value from other ones, with the bodies of branches and loops.
  llvm::SmallPtrSet<mlir::Operation*, 16> ops_before(mlir::Value value) const {
    llvm::SmallPtrSet<mlir::Operation*, 16> ops;
    llvm::SmallVector<mlir::Operation*> rest;
    const auto add_op_of = [&](mlir::Value used) {
      mlir::Operation* op = used.getDefiningOp();
      if (op != nullptr && mixed_.contains(used) && ops.insert(op).second) rest.push_back(op);
    };
    add_op_of(value);
    while (!rest.empty())
      rest.pop_back_val()->walk([&](mlir::Operation* op) {
        ops.insert(op);
        llvm::for_each(op->getOperands(), add_op_of);
      });
    return ops;
  }

  // Whether the bool is true for joined requests if and only if it is true for each of them.
  bool holds_for_each(mlir::Value value) const {
    if (is_the_same_in_all_requests(value)) return true;
    mlir::Operation* op = value.getDefiningOp();
    if (auto reduction = mlir::dyn_cast_or_null<ReductionOp>(op);
        reduction && reduction.getCombine() == Combine::kMin &&
        type_of(value).getDtype() == DType::kBool)
      return row_axis(op->getOperand(0)) || holds_for_each(op->getOperand(0));
    return mlir::isa_and_nonnull<AndOp, ReshapeOp>(op) &&
           llvm::all_of(op->getOperands(),
                        [&](mlir::Value operand) { return holds_for_each(operand); });
  }

  // A condition of a request that can hold for one of two numbers of rows only.
  std::string condition() {
    std::string text;
    function_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      std::vector<Check> checks;
      if (mlir::isa<RequestCheckOp>(op)) collect_checks(op, {}, checks);
      auto assertion = mlir::dyn_cast<AssertOp>(op);
      if ((assertion && !holds_for_each(assertion.getCondition())) ||
          llvm::any_of(checks,
                       [&](const Check& check) { return varies(check.lhs) || varies(check.rhs); }))
        text = "a condition of " + DimTrace::name(op) + " depends on it";
      return text.empty() ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    return text;
  }

  mlir::func::FuncOp function_;
  const std::string dim_;
  llvm::DenseSet<mlir::Value> mixed_;           // values that are not computed row by row
  llvm::DenseMap<mlir::Value, DimExpr> outer_;  // of other values; see outer_of()
  std::set<std::string, std::less<>> varying_;  // the dimension, and symbols that depend on rows
  bool changed_ = false;
};

}  // namespace

void find_batch_dims(mlir::ModuleOp module) {
  mlir::Builder builder(module.getContext());
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isPublic() || function.isDeclaration()) continue;
    std::set<std::string> names;
    for (mlir::Type type : function.getArgumentTypes())
      if (auto tensor = mlir::dyn_cast<TensorType>(type))
        for (DimExpr dim : tensor.getShape())
          for (std::string& name : dim.symbols()) names.insert(std::move(name));
    llvm::SmallVector<mlir::NamedAttribute> entries;
    for (const std::string& name : names)
      entries.push_back(builder.getNamedAttr(
          name, builder.getStringAttr(RowAnalysis(function, name).obstacle())));
    function->setAttr(kBatchDimsAttribute, builder.getDictionaryAttr(entries));
  }
}

std::optional<std::string> batch_obstacle(mlir::func::FuncOp function, std::string_view dimension) {
  const auto dims = function->getAttrOfType<mlir::DictionaryAttr>(kBatchDimsAttribute);
  const auto text = dims ? dims.getAs<mlir::StringAttr>(dimension) : mlir::StringAttr();
  return text ? std::optional(text.str()) : std::nullopt;
}

}  // namespace scopevm::compiler::graph
