// Which storages of a function become exactly one of its results, so that a caller's buffer can
// take their place.
#pragma once

#include <vector>

#include "vm/load/loaded_module.h"

namespace scopevm::vm {

// Conservative: a result whose storage takes part in anything but one tensor and views of it is
// left out, and is copied to the caller's buffer at the end instead.
std::vector<ResultSite> find_result_sites(const format::FunctionDecl& function);

}  // namespace scopevm::vm
