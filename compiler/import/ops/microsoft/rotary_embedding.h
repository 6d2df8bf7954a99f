// Rotary position embeddings, shared by the attention ops of com.microsoft.
#pragma once

#include "compiler/import/ops/attention/rotary_embedding.h"

namespace scopevm::compiler::frontend {

// The rotation of tokens by the rows of the caches, [limit, size / 2], at their positions, i64
// [batch, length]. It is one of tensors [batch, length, heads, channels]. The batch of the
// positions can be 1. The call fails if a position is not a row.
Rotation rotation_at(Node& n, Value cosines, Value sines, Value positions, bool is_interleaved);

}  // namespace scopevm::compiler::frontend
