// Window attributes and automatic padding, shared by convolutions and pools.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

struct SpatialAttributes {
  Ints kernel;
  Ints strides;
  Ints pads;  // all begins, then all ends
  Ints dilations;
};

// Reads strides, pads, dilations and auto_pad of a node whose x is [n, c, spatial...], for a window
// of `kernel` elements.
SpatialAttributes spatial_attributes(Node& n, Value x, Ints kernel);

// The window dims of a convolution, taken from its weight; they must be numbers.
Ints kernel_of(Node& n, Value weight);

}  // namespace scopevm::compiler::frontend
