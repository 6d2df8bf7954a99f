// The program of `scopevm alloc`: its name and the description of its group of commands.
#pragma once

namespace scopevm::lab {

inline constexpr char kProgram[] = "scopevm-lab";
inline constexpr char kGroup[] = "alloc";
inline constexpr char kDescription[] = "Plan memory; record, replay, compare and plot allocations";

}  // namespace scopevm::lab
