// Rotary position embeddings (J. Su et al., "RoFormer", 2021): rotates pairs of channels by angles
// that grow with the position.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

struct Rotation {
  // The cosine and sine of each pair's angle. They broadcast to the rotated tensor, whose last dim
  // is size / 2 there.
  Value cos, sin;
  // The number of rotated channels, an even number. The later channels of a head are unchanged.
  DimExpr size;
  // Whether channel 2 i is paired with 2 i + 1, or else channel i with i + size / 2.
  bool is_interleaved = false;
};

// x: rank 4, with the channels of a head on the last axis.
Value rotated(Node& n, Value x, const Rotation& rotation);

}  // namespace scopevm::compiler::frontend
