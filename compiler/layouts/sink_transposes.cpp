// Chooses the ops on channels-last images that are computed by channel instead, by a minimum cut.
// The source is the form by channel and the sink the channels-last form. A value whose users need
// another form than its own is converted once, at the cost of its bytes. Of several minimum cuts,
// the one with the most ops by channel is used: these ops can be blocked or join a convolution.
#include "compiler/layouts/sink_transposes.h"

#include "compiler/dims/representative.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/layouts/image_op.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/placement/solve/min_cut.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;
using placement::Cost;
using placement::Network;
using placement::NodeIndex;

bool is_rank_4(mlir::Value value) {
  auto type = mlir::dyn_cast<TensorType>(value.getType());
  return type && type.getRank() == 4;
}

// The operands of rank 4 that an op on channels-last images reads by channel when it is moved.
// Empty if the op cannot be moved. Constants are not included.
llvm::SmallVector<mlir::Value, 2> movable_images(mlir::Operation* op) {
  llvm::SmallVector<mlir::Value, 2> images;
  if (auto image_op = mlir::dyn_cast<ImageOp>(op);
      !image_op || !is_movable(op) || !image_op.canMoveChannels())
    return {};
  for (mlir::Value operand : op->getOperands())
    if (is_rank_4(operand) && !mlir::matchPattern(operand, mlir::m_Constant()))
      images.push_back(operand);
    else if (!is_free_by_channel(operand))
      return {};
  return images;
}

// The bytes of a converted channels-last image, at representative dims.
Cost cost_of_conversion(mlir::Value channels_last) {
  const TensorType type = type_of(channels_last);
  if (is_view_by_channel(type)) return {};
  constexpr double kMost = 1e15;
  const auto element_bytes = static_cast<double>(byte_size(type.getDtype()));
  const double bytes = representative(type.getElementCount()) * element_bytes;
  return {static_cast<int64_t>(std::min(bytes, kMost)), 0};
}

class Sinker {
 public:
  explicit Sinker(mlir::func::FuncOp function) : function_(function), builder_(function) {
    // Definitions precede their uses, also those of values that a nested region uses.
    function.walk([&](mlir::Operation* op) { find(op); });
  }

  void run() {
    if (nodes_.empty()) return;
    for (auto [value, producer] : producers_) add_value(value, producer);
    const auto is_channels_last = network_.cut();
    for (auto& [op, node] : nodes_)
      if (!is_channels_last[node.index]) move(mlir::cast<ImageOp>(op), node.images);
    if (moved_.empty()) return;
    replace_uses();
    graph::remove_unused(function_);
  }

 private:
  // An op on channels-last images that can be computed by channel.
  struct Node {
    NodeIndex index;
    llvm::SmallVector<mlir::Value, 2> images;
  };

  void find(mlir::Operation* op) {
    if (op->getNumResults() != 1) return;
    const mlir::Value result = op->getResult(0);
    if (is_to_channels_last(op) && by_channel_images_.contains(op->getOperand(0))) {
      add_channels_last(result, Network::kSource);
      by_channel_[result] = op->getOperand(0);
    } else if (is_to_by_channel(op) && channels_last_.contains(op->getOperand(0))) {
      by_channel_images_.insert(result);
    } else {
      find(op, movable_images(op));
    }
  }

  void find(mlir::Operation* op, const llvm::SmallVector<mlir::Value, 2>& images) {
    const mlir::Value result = op->getResult(0);
    const auto is_any_in = [&](const llvm::DenseSet<mlir::Value>& values) {
      return llvm::any_of(images, [&](mlir::Value image) { return values.contains(image); });
    };
    // A transpose must not move into a loop.
    const bool is_local = llvm::all_of(
        images, [&](mlir::Value image) { return image.getParentBlock() == op->getBlock(); });
    if (is_local && is_any_in(channels_last_)) {
      const NodeIndex index = network_.add_node();
      nodes_[op] = {index, images};
      for (mlir::Value image : images) producers_.insert({image, Network::kSink});
      if (is_rank_4(result)) add_channels_last(result, index);
    } else if (auto image_op = mlir::dyn_cast<ImageOp>(op);
               is_rank_4(result) &&
               ((image_op && image_op.definesImages()) || is_any_in(by_channel_images_))) {
      by_channel_images_.insert(result);
    }
  }

