// Forms partitions from the ops that match a pattern: see partition.h.
//
// A pattern is matched from the op of its first result towards the operands; every other op of the
// pattern contributes to that result. The partition replaces this last op.
#include "compiler/external/partition/partition.h"
#include "compiler/graph/control/isolated_body.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::external {
namespace {

using graph::ConstantOp;
using graph::TensorType;

// Values of the graph by values of the pattern.
using Values = llvm::SmallDenseMap<mlir::Value, mlir::Value>;

// The number of orders of operands that are tried for one op. It doubles with each commutative op
// of a pattern.
constexpr int kMostAttempts = 1024;

// A value before placement; its type has a place only if the model requires one.
bool is_unplaced(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && !tensor.getPlace();
}

bool have_same_elements(mlir::Value a, mlir::Value b) {
  auto first = mlir::dyn_cast<TensorType>(a.getType());
  auto second = mlir::dyn_cast<TensorType>(b.getType());
  return first && second && first.getDtype() == second.getDtype();
}

// The conditions of the ops that each request is checked for.
std::vector<Check> checks_of(llvm::ArrayRef<mlir::Operation*> ops) {
  std::vector<Check> checks;
  for (mlir::Operation* op : ops) graph::collect_checks(op, SegmentIndex{}, checks);
  return checks;
}

// The part of a graph that matches a pattern.
struct Match {
  llvm::SetVector<mlir::Value> inputs;  // in the order of the pattern's parameters
  llvm::SetVector<mlir::Operation*> constants;
  llvm::SmallVector<mlir::Operation*> ops;  // without constants, in program order
  llvm::SetVector<mlir::Value> outputs;

  bool contains(mlir::Operation* op) const {
    return llvm::is_contained(ops, op) || constants.contains(op);
  }
};

class Matcher {
 public:
  explicit Matcher(mlir::func::FuncOp pattern) : pattern_(pattern) {}

  // The match whose last op is `root`.
  std::optional<Match> run(mlir::Operation* root) {
    mlir::Operation* last = results().front().getDefiningOp();
    if (root->getName() != last->getName()) return std::nullopt;
    root_ = root;
    attempts_ = 0;
    Values values;
    if (!extend({{last->getResult(0), root->getResult(0)}}, values)) return std::nullopt;
    return match_;
  }

  llvm::StringRef name() { return pattern_.getName(); }

 private:
  using Pairs = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;

  mlir::OperandRange results() { return pattern_.getBody().front().getTerminator()->getOperands(); }

  // Extends `values` by the pairs and by their operands. Returns true if this results in a match.
  bool extend(Pairs open, Values& values) {
    if (++attempts_ > kMostAttempts) return false;
    while (!open.empty()) {
      auto [wanted, given] = open.pop_back_val();
      auto [known, is_new] = values.try_emplace(wanted, given);
      if (!is_new && known->second != given) return false;
      if (!is_new) continue;
      if (!have_same_elements(wanted, given) || !is_unplaced(given.getType())) return false;
      mlir::Operation* op = wanted.getDefiningOp();
      if (!op) continue;
      mlir::Operation* other = given.getDefiningOp();
      if (!other || !can_match(op, other)) return false;
      Pairs next = open;
      for (auto [a, b] : llvm::zip(op->getOperands(), other->getOperands()))
        next.emplace_back(a, b);
      if (!op->hasTrait<mlir::OpTrait::IsCommutative>()) {
        open = std::move(next);
        continue;
      }
      if (Values tried = values; extend(std::move(next), tried)) return true;
      open.emplace_back(op->getOperand(0), other->getOperand(1));
      open.emplace_back(op->getOperand(1), other->getOperand(0));
    }
    return complete(values);
  }

  bool can_match(mlir::Operation* wanted, mlir::Operation* given) {
    if (wanted->getName() != given->getName() ||
        wanted->getNumOperands() != given->getNumOperands() || graph::is_constrained(given) ||
        given->hasAttr(kDeclined))
      return false;
    if (mlir::isa<ConstantOp>(wanted)) {
      const std::optional<uint64_t> splat = graph::splat_bits(wanted);
      return splat && splat == graph::splat_bits(given);
    }
    return given->getBlock() == root_->getBlock() && is_pattern_op(given);
  }

