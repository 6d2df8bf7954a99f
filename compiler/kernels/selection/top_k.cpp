// top_k: visits the elements along the axis and keeps the k best of them in a heap, whose root is
// the worst. The heap is stored in the results, and is sorted at the end (heapsort). Of equal
// elements, the element with the lower index is better. NaN is greater than all numbers.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"
#include "compiler/kernels/selection/order.h"

namespace scopevm::compiler::kernels {
namespace {

struct Entry {
  Term value, index;
};

// The heap of one work item. Its entries are in the results, from position `base` on, `stride`
// elements apart.
struct Heap {
  KernelBuilder& k;
  Buffer values, indices;
  Term base, stride;
  bool largest;

  Entry load(Term at) const {
    Term position = base + at * stride;
    return {k.load_number(values, position), k.load(indices, position)};
  }
  void store(Term at, Entry entry) const {
    Term position = base + at * stride;
    k.store_number(values, position, entry.value);
    k.store(indices, position, entry.index);
  }
  Term is_worse(Entry a, Entry b) const {
    Term below = is_below(a.value, b.value, values.dtype);
    Term above = is_below(b.value, a.value, values.dtype);
    return select(below | above, largest ? below : above, b.index < a.index);
  }
  // Inserts `entry` at `hole`, or below it in the heap of the first `size` entries (sift down).
  void sift(Entry entry, Term hole, Term size) const {
    Term moving = k.index(0) == k.index(0);
    Terms end = k.loop_while(
        {hole, moving}, [&](auto now) { return now[1] & (now[0] * 2 + 1 < size); },
        [&](auto now) {
          Term left = now[0] * 2 + 1, right = select(left + 1 < size, left + 1, left);
          // The worse child moves up, because the worst element is the root.
          Term child = select(is_worse(load(right), load(left)), right, left);
          Term sinks = is_worse(load(child), entry);
          k.when(sinks, [&] { store(now[0], load(child)); });
          return Terms{select(sinks, child, now[0]), sinks};
        });
    store(end[0], entry);
  }
};

}  // namespace

llvm::LogicalResult lower(graph::TopKOp op, LoweringContext& context) {
  KernelBuilder k(context, op, op.getLargest() ? "top_k_largest" : "top_k_least");
  Buffer x = k.operand(op.getX(), Elements::kNumbers);
  Buffer values = k.result(op.getValues(), Elements::kNumbers);
  Buffer indices = k.result(op.getIndices());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  auto axis = static_cast<size_t>(op.getAxis());
  DimExpr kept = shape_of(op.getValues())[axis], size = shape[axis];
  DimExpr inner = product(shape, axis + 1, shape.size());
  Term n = k.param(size), places = k.param(min(kept, size)), stride = k.param(inner);
  llvm::SmallVector<Axis> axes = {{product(shape, 0, axis), {size * inner, kept * inner}},
                                  {inner, {1, 1}}};
  k.for_items(axes, {0, 0}, [&](auto, auto offsets) {
    Heap heap{k, values, indices, offsets[1], stride, op.getLargest()};
    mlir::Type i64 = k.builder().getI64Type();
    auto entry = [&](Term i) {
      return Entry{k.load_number(x, offsets[0] + i * stride), convert(i, i64)};
    };
    k.loop(k.index(0), places, 1, [&](Term i) { heap.store(i, entry(i)); });
    // Floyd's heap construction (1964): sifts down from the last parent to the root, in linear
    // time.
    Term parents = quotient(places, k.index(2));
    k.loop(k.index(0), parents, 1, [&](Term i) {
      Term parent = parents - i - 1;
      heap.sift(heap.load(parent), parent, places);
    });
    // If k is 0, the heap has no root and the loop is empty.
    k.loop(select(k.index(0) < places, places, n), n, 1, [&](Term i) {
      Entry next = entry(i);
      // The element replaces the worst of the k best so far.
      k.when(heap.is_worse(heap.load(k.index(0)), next),
             [&] { heap.sift(next, k.index(0), places); });
    });
    // Moves the worst remaining element to the end of the heap, so that the best one becomes first.
    k.loop(k.index(1), places, 1, [&](Term i) {
      Term last = places - i;
      Entry moved = heap.load(last);
      heap.store(last, heap.load(k.index(0)));
      heap.sift(moved, k.index(0), last);
    });
  });
  return k.launch(count_items(axes), grain_of_bytes(size * (4 * byte_size(x.dtype))));
}

}  // namespace scopevm::compiler::kernels
