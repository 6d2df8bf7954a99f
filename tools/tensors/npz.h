// Reads the arrays of NumPy's .npz files, as numpy.savez() writes them: ZIP archives of .npy files
// without compression.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/tensors/named_value.h"

namespace scopevm::tool {

// The arrays, in the order of the archive; their names lack ".npy". "-" denotes stdin. Errors:
// those of read_npy(), kInvalidArgument (not a ZIP archive, or a damaged one), kUnsupported (a
// compressed array, or an archive above 4 GiB).
Result<std::vector<NamedValue>> read_npz(const std::string& path);

}  // namespace scopevm::tool
