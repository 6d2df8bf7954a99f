// The name of the function that a call of a module enters.
#pragma once

namespace scopevm::format {

inline constexpr char kEntryName[] = "main";

}  // namespace scopevm::format
