// The second operand of a matrix product or convolution. A constant weight is prepared: the
// compiler stores it in the module in the layout that oneDNN prefers.
#pragma once

#include <dnnl.hpp>
#include <optional>

#include "plugins/dnnl/graph/description.h"
#include "plugins/dnnl/graph/layer.h"
#include "plugins/dnnl/run/shapes.h"
#include "scopevm/c/dlpack.h"
#include "scopevm/status.h"

namespace scopevm::onednn {

// The type of w as a run receives it. Fails with kInvalidArgument if its prepared form does not
// have the stated layout and size.
Result<dnnl::memory::desc> given_weight(const Layer& layer, const MatMulDims& dims);
Result<dnnl::memory::desc> given_weight(const Layer& layer, const WindowDims& dims);

// How to prepare w. Nothing if it is not a constant, or if oneDNN prefers it as it is. The layout
// is chosen for representative values of unknown dims. A run with other dims can be slower.
std::optional<Prepared> choose_prepared(const Layer& layer, const Description& description);

// Writes the prepared form of `value`. REQUIRES: layer.prepared is set.
Status prepare_weight(const Layer& layer, const Description& description, const DLTensor& value,
                      void* prepared);

}  // namespace scopevm::onednn
