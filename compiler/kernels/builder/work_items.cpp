// KernelBuilder: iteration over work items. The index of the first item is computed by division.
// For each further item, the index is incremented with carry, as in an odometer.
#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {

void KernelBuilder::walk(Term low, Term high, llvm::ArrayRef<Axis> axes,
                         llvm::ArrayRef<DimExpr> bases, Visit visit) {
  const size_t rank = axes.size(), columns = bases.size();
  Terms sizes;
  for (const Axis& axis : axes) sizes.push_back(param(axis.size));
  llvm::SmallVector<Terms> strides(rank), advances(rank);
  for (size_t d = 0; d < rank; ++d)
    for (size_t c = 0; c < columns; ++c) strides[d].push_back(stride(axes[d].strides[c]));
  Terms state = split_index(low, sizes);
  for (size_t c = 0; c < columns; ++c) {
    Term offset = stride(bases[c]);
    for (size_t d = 0; d < rank; ++d) offset = offset + state[d] * strides[d][c];
    state.push_back(offset);
  }
  // advances[d][c] is the change of offset c if the index on axis d advances by 1 and the indices
  // on all later axes return to 0.
  for (size_t d = 0; d < rank; ++d)
    for (size_t c = 0; c < columns; ++c) {
      Term gain = strides[d][c];
      for (size_t e = d + 1; e < rank; ++e) gain = gain - (sizes[e] - 1) * strides[e][c];
      advances[d].push_back(gain);
    }
  loop(low, high, 1, state, [&](Term, llvm::ArrayRef<Term> now) {
    visit(now.take_front(rank), now.drop_front(rank));
    if (rank == 0) return Terms(now);
    Terms gain = advances[rank - 1];
    Terms next = next_index(now.take_front(rank), sizes, [&](size_t d, Term changes) {
      for (size_t c = 0; c < columns; ++c) gain[c] = select(changes, advances[d][c], gain[c]);
    });
    for (size_t c = 0; c < columns; ++c) next.push_back(now[rank + c] + gain[c]);
    return next;
  });
}

void KernelBuilder::for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
                              Visit visit) {
  walk(begin(), end(), axes, bases, visit);
}

void KernelBuilder::for_items(llvm::ArrayRef<Term> sizes,
                              llvm::function_ref<void(Term, llvm::ArrayRef<Term>)> visit) {
  Terms first = split_index(begin(), sizes);
  loop(begin(), end(), 1, first, [&](Term item, llvm::ArrayRef<Term> index) {
    visit(item, index);
    return next_index(index, sizes);
  });
}

Terms KernelBuilder::split_index(Term item, llvm::ArrayRef<Term> sizes) {
  Terms index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    if (d == 0) {
      index[0] = item;
      break;
    }
    // If an axis is empty, there are no items, but the division must not trap.
    Term size = max(sizes[d], CodeBuilder::index(1));
    index[d] = remainder(item, size);
    item = quotient(item, size);
  }
  return index;
}

Terms KernelBuilder::next_index(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> sizes,
                                llvm::function_ref<void(size_t, Term)> step) {
  Terms next(index);
  Term changes = boolean(true);
  for (size_t d = index.size(); d-- > 0;) {
    if (step) step(d, changes);
    Term plus = index[d] + 1, wraps = plus == sizes[d];
    // The first index never wraps: as in split_index(), the first size is not used.
    if (d > 0) plus = select(wraps, CodeBuilder::index(0), plus);
    next[d] = select(changes, plus, index[d]);
    changes = changes & wraps;
  }
  return next;
}

}  // namespace scopevm::compiler::kernels
