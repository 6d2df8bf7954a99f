// The results of a run, from the files that `scopevm run` and NumPy write.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/tensors/named_value.h"

namespace scopevm::tool {

// A named tensor of a run.
struct RunTensor {
  std::string name;
  Tensor tensor;
};

// The tensors of a recording (what its launches wrote, if it has tensors, then the results, and a
// failed call's message), of a folder of .npy files in alphabetical order, of a .npz file, or of
// one .npy file, which is named "tensor". Errors: those of read_recording(), read_npz() and
// read_npy(); kNotFound; kInvalidArgument (no such kind of file, a folder without .npy files).
Result<std::vector<RunTensor>> read_run(const std::string& path);

}  // namespace scopevm::tool
