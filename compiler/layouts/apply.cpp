// Rewrites the chosen ops in program order. A value has its blocked form from the op that computes
// it, or from a conversion directly after its definition, which all users share.
#include "compiler/layouts/apply.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/layouts/blocked/blocked.h"
#include "compiler/layouts/blocked/convolution.h"
#include "compiler/layouts/blocked/flatten.h"
#include "compiler/layouts/blocked/reduction.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

// An attribute with one more entry, for the channels of a block.
mlir::DenseI64ArrayAttr appended(mlir::DenseI64ArrayAttr list, int64_t entry) {
  llvm::SmallVector<int64_t> entries(list.asArrayRef());
  entries.push_back(entry);
  return mlir::DenseI64ArrayAttr::get(list.getContext(), entries);
}

// The channels of a block are a third spatial axis of a pool.
template <typename Op>
void add_pool_axis(Op op) {
  const llvm::ArrayRef<int64_t> pads = op.getPads();
  op.setKernelAttr(appended(op.getKernelAttr(), 1));
  op.setStridesAttr(appended(op.getStridesAttr(), 1));
  op.setDilationsAttr(appended(op.getDilationsAttr(), 1));
  op.setPadsAttr(
      mlir::DenseI64ArrayAttr::get(op.getContext(), {pads[0], pads[1], 0, pads[2], pads[3], 0}));
}

void add_resize_axis(graph::ResizeOp op, TensorType result) {
  op.setDimsAttr(graph::DimsAttr::get(op.getContext(), result.getShape()));
  if (op.getScales().empty()) return;
  llvm::SmallVector<float> scales(op.getScales());
  scales.push_back(1);
  op.setScales(scales);
}

void add_slice_axis(graph::SliceOp op, TensorType result) {
  llvm::SmallVector<DimExpr> starts(op.getStarts().getValue());
  starts[1] = floordiv(starts[1], graph::kChannelBlock);
  starts.push_back(0);
  op.setStartsAttr(graph::DimsAttr::get(op.getContext(), starts));
  op.setSizesAttr(graph::DimsAttr::get(op.getContext(), result.getShape()));
  op.setStepsAttr(appended(op.getStepsAttr(), 1));
}

// Whether a slice of channels takes all pixels of all images.
bool has_all_pixels(graph::SliceOp op) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  return llvm::all_of(op.getSteps(), [](int64_t step) { return step == 1; }) &&
         x.getDim(0) == result.getDim(0) && x.getDim(2) == result.getDim(2) &&
         x.getDim(3) == result.getDim(3);
}

void add_pad_axis(graph::PadOp op) {
  llvm::SmallVector<DimExpr> pads(op.getPads().getValue());
  pads.insert(pads.begin() + 4, DimExpr(0));
  pads.push_back(0);
  op.setPadsAttr(graph::DimsAttr::get(op.getContext(), pads));
}

class Rewriter {
 public:
  Rewriter(mlir::func::FuncOp function, ConversionSeconds seconds, Report& report)
      : builder_(function), seconds_(seconds), report_(report) {}

  void rewrite(const Candidate& candidate) {
    mlir::Operation* op = candidate.op;
    mlir::IRMapping blocked;
    for (mlir::Value operand : op->getOperands())
      if (!blocked.contains(operand)) blocked.map(operand, form_of(candidate, operand));
    builder_.setInsertionPoint(op);
    const mlir::Value result = create(candidate, blocked);
    if (candidate.has_blocked_result) {
      blocked_[op->getResult(0)] = result;
    } else {
      plain_[op->getResult(0)] = result;
    }
    replaced_.push_back(op);
  }

  // Replaces the results that ops by channel still use, and erases the replaced ops.
  void finish() {
    const llvm::SmallPtrSet<mlir::Operation*, 16> replaced(replaced_.begin(), replaced_.end());
    for (mlir::Operation* op : replaced_) {
      mlir::Value result = op->getResult(0);
      if (const mlir::Value blocked = blocked_.lookup(result))
        for (mlir::Operation* user : llvm::make_early_inc_range(result.getUsers()))
          if (is_flattening(user)) flatten_blocked(builder_, user, blocked);
      if (llvm::all_of(result.getUsers(), [&](auto* user) { return replaced.contains(user); }))
        continue;
      mlir::Value plain = plain_.lookup(result);
      if (!plain) {
        const mlir::Value blocked = blocked_.lookup(result);
        builder_.setInsertionPointAfterValue(blocked);
        plain = to_plain(builder_, blocked, type_of(result));
        add_conversion(result, /*is_to_blocked=*/false);
      }
      result.replaceUsesWithIf(
          plain, [&](mlir::OpOperand& use) { return !replaced.contains(use.getOwner()); });
    }
    for (mlir::Operation* op : llvm::reverse(replaced_)) op->erase();
  }

 private:
  void add_conversion(mlir::Value value, bool is_to_blocked) {
    const TensorType type = type_of(value);
    report_.conversions.push_back({.value = graph::DimTrace::name(value),
                                   .to_blocked = is_to_blocked,
                                   .bytes = type.getElementCount() * DimExpr(4),
                                   .seconds = seconds_(type)});
  }

  // The blocked form of an image, converted directly after its definition.
  mlir::Value blocked_form(mlir::Value image) {
    mlir::Value& form = blocked_[image];
    if (!form) {
      builder_.setInsertionPointAfterValue(image);
      form = to_blocked(builder_, image);
      add_conversion(image, /*is_to_blocked=*/true);
    }
    return form;
  }

