// Finds the edits that shorten the lifespans of the buffers that are live at a step, or move these
// buffers to other pools. Private to compiler/memory/explain.
#pragma once

#include <vector>

#include "compiler/memory/explain/edit.h"
#include "compiler/memory/samples.h"

namespace scopevm::compiler::memory {

// Edits for the buffers `live`, which are live at `step` of `function`. Each keeps the results of
// the function, except those of kind kReuse. REQUIRES: `liveness` is that of `function`.
std::vector<Edit> find_edits(const Program& program, const Function& function,
                             const Liveness& liveness, const std::vector<BufferIndex>& live,
                             int64_t step, const Request& request);

}  // namespace scopevm::compiler::memory
