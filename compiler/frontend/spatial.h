// What convolutions and pools share: window attributes and automatic padding.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

struct SpatialAttributes {
  Ints kernel;
  Ints strides;
  Ints pads;  // begins, then ends
  Ints dilations;
};

// Reads strides, pads, dilations and auto_pad of a node whose x is [n, c, spatial...], for a window
// of `kernel` elements.
SpatialAttributes spatial_attributes(Node& n, Value x, Ints kernel);

// The window of a convolution, which is its weight's and must be numbers.
Ints kernel_of(Node& n, Value weight);

}  // namespace scopevm::compiler::frontend