  mlir::Value form_of(const Candidate& candidate, mlir::Value operand) {
    if (llvm::is_contained(candidate.images, operand)) {
      if (candidate.reads_plain && !blocked_.contains(operand)) return operand;
      return blocked_form(operand);
    }
    if (!mlir::isa<graph::ElementwiseOp>(candidate.op)) return operand;
    builder_.setInsertionPoint(candidate.op);
    if (operand_kind(operand, type_of(candidate.op->getResult(0))) == Operand::kConstant)
      return blocked_constant(builder_, operand.getDefiningOp<graph::ConstantOp>());
    return same_for_channels(builder_, operand);
  }

  mlir::Value create(const Candidate& candidate, mlir::IRMapping& blocked) {
    mlir::Operation* op = candidate.op;
    if (is_convolution(candidate))
      return blocked_convolution(builder_, candidate, blocked.lookup(op->getOperand(0)));
    if (auto concat = mlir::dyn_cast<graph::ConcatOp>(op)) return create_concat(concat, blocked);
    if (auto slice = mlir::dyn_cast<graph::SliceOp>(op)) return create_slice(slice, blocked);
    if (mlir::isa<graph::ReductionOp>(op))
      return blocked_reduction(builder_, candidate, blocked.lookup(op->getOperand(0)));
    if (mlir::isa<graph::SoftmaxOp, graph::LogSoftmaxOp>(op))
      return blocked_softmax(builder_, candidate, blocked.lookup(op->getOperand(0)));
    mlir::Operation* copy = builder_.clone(*op, blocked);
    mlir::Value result = copy->getResult(0);
    result.setType(blocked_type(type_of(op->getResult(0))));
    if (auto pool = mlir::dyn_cast<graph::MaxPoolOp>(copy)) add_pool_axis(pool);
    if (auto pool = mlir::dyn_cast<graph::AveragePoolOp>(copy)) add_pool_axis(pool);
    if (auto resize = mlir::dyn_cast<graph::ResizeOp>(copy))
      add_resize_axis(resize, type_of(result));
    if (auto pad = mlir::dyn_cast<graph::PadOp>(copy)) add_pad_axis(pad);
    return result;
  }

  // Only the last operand of an ordinary concatenation can have padding channels.
  mlir::Value create_concat(graph::ConcatOp op, mlir::IRMapping& blocked) {
    llvm::SmallVector<int64_t> counts;
    llvm::SmallVector<mlir::Value> inputs;
    for (mlir::Value input : op.getInputs()) {
      counts.push_back(*image_channels(input.getType()));
      inputs.push_back(blocked.lookup(input));
    }
    const TensorType type = blocked_type(type_of(op.getResult()));
    if (llvm::all_of(llvm::drop_end(counts),
                     [](int64_t count) { return count % graph::kChannelBlock == 0; }))
      return builder_.create<graph::ConcatOp>(op.getLoc(), type, inputs, op.getAxisAttr());
    const llvm::SmallVector<int64_t> starts(counts.size(), 0);
    return builder_.create<graph::BlockedConcatOp>(op.getLoc(), type, inputs,
                                                   builder_.getDenseI64ArrayAttr(starts),
                                                   builder_.getDenseI64ArrayAttr(counts));
  }

  // The blocks that contain the channels. If the first channel does not start a block, the channels
  // are moved.
  mlir::Value create_slice(graph::SliceOp op, mlir::IRMapping& blocked) {
    const TensorType type = blocked_type(type_of(op.getResult()));
    const int64_t taken = *image_channels(op.getResult().getType());
    const int64_t start = *op.getStarts().getValue()[1].as_constant();
    int64_t skipped = start % graph::kChannelBlock;
    mlir::Value x = blocked.lookup(op.getX());
    if (skipped != 0 && has_all_pixels(op)) {
      skipped = start;
    } else {
      llvm::SmallVector<DimExpr> dims(type.getShape());
      dims[1] = (skipped + taken + graph::kChannelBlock - 1) / graph::kChannelBlock;
      if (!has_all_pixels(op) || type_of(x).getDim(1) != dims[1]) {
        auto slice = mlir::cast<graph::SliceOp>(builder_.clone(*op, blocked));
        x = slice.getResult();
        x.setType(type.withShape(dims));
        add_slice_axis(slice, type_of(x));
      }
    }
    if (skipped == 0) return x;
    return builder_.create<graph::BlockedConcatOp>(op.getLoc(), type, x,
                                                   builder_.getDenseI64ArrayAttr({skipped}),
                                                   builder_.getDenseI64ArrayAttr({taken}));
  }

  mlir::OpBuilder builder_;
  ConversionSeconds seconds_;
  Report& report_;
  llvm::DenseMap<mlir::Value, mlir::Value> blocked_;  // the blocked form of values by channel
  llvm::DenseMap<mlir::Value, mlir::Value> plain_;    // replacements of results that are not images
  llvm::SmallVector<mlir::Operation*> replaced_;
};

}  // namespace

void apply(mlir::func::FuncOp function, const std::vector<Candidate>& ops,
           ConversionSeconds seconds, Report& report) {
  Rewriter rewriter(function, seconds, report);
  for (const Candidate& candidate : ops) rewriter.rewrite(candidate);
  rewriter.finish();
  graph::remove_unused(function);
}

}  // namespace scopevm::compiler::layouts
