// Packs weights into the layouts of microkernel.h. Constants are packed at compile time, in one
// layout for every target; pack_rows.cpp packs at run time.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// b: f32 [depth, columns], or [columns, depth] if transposed -> [columns / 32][depth][32]. The last
// panel is padded with zeros.
ValueId packed_panels(LoweringContext& context, mlir::ElementsAttr b, int64_t depth,
                      int64_t columns, bool transposed);

// b: i8 [depth, columns] -> quads [columns / 32][ceildiv(depth, 4)][32], padded with zeros.
ValueId packed_quad_panels(LoweringContext& context, mlir::ElementsAttr b, int64_t depth,
                           int64_t columns);

// w: f32 [groups * rows, channels, kernel] -> per group [tiles][kernel * channels][12], where tile
// t holds rows [t * rows / tiles, (t + 1) * rows / tiles) and tiles = ceildiv(rows, 12). The depth
// is ordered by kernel position, then channel, which is the order of an unfolded image.
ValueId packed_rows(LoweringContext& context, mlir::ElementsAttr w, int64_t groups, int64_t rows,
                    int64_t channels, int64_t kernel);

// The same layout for weights that are not constant: appends a launch, for `op`, that packs them.
ValueId pack_rows(LoweringContext& context, mlir::Operation* op, ValueId w, int64_t groups,
                  int64_t rows, int64_t channels, int64_t kernel);

}  // namespace scopevm::compiler::kernels
