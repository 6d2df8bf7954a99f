// Constant folding of gather.
#include "compiler/graph/values/fold.h"

namespace scopevm::compiler::graph {

mlir::OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    auto axis = static_cast<size_t>(getAxis());
    int64_t inner = 1, outer = 1, size = x[0].dims()[axis];
    for (size_t i = 0; i < x[0].dims().size(); ++i)
      // x has the dims [outer, size, inner], where `inner` elements are contiguous.
      (i < axis ? outer : inner) *= i == axis ? 1 : x[0].dims()[i];
    int64_t to = 0;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < x[1].count(); ++i) {
        int64_t index = x[1].integer(i);
        if (index < 0) index += size;
        // The kernel defines the effect of an invalid index.
        if (index < 0 || index >= size) return false;
        for (int64_t k = 0; k < inner; ++k) y.copy(to++, x[0], (o * size + index) * inner + k);
      }
    return true;
  });
}

}  // namespace scopevm::compiler::graph
