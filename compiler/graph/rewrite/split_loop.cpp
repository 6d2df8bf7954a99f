// Loop fission. A recurrent model of several layers can be one loop, in which layer 2 reads the
// output of layer 1 of the same iteration. After the split, the product of layer 2's inputs with
// their weights is not part of a recurrence. hoist.cpp can then compute it before the second loop.
#include "compiler/graph/rewrite/split_loop.h"

#include "compiler/graph/rewrite/loop_body.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::graph {
namespace {

class Splitter {
 public:
  explicit Splitter(LoopOp loop)
      : loop_(loop),
        body_(loop.getBody().front()),
        yielded_(body_.getTerminator()->getOperands()),
        carried_(loop.getInitial().size()) {}

  std::optional<SplitLoop> run() {
    // With one carried value, nothing is independent of the recurrence.
    if (carried_ < 2 || !is_plain()) return std::nullopt;
    find_dependences();
    if (!choose_first()) return std::nullopt;
    collect_ops();
    if (!has_batchable_product()) return std::nullopt;
    return build();
  }

 private:
  // True if the loop has a trip count, no condition, and the same sizes in all iterations. The body
  // must contain only pure ops on tensors, without regions.
  bool is_plain() {
    if (loop_.getHasCondition() || !loop_.getCarriedSymbols().empty() ||
        !loop_.getSymbols().empty() || loop_.getTripCount().getValue().empty())
      return false;
    for (mlir::Type type : loop_->getResultTypes())
      if (!mlir::isa<TensorType>(type)) return false;
    // A value whose dims depend on the index cannot be gathered in one tensor.
    std::set<std::string> index = {loop_.getIndex().str()};
    return llvm::all_of(body_.without_terminator(), [&](mlir::Operation& op) {
      return mlir::isPure(&op) && op.getNumRegions() == 0 && op.getNumResults() > 0 &&
             llvm::none_of(op.getResultTypes(), [&](mlir::Type type) {
               auto tensor = mlir::dyn_cast<TensorType>(type);
               return !tensor || llvm::any_of(tensor.getShape(), [&](DimExpr dim) {
                 return llvm::is_contained(dim.symbols(), *index.begin());
               });
             });
    });
  }

  // Bit k is set if `value` depends on carried value k of the same iteration.
  llvm::SmallBitVector dependences_of(mlir::Value value) const {
    llvm::SmallBitVector none(carried_);
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
      if (argument.getOwner() == &body_) none.set(argument.getArgNumber());
      return none;
    }
    auto found = dependences_.find(value.getDefiningOp());
    return found == dependences_.end() ? none : found->second;
  }

  void find_dependences() {
    for (mlir::Operation& op : body_.without_terminator()) {
      llvm::SmallBitVector all(carried_);
      for (mlir::Value operand : op.getOperands()) all |= dependences_of(operand);
      dependences_[&op] = all;
    }
  }

  // Sets in_first_ to the smallest non-empty set of carried values that is closed under dependence.
  // Returns false if that is the set of all values.
  bool choose_first() {
    llvm::SmallBitVector best(carried_, true);
    // The smallest closed set is the closure of one of its values.
    for (unsigned k = 0; k < carried_; ++k) {
      llvm::SmallBitVector reached(carried_);
      reached.set(k);
      for (bool grows = true; grows;) {
        llvm::SmallBitVector next = reached;
        for (unsigned j : reached.set_bits()) next |= dependences_of(yielded_[j]);
        grows = next != reached;
        reached = next;
      }
      if (reached.count() < best.count()) best = reached;
    }
    in_first_ = best;
    // If every value depends on all others, there is one recurrence, which cannot be split.
    return !best.all();
  }

  // True if result i of the loop, carried or gathered, belongs to the first loop.
  bool is_first(size_t i) const {
    if (i < carried_) return in_first_.test(static_cast<unsigned>(i));
    // needed.test(s) is true if `needed` has a bit that s does not have. A result that depends on
    // no carried value belongs to the second loop.
    llvm::SmallBitVector needed = dependences_of(yielded_[i]);
    return needed.any() && !needed.test(in_first_);
  }

  // Adds the ops of the body that `value` depends on to `ops`, operands first. If stop_at_first,
  // stops at values of the first loop that depend on a carried value, and adds them to crossing_.
  void collect(mlir::Value value, llvm::SetVector<mlir::Operation*>& ops, bool stop_at_first) {
    mlir::Operation* op = value.getDefiningOp();
    bool is_argument = mlir::isa<mlir::BlockArgument>(value) && !is_outside(value, loop_);
    bool crosses = stop_at_first && ((op && first_ops_.contains(op) && dependences_[op].any()) ||
                                     (is_argument && dependences_of(value).anyCommon(in_first_)));
    // A value of the first loop that the second loop reads is gathered. Ops of the first loop that
    // depend on no carried value are cloned into both loops instead: gathering them would cost
    // memory.
    if (crosses) crossing_.insert(value);
    if (crosses || is_argument || is_outside(value, loop_) || ops.contains(op)) return;
    for (mlir::Value operand : op->getOperands()) collect(operand, ops, stop_at_first);
    ops.insert(op);  // after its operands
  }

  void collect_ops() {
    for (size_t i = 0; i < yielded_.size(); ++i)
      if (is_first(i)) collect(yielded_[i], first_ops_, false);
    for (size_t i = 0; i < yielded_.size(); ++i)
      if (!is_first(i)) collect(yielded_[i], second_ops_, true);
  }

  // True if the second loop has a product whose left operand depends only on values of the first
  // loop.
  bool has_batchable_product() const {
    return llvm::any_of(second_ops_, [&](mlir::Operation* op) {
      auto matmul = mlir::dyn_cast<MatMulOp>(op);
      if (!matmul || !is_outside(matmul.getB(), loop_)) return false;
      llvm::SmallBitVector needed = dependences_of(matmul.getA());
      return needed.any() && !needed.test(in_first_);
    });
  }

