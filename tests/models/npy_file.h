// Reads a .npy file of 32-bit floats into a tensor, for tests that compare with stored references.
#pragma once

#include <string>

#include "scopevm/tensor.h"

namespace scopevm {

// Fails the running test and returns an empty tensor when the file is not one.
Tensor read_floats(const std::string& path);

}  // namespace scopevm
