// The workspace of a function, as a formula. It contains all memory that a run uses: operands in
// oneDNN's blocked layouts, the result in such a layout, and the scratchpad of the primitives.
#pragma once

#include <string>

#include "plugins/dnnl/graph/description.h"
#include "plugins/dnnl/graph/layer.h"

namespace scopevm::onednn {

// Bytes, as a formula over the dims in `description` and `$threads`.
std::string workspace_formula(const Layer& layer, const Description& description);

}  // namespace scopevm::onednn