  // Sets match_. Returns false if the matched ops cannot become a partition.
  bool complete(const Values& values) {
    match_ = Match();
    for (auto [wanted, given] : values)
      if (mlir::Operation* op = wanted.getDefiningOp(); op && !mlir::isa<ConstantOp>(op))
        if (!llvm::is_contained(match_.ops, given.getDefiningOp()))
          match_.ops.push_back(given.getDefiningOp());
    llvm::sort(match_.ops, [](auto* a, auto* b) { return a->isBeforeInBlock(b); });
    // In the order of the pattern, because the order of `values` differs between runs.
    for (auto constant : pattern_.getBody().front().getOps<ConstantOp>())
      match_.constants.insert(values.lookup(constant.getResult()).getDefiningOp());
    for (mlir::Value parameter : pattern_.getArguments())
      if (mlir::Value value = values.lookup(parameter))
        if (!value.getDefiningOp() || !match_.contains(value.getDefiningOp()))
          match_.inputs.insert(value);
    for (mlir::Value result : results()) match_.outputs.insert(values.lookup(result));
    return llvm::all_of(match_.ops, [&](mlir::Operation* op) { return has_inner_users(op); }) &&
           llvm::all_of(checks_of(match_.ops), [](const Check& check) {
             return check.kind == Check::Kind::kEqual || check.kind == Check::Kind::kAtLeast;
           });
  }

  // True if the users of the op are matched, or if its result is an output whose other users come
  // after the partition.
  bool has_inner_users(mlir::Operation* op) {
    return llvm::all_of(op->getUsers(), [&](mlir::Operation* user) {
      if (llvm::is_contained(match_.ops, user)) return true;
      if (!match_.outputs.contains(op->getResult(0))) return false;
      mlir::Operation* at = root_->getBlock()->findAncestorOpInBlock(*user);
      return root_->isBeforeInBlock(at);
    });
  }

  mlir::func::FuncOp pattern_;
  mlir::Operation* root_ = nullptr;
  int attempts_ = 0;  // to match the current root
  Match match_;
};

// The library does not check the conditions of the ops, so sv.require does.
void require_conditions(llvm::ArrayRef<mlir::Operation*> ops, mlir::OpBuilder& builder) {
  for (const Check& check : checks_of(ops)) {
    const bool is_equal = check.kind == Check::Kind::kEqual;
    // {2} and further values of a message are not available in sv.require.
    const std::string message = check.more.empty() ? check.message
                                : is_equal ? "a dim is {0}, another is {1}; they must be equal"
                                           : "a dim is {0}, expected at least {1}";
    auto dims = graph::DimsAttr::get(builder.getContext(), {check.lhs, check.rhs});
    builder.create<graph::RequireOp>(
        ops.back()->getLoc(), dims,
        is_equal ? graph::RequireKind::kEqual : graph::RequireKind::kAtLeast,
        builder.getStringAttr(message));
  }
}

void form_partition(const Match& match, llvm::StringRef pattern, llvm::StringRef library) {
  mlir::OpBuilder builder(match.ops.back());
  require_conditions(match.ops, builder);
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Operation* op : match.ops) locations.push_back(op->getLoc());
  auto partition = builder.create<graph::PartitionOp>(
      builder.getFusedLoc(locations), mlir::ValueRange(match.outputs.getArrayRef()).getTypes(),
      match.inputs.getArrayRef(), builder.getStringAttr(library),
      builder.getStrArrayAttr({pattern}));
  llvm::SmallVector<mlir::Operation*> ops(match.constants.getArrayRef());
  llvm::append_range(ops, match.ops);
  graph::move_into_body(ops, match.outputs.getArrayRef(), partition);
}

void partition(mlir::Block& block, Matcher& matcher, llvm::StringRef library) {
  for (mlir::Operation& op : llvm::make_early_inc_range(block))
    // All matched ops, which are erased, come before the next op.
    if (std::optional<Match> match = matcher.run(&op))
      form_partition(*match, matcher.name(), library);
}

}  // namespace

void partition(mlir::ModuleOp module, mlir::func::FuncOp pattern, llvm::StringRef library) {
  llvm::SmallVector<mlir::Block*> blocks;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || function->hasAttr(kLibrary)) continue;
    llvm::append_range(blocks, graph::blocks_of(function));
  }
  Matcher matcher(pattern);
  for (mlir::Block* block : blocks) partition(*block, matcher, library);
}

void partition(mlir::ModuleOp module, const Patterns& patterns) {
  for (mlir::func::FuncOp pattern : patterns.functions())
    partition(module, pattern, patterns.library());
}

}  // namespace scopevm::compiler::external
