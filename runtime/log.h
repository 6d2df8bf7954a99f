// Reports messages to the function of set_log() (scopevm/log.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "scopevm/log.h"

namespace scopevm::runtime {

// Whether messages of this severity are reported: one relaxed load. Callers test it before they
// word a message.
bool is_logged(LogSeverity severity) noexcept;
// Reports a message if its severity is reported. Does not throw. Thread-safe.
void log(LogSeverity severity, std::string_view text, uint64_t request_id = 0) noexcept;

}  // namespace scopevm::runtime
