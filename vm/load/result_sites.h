// Which storages of a function become exactly one of its results, so that a caller's buffer can
// take their place.
#pragma once

#include <vector>

#include "vm/isa/field_values.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

// Conservative: a result whose way through the registers is not plain is left out, and is copied to
// the caller's buffer at the end instead.
std::vector<ResultSite> find_result_sites(const format::FunctionDecl& function);

// The dims that the alloc_tensor or alloc_view at `words` gives.
isa::IntList result_dims(const uint32_t* words);

}  // namespace scopevm::vm
