// Panels of weights that are quantised in blocks along the depth. For step k of the depth, column j
// of a panel is (q - zero) * scale, with the scale and the zero of its block.
//
// The integers of a panel are packed in groups of 16 bytes. Each byte has the integers of some of
// the columns j, j + 16 and of some subsequent steps, from the lowest bits on:
//   8 bits  a group has half of the columns of a step
//   4 bits  a group has a step: column j, column j + 16
//   2 bits  a group has two steps: columns j and j + 16 of the first one, then of the second one
// Scales and zeros are [panel][block][32].
#pragma once

#include <optional>

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/schedule/contraction.h"

namespace scopevm::compiler::kernels {

struct BlockFormat {
  int64_t bits = 4;            // 2, 4 or 8
  int64_t block = 32;          // steps with one scale; a multiple of 4
  std::optional<double> zero;  // of all blocks

  // The bytes of a panel.
  int64_t panel_bytes(int64_t depth) const;
  // The bit of a packed panel at which the integer of a step and a column starts.
  int64_t bit_of(int64_t step, int64_t column) const;
};

struct QuantisedPanels {
  Buffer q, scales, zeros;  // zeros: any buffer if the format has a zero
  Term depth, blocks;
  Term bytes;  // of a panel of q
};

// Stores panel number `panel` as f32 [depth][32].
void emit_dequantised_panel(CodeBuilder& e, const BlockFormat& format, const QuantisedPanels& from,
                            Term panel, const Buffer& to, Term to_at);

// The most rows of dot_function(). For more, it is faster to dequantise the panel first.
inline constexpr int64_t kMostDotRows = 4;
// Returns a private function of the module for this format and number of rows:
//   dot(a, a_at, q, scales, zeros, depth, blocks, bytes, panel, c, c_at)
// It stores the products of adjacent rows of a with a panel: c[row * 32 + column].
mlir::func::FuncOp dot_function(KernelModule& module, const BlockFormat& format, int64_t rows);

}  // namespace scopevm::compiler::kernels
