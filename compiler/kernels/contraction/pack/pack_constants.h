// Weights, packed into the layouts of microkernel.h: at compile time, the same for every target.
// pack_rows.cpp packs at run time.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// b: f32 [depth, columns], or [columns, depth] when transposed -> [columns / 32][depth][32], the
// last panel filled up with zeros.
ValueId packed_panels(LoweringContext& context, mlir::ElementsAttr b, int64_t depth,
                      int64_t columns, bool transposed);

// b: i8 [depth, columns] -> quads [columns / 32][ceildiv(depth, 4)][32], filled up with zeros.
ValueId packed_quad_panels(LoweringContext& context, mlir::ElementsAttr b, int64_t depth,
                           int64_t columns);

// w: f32 [groups * rows, channels, kernel] -> per group [tiles][kernel * channels][12] where tile t
// holds rows [t * rows / tiles, (t + 1) * rows / tiles) and tiles = ceildiv(rows, 12). The depth
// runs over kernel positions, then channels: the order in which an image is unfolded.
ValueId packed_rows(LoweringContext& context, mlir::ElementsAttr w, int64_t groups, int64_t rows,
                    int64_t channels, int64_t kernel);

// The same of weights that are no constant: a launch, for `op`, that makes them.
ValueId pack_rows(LoweringContext& context, mlir::Operation* op, ValueId w, int64_t groups,
                  int64_t rows, int64_t channels, int64_t kernel);

}  // namespace scopevm::compiler::kernels
