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

// [1, 2, 3]
std::string text_of(llvm::ArrayRef<int64_t> values);

// Fails the node unless attribute `name` has `count` values.
bool check_count(Node& n, llvm::StringRef name, llvm::ArrayRef<int64_t> values, size_t count);

// The window dims of a convolution, taken from its weight; they must be numbers.
Ints kernel_of(Node& n, Value weight);

}  // namespace scopevm::compiler::frontend
