// Checks of inputs and attributes that handlers share.
#pragma once

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

// x, reshaped to `dims`. The node fails if the rank differs, or if a dim is known to differ. `what`
// names x in messages. Null after an error.
Value shaped(Node& n, Value x, llvm::StringRef what, const Dims& dims);
// As shaped(), for input `i`. Null without an error if the input is absent.
Value shaped_input(Node& n, size_t i, llvm::StringRef what, const Dims& dims);

// Fails the node and returns false unless x has one of the element types.
bool check_dtype(Node& n, Value x, llvm::StringRef what, std::initializer_list<DType> expected);
// Fails the node and returns false unless the rank of x is in [least, most].
bool check_rank(Node& n, Value x, llvm::StringRef what, int64_t least, int64_t most);

std::nullptr_t missing_attribute(Node& n, llvm::StringRef name);

// An integer attribute in [least, most]; `least` after an error. The second form requires that the
// attribute is present.
int64_t integer_within(Node& n, llvm::StringRef name, int64_t otherwise, int64_t least,
                       int64_t most);
int64_t required_within(Node& n, llvm::StringRef name, int64_t least, int64_t most);

// Moves the channels, the last axis, to axis 1, and back.
Value to_channels_first(Node& n, Value x);
Value to_channels_last(Node& n, Value x);

}  // namespace scopevm::compiler::frontend
