// Window attributes and automatic padding, shared by convolutions and pools.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

struct SpatialAttributes {
  Ints kernel;
  Ints strides;
  Ints pads;  // all begins, then all ends
  Ints dilations;
  // Padding in addition to `pads`, in the same order: the padding of auto_pad for axes along which
  // it depends on the size of x. The attribute `pads` of an op does not include it.
  Dims symbolic_pads = {};
};

// Reads the attributes of a node whose input x is [n, c, spatial...], for a window with the dims
// `kernel`. If auto_pad is given, the pads are computed from it.
SpatialAttributes spatial_attributes(Node& n, Value x, Ints kernel);

// The spatial axes with symbolic pads that are not 0.
Ints symbolic_axes(const SpatialAttributes& a);
// x: [n, c, spatial...] with the symbolic pads. The padding has the scalar `value`; null: zero.
Value with_symbolic_pads(Node& n, Value x, const SpatialAttributes& a, Value value = {});

// The values as text: "[1, 2, 3]".
std::string list_text(llvm::ArrayRef<int64_t> values);

// Fails the node and returns false unless attribute `name` has `count` values.
bool check_count(Node& n, llvm::StringRef name, llvm::ArrayRef<int64_t> values, size_t count);

// Fails the node and returns false unless each value of attribute `name` is in [1, 2^20].
bool check_range(Node& n, llvm::StringRef name, llvm::ArrayRef<int64_t> values);

// The window dims of a convolution, taken from its weight. The node fails unless they are constants
// and equal to the attribute kernel_shape, if it is given.
Ints kernel_of(Node& n, Value weight);

}  // namespace scopevm::compiler::frontend
