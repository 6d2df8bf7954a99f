// suppress_boxes: greedy non-maximum suppression. A work item is one class of one image. Boxes are
// visited in the order of descending scores. A box is selected unless it overlaps a selected box.
// The loop ends at the first score that does not exceed the score threshold, or when the result is
// full.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

struct Box {
  Term low[2], high[2];

  Term area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box load_box(KernelBuilder& k, Buffer boxes, Term at, bool is_centered) {
  Term v[4];
  for (int64_t i = 0; i < 4; ++i) v[i] = k.load(boxes, at * 4 + i);
  // In ONNX, a box is given by any two diagonally opposite corners.
  if (!is_centered) return {{min(v[0], v[2]), min(v[1], v[3])}, {max(v[0], v[2]), max(v[1], v[3])}};
  Term half_width = v[2] * 0.5, half_height = v[3] * 0.5;
  return {{v[0] - half_width, v[1] - half_height}, {v[0] + half_width, v[1] + half_height}};
}

// True if the intersection over union exceeds the threshold. A box without area overlaps no other
// box.
Term overlap(const Box& a, const Box& b, Term threshold) {
  Term zero = threshold.number(0.0), common = threshold.number(1.0);
  for (int i = 0; i < 2; ++i)
    common = common * max(min(a.high[i], b.high[i]) - max(a.low[i], b.low[i]), zero);
  Term all = a.area() + b.area() - common;
  return (zero < a.area()) & (zero < b.area()) & (zero < all) & (threshold < common / all);
}

}  // namespace

llvm::LogicalResult lower(graph::SuppressBoxesOp op, LoweringContext& context) {
  KernelBuilder k(context, op, op.getCentered() ? "suppress_centered_boxes" : "suppress_boxes");
  Buffer boxes = k.operand(op.getBoxes(), Elements::kNumbers);
  Buffer scores = k.operand(op.getScores(), Elements::kNumbers), order = k.operand(op.getOrder());
  Buffer iou = k.operand(op.getIouThreshold(), Elements::kNumbers);
  Buffer least = k.operand(op.getScoreThreshold(), Elements::kNumbers);
  Buffer selected = k.result(op.getSelected()), counts = k.result(op.getCounts());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getScores());
  DimExpr capacity = shape_of(op.getSelected())[2];
  Term n = k.param(shape[2]), max_selected = k.param(capacity);
  Term iou_threshold = k.load(iou, k.index(0)), score_threshold = k.load(least, k.index(0));
  mlir::Type i64 = k.builder().getI64Type();
  llvm::SmallVector<Axis> axes = {
      {shape[0], {shape[2], shape[1] * shape[2], shape[1] * capacity, shape[1]}},
      {shape[1], {0, shape[2], capacity, 1}}};
  k.for_items(axes, {0, 0, 0, 0}, [&](auto, auto offsets) {
    Term image = offsets[0], ranked = offsets[1], kept = offsets[2];
    auto box = [&](Term at) { return load_box(k, boxes, image + at, op.getCentered()); };
    Term last = n - 1;
    // Clamped, so that the access stays in bounds for any contents of the buffer.
    auto index_at = [&](Buffer buffer, Term at) {
      return clamp(convert(k.load(buffer, at), k.index_type()), k.index(0), last);
    };
    k.store(counts, offsets[3], convert(k.index(0), i64));
    // Without boxes, `max_selected` is 0 and no score is loaded.
    k.when(k.index(0) < max_selected, [&] {
      Terms end = k.loop_while(
          {k.index(0), k.index(0)},
          [&](auto now) {
            // Scores descend, so the first score at or below the threshold ends the loop. The
            // position is clamped, because the load is executed before the bound is tested.
            Term is_good = score_threshold < k.load(scores, ranked + min(now[0], last));
            return (now[0] < n) & (now[1] < max_selected) & is_good;
          },
          [&](auto now) {
            Term at = index_at(order, ranked + now[0]);
            Box candidate = box(at);
            Term yes = k.index(0) == k.index(0);
            Terms compared = k.loop_while(
                {k.index(0), yes}, [&](auto c) { return c[1] & (c[0] < now[1]); },
                [&](auto c) {
                  Term hit =
                      overlap(box(index_at(selected, kept + c[0])), candidate, iou_threshold);
                  return Terms{c[0] + 1, hit == hit.integer(0)};
                });
            Term is_kept = compared[1];
            k.when(is_kept, [&] { k.store(selected, kept + now[1], convert(at, i64)); });
            return Terms{now[0] + 1, select(is_kept, now[1] + 1, now[1])};
          });
      k.store(counts, offsets[3], convert(end[1], i64));
    });
  });
  return k.launch(count_items(axes), grain_of_bytes(shape[2] * 256));
}

}  // namespace scopevm::compiler::kernels
