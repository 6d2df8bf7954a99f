// Reads the arrays of NumPy's .npz files, which numpy.savez() and numpy.savez_compressed() write:
// ZIP archives of .npy files.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/tensors/named_value.h"

namespace scopevm::tool {

// The arrays, in the order of the archive; their names lack ".npy". "-" denotes stdin. Errors:
// those of read_npy(), kInvalidArgument (not a ZIP archive, or a damaged one), kUnsupported (a
// method of compression that these functions do not use, or an archive above 4 GiB). Throws
// std::bad_alloc.
Result<std::vector<NamedValue>> read_npz(const std::string& path);

}  // namespace scopevm::tool