  void add_channels_last(mlir::Value value, NodeIndex producer) {
    channels_last_.insert(value);
    producers_.insert({value, producer});
  }

  // The source, the sink, or the node of an op that reads a channels-last image.
  NodeIndex reader(mlir::Operation* op) const {
    if (const auto found = nodes_.find(op); found != nodes_.end()) return found->second.index;
    return is_to_by_channel(op) ? Network::kSource : Network::kSink;
  }

  // Adds the conversions of a value that `producer` computes in its form.
  void add_value(mlir::Value value, NodeIndex producer) {
    const Cost conversion = cost_of_conversion(value);
    const NodeIndex to_last = network_.add_node(), to_first = network_.add_node();
    add_edge(producer, to_last, conversion);
    add_edge(to_first, producer, conversion);
    for (mlir::Operation* user : value.getUsers()) {
      add_edge(to_last, reader(user), Network::kNever);
      add_edge(reader(user), to_first, Network::kNever);
    }
  }

  // An edge to the source or from the sink is in no cut.
  void add_edge(NodeIndex from, NodeIndex to, Cost capacity) {
    if (from != Network::kSink && to != Network::kSource) network_.add_edge(from, to, capacity);
  }

  mlir::Value by_channel(mlir::Value image) {
    mlir::Value& form = by_channel_[image];
    if (!form) {
      builder_.setInsertionPointAfterValue(image);
      form = to_by_channel(builder_, image);
    }
    return form;
  }

  void move(ImageOp op, llvm::ArrayRef<mlir::Value> images) {
    mlir::IRMapping forms;
    for (mlir::Value image : images) forms.map(image, by_channel(image));
    builder_.setInsertionPoint(op);
    for (mlir::Value operand : op->getOperands())
      if (!forms.contains(operand)) forms.map(operand, free_by_channel(builder_, operand));
    auto moved = mlir::cast<ImageOp>(builder_.clone(*op, forms));
    moved.moveChannels();
    mlir::Value result = op->getResult(0), form = moved->getResult(0);
    if (is_rank_4(result)) {
      form.setType(type_of(result).withShape(layouts::by_channel(type_of(result).getShape())));
      by_channel_[result] = form;
    } else {
      result.replaceAllUsesWith(form);
    }
    moved_.insert(op);
  }

  // Replaces inverse transposes by the forms by channel, and converts results of moved ops for
  // their other users. The moved ops and the transposes are then dead.
  void replace_uses() {
    for (auto [value, form] : by_channel_)
      for (mlir::Operation* user : value.getUsers())
        if (user != form.getDefiningOp() && is_to_by_channel(user))
          user->getResult(0).replaceAllUsesWith(form);
    for (mlir::Operation* op : moved_) {
      mlir::Value result = op->getResult(0);
      const auto is_read = [&](mlir::Operation* user) {
        return !moved_.contains(user) && !is_to_by_channel(user);
      };
      if (llvm::none_of(result.getUsers(), is_read)) continue;
      const mlir::Value form = by_channel_.lookup(result);
      builder_.setInsertionPointAfterValue(form);
      result.replaceUsesWithIf(to_channels_last(builder_, form),
                               [&](mlir::OpOperand& use) { return is_read(use.getOwner()); });
    }
  }

  mlir::func::FuncOp function_;
  mlir::OpBuilder builder_;
  Network network_;
  llvm::MapVector<mlir::Operation*, Node> nodes_;
  llvm::DenseSet<mlir::Value> by_channel_images_;  // values by channel that image ops compute
  llvm::DenseSet<mlir::Value> channels_last_;      // the same values after a transpose
  // The node that computes each value that the nodes read or write.
  llvm::MapVector<mlir::Value, NodeIndex> producers_;
  llvm::MapVector<mlir::Value, mlir::Value> by_channel_;  // forms of channels-last values
  llvm::SetVector<mlir::Operation*> moved_;
};

}  // namespace

void sink_transposes(mlir::func::FuncOp function) { Sinker(function).run(); }

}  // namespace scopevm::compiler::layouts
