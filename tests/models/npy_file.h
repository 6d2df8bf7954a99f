// Reads a .npy file of 32-bit floats into a tensor, for comparison with stored references.
#pragma once

#include <string>

#include "scopevm/tensor.h"

namespace scopevm {

// Fails the test and returns an empty tensor if the file is not a .npy file of f32.
Tensor read_floats(const std::string& path);

}  // namespace scopevm
