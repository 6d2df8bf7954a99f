// What the server says of itself, on every transport.
#pragma once

#include <array>

namespace scopevm::serve {

inline constexpr char kServerName[] = "scopevm";
inline constexpr std::array kExtensions = {"binary_tensor_data", "model_repository", "sequence",
                                           "statistics", "schedule_policy"};
inline constexpr char kReady[] = "READY";
inline constexpr char kUnavailable[] = "UNAVAILABLE";

}  // namespace scopevm::serve
