// The graphs that the library can compute, as functions of graph ops (docs/external.md,
// "Patterns"): a matrix product or convolution, up to two additions and an activation; poolings.
// The text does not restrict dims and attributes: layer.h does.
#pragma once

namespace scopevm::onednn {

// Valid until the plug-in is unloaded.
const char* patterns();

}  // namespace scopevm::onednn