  DimExpr trip_count() { return loop_.getTripCount().getValue().front(); }

  // Creates the first or the second loop, with an empty body. The first loop also gathers the
  // crossing values.
  LoopOp create_loop(bool first, const std::string& index) {
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Value> initial;
    for (size_t i = 0; i < yielded_.size(); ++i) {
      if (is_first(i) != first) continue;
      types.push_back(loop_.getResult(i).getType());
      if (i < carried_) initial.push_back(loop_.getInitial()[i]);
    }
    if (first)
      for (mlir::Value value : crossing_) {
        llvm::SmallVector<DimExpr> dims(type_of(value).getShape());
        dims.insert(dims.begin(), trip_count());
        types.push_back(type_of(value).withShape(dims));
      }
    mlir::OpBuilder builder(loop_);
    auto none = builder.getArrayAttr({});
    auto made = builder.create<LoopOp>(loop_.getLoc(), types, initial, loop_.getTripCount(), index,
                                       false, none, none);
    mlir::Block& block = made.getBody().emplaceBlock();
    for (mlir::Value value : initial) block.addArgument(value.getType(), loop_.getLoc());
    return made;
  }

  void fill(LoopOp made, bool first, mlir::IRMapping& mapping) {
    mlir::Block& block = made.getBody().front();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&block);
    unsigned argument = 0;
    for (unsigned i = 0; i < carried_; ++i)
      if (is_first(i) == first) mapping.map(body_.getArgument(i), block.getArgument(argument++));
    // Cloned in program order, not in the order of the search.
    for (mlir::Operation& op : body_.without_terminator())
      if ((first ? first_ops_ : second_ops_).contains(&op)) builder.clone(op, mapping);
    llvm::SmallVector<mlir::Value> values;
    for (size_t i = 0; i < yielded_.size(); ++i)
      if (is_first(i) == first) values.push_back(mapping.lookupOrDefault(yielded_[i]));
    if (first)
      for (mlir::Value value : crossing_) values.push_back(mapping.lookupOrDefault(value));
    builder.create<YieldOp>(loop_.getLoc(), values);
  }

  // The second loop reads the crossing values from the tensors that the first loop gathered.
  void map_crossing(LoopOp first, LoopOp second, mlir::IRMapping& mapping) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&second.getBody().front());
    mlir::MLIRContext* context = builder.getContext();
    size_t result = first.getNumResults() - crossing_.size();
    for (mlir::Value value : crossing_) {
      mlir::Value all = first.getResult(static_cast<unsigned>(result++));
      llvm::SmallVector<DimExpr> starts(type_of(all).getRank(), DimExpr(0));
      llvm::SmallVector<DimExpr> sizes(type_of(all).getShape());
      llvm::SmallVector<int64_t> steps(starts.size(), 1);
      starts[0] = DimExpr::symbol(second.getIndex().str());
      sizes[0] = 1;
      mlir::Value row = builder.create<SliceOp>(value.getLoc(), type_of(all).withShape(sizes), all,
                                                DimsAttr::get(context, starts),
                                                DimsAttr::get(context, sizes), steps);
      mapping.map(value,
                  builder.create<ReshapeOp>(value.getLoc(), value.getType(), row,
                                            DimsAttr::get(context, type_of(value).getShape())));
    }
  }

  void rename_index(LoopOp made) {
    std::string from = loop_.getIndex().str(), to = made.getIndex().str();
    // Only attributes are rewritten, because is_plain() rejects types that contain the index.
    mlir::AttrTypeReplacer replacer;
    replacer.addReplacement([&](DimsAttr dims) -> std::optional<mlir::Attribute> {
      llvm::SmallVector<DimExpr> renamed;
      for (DimExpr dim : dims.getValue())
        renamed.push_back(dim.substitute([&](std::string_view name) -> std::optional<DimExpr> {
          return name == from ? std::optional(DimExpr::symbol(to)) : std::nullopt;
        }));
      return DimsAttr::get(dims.getContext(), renamed);
    });
    made.getBody().walk([&](mlir::Operation* op) { replacer.replaceElementsIn(op); });
  }

  SplitLoop build() {
    SplitLoop split;
    mlir::IRMapping first_mapping, second_mapping;
    split.first = create_loop(true, loop_.getIndex().str());
    fill(split.first, true, first_mapping);
    // Index symbols are unique within a function.
    split.second = create_loop(false, loop_.getIndex().str() + ".next");
    // Before fill(): the clones of the second loop then read the gathered rows.
    map_crossing(split.first, split.second, second_mapping);
    fill(split.second, false, second_mapping);
    rename_index(split.second);
    unsigned first = 0, second = 0;
    for (size_t i = 0; i < yielded_.size(); ++i)
      loop_.getResult(static_cast<unsigned>(i))
          .replaceAllUsesWith(is_first(i) ? split.first.getResult(first++)
                                          : split.second.getResult(second++));
    loop_.erase();
    return split;
  }

  LoopOp loop_;
  mlir::Block& body_;
  llvm::SmallVector<mlir::Value> yielded_;
  unsigned carried_;
  llvm::DenseMap<mlir::Operation*, llvm::SmallBitVector> dependences_;
  llvm::SmallBitVector in_first_;
  llvm::SetVector<mlir::Operation*> first_ops_, second_ops_;
  llvm::SetVector<mlir::Value> crossing_;  // of the first loop, read by the second
};

}  // namespace

std::optional<SplitLoop> split_loop(LoopOp loop) { return Splitter(loop).run(); }

}  // namespace scopevm::compiler::graph
