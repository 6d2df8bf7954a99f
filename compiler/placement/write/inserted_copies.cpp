// Inserts, merges and orders copies; see the header.
#include "compiler/placement/write/inserted_copies.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/SetVector.h"

namespace scopevm::compiler::placement {
namespace {

// The op before which a copy for these uses is inserted. The copy is as late as possible, and
// inside a branch if all readers are in it. It is never inside a loop in which the value is
// invariant.
mlir::Operation* first_reader(mlir::Value value, const std::vector<Use>& uses) {
  mlir::Block* block = value.getParentBlock();
  while (true) {
    llvm::SetVector<mlir::Operation*> readers;
    for (const Use& use : uses)
      // A reader inside a loop counts as the loop itself: the copy is then outside of it.
      readers.insert(block->findAncestorOpInBlock(*use.operand->getOwner()));
    mlir::Operation* first = *std::min_element(
        readers.begin(), readers.end(), [](auto* a, auto* b) { return a->isBeforeInBlock(b); });
    mlir::Block* inner = nullptr;
    auto branch = mlir::dyn_cast<mlir::RegionBranchOpInterface>(first);
    if (readers.size() == 1 && branch)
      for (mlir::Region& region : first->getRegions())
        if (!branch.isRepetitiveRegion(region.getRegionNumber()) &&
            llvm::all_of(uses, [&](const Use& use) {
              return region.isAncestor(use.operand->getOwner()->getParentRegion());
            }))
          inner = &region.front();
    if (!inner) return first;
    block = inner;
  }
}

}  // namespace

mlir::Value make_copy(mlir::OpBuilder& builder, mlir::Value value, graph::PlaceAttr place,
                      const CopyReason& reason) {
  return builder.create<graph::DeviceCopyOp>(
      with_reason(value.getLoc(), reason),
      mlir::cast<graph::TensorType>(value.getType()).withPlace(place), value,
      builder.getStringAttr(place.str()), mlir::StringAttr());
}

mlir::Value InsertedCopies::insert(mlir::Value value, graph::PlaceAttr place,
                                   const CopyReason& reason, const std::vector<Use>& uses) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPoint(first_reader(value, uses));
  mlir::Value copy = make_copy(builder, value, place, reason);
  for (const Use& use : uses) use.operand->set(copy);
  copies_.push_back(copy);
  return copy;
}

void InsertedCopies::merge(mlir::ModuleOp module) {
  for (size_t i = copies_.size(); i-- > 0;)
    if (copies_[i].use_empty()) erase(i);  // an explicit copy whose result is unused
  for (size_t i = 0; i < copies_.size(); ++i) {
    const mlir::Value value = copies_[i].getDefiningOp()->getOperand(0);
    // From the end, since erase() shifts the later elements.
    for (size_t k = copies_.size(); k-- > i + 1;) {
      if (copies_[k].getDefiningOp()->getOperand(0) != value ||
          copies_[k].getType() != copies_[i].getType())
        continue;
      copies_[k].replaceAllUsesWith(copies_[i]);
      erase(k);
    }
  }
  arrange(module);
}

// Moves each copy before its first reader. Copies are visited in reverse order, since a copy may
// be the source of another. Copies before one reader are sorted by their source values, so that
// the result does not depend on the order of insertion.
void InsertedCopies::arrange(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::Value, size_t> order;
  auto add = [&](mlir::Value value) { order.try_emplace(value, order.size()); };
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    llvm::for_each(op->getResults(), add);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) llvm::for_each(block.getArguments(), add);
  });
  auto rank = [&](mlir::Value copy) {
    int depth = 0;
    mlir::Value value = copy;
    for (; value.getDefiningOp<graph::DeviceCopyOp>(); ++depth)
      value = value.getDefiningOp()->getOperand(0);
    return std::tuple(order.at(value), depth, place_in_type(copy));
  };
  std::vector<mlir::Value> sorted = copies_;
  std::ranges::stable_sort(sorted, [&](auto a, auto b) { return rank(a) < rank(b); });
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> first_before;  // by reader
  for (mlir::Value copy : llvm::reverse(sorted)) {
    std::vector<Use> uses;
    for (mlir::OpOperand& use : copy.getUses()) uses.push_back({&use, 0});
    mlir::Operation* op = copy.getDefiningOp();
    mlir::Operation* reader = first_reader(op->getOperand(0), uses);
    auto [before, is_new] = first_before.try_emplace(reader, reader);
    op->moveBefore(before->second);
    before->second = op;
  }
}

void InsertedCopies::erase(size_t i) {
  copies_[i].getDefiningOp()->erase();
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace scopevm::compiler::placement
