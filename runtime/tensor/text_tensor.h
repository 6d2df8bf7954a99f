// The bytes of a tensor of texts, for those who make one in memory of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::runtime {

// How many bytes the texts take. Errors: kInvalidArgument where that does not fit.
Result<int64_t> packed_bytes(std::span<const std::string_view> texts);
// REQUIRES: `to` has that many, aligned to 8.
void pack_texts(std::span<const std::string_view> texts, void* to);

}  // namespace scopevm::runtime
