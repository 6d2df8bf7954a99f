// Rotary position embeddings, shared by the attention ops of com.microsoft.
#pragma once

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

// The cosines and sines of the positions of tokens: [batch, length, 1, half]. The batch can be 1.
struct RotaryAngles {
  Formula cosines, sines;
};

// The rows of the caches: [limit, half] at the positions: i64 [batch, length]. The call fails if a
// position is not a row.
RotaryAngles angles_at(Node& n, Value cosines, Value sines, Value positions);

// Rotates pairs of channels of x: [batch, length, heads, size]. The pairs are (2i, 2i + 1) if
// `interleaved`, else (i, i + half). Channels from 2 * half on are unchanged.
Formula rotated(Node& n, const Formula& x, const RotaryAngles& angles, bool interleaved);

}  // namespace scopevm::compiler::frontend
