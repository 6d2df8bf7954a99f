// Creates the allocators of scopevm: the implementation of the functions of the same names in
// scopevm/allocators.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/allocators.h"

namespace scopevm::runtime {

std::vector<std::string_view> allocator_names();
Result<std::shared_ptr<Allocator>> make_allocator(std::string_view name, AllocatorOptions options);
Result<std::shared_ptr<Allocator>> make_allocator_from_text(std::string_view text,
                                                            AllocatorOptions options);

}  // namespace scopevm::runtime
