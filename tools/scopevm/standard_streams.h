// The standard streams of the command. The command fails if it cannot write its output. A failure
// to write a message is ignored, because it cannot be reported.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "scopevm/status.h"

namespace scopevm::tool {

// Opens the standard streams that the parent process closed, so that no other file gets their
// descriptors. Reading a closed stdin fails, and so does writing a closed stdout or stderr.
void open_standard_streams();

// Flushes stdout. Errors: kInvalidArgument (this write or an earlier one failed).
Status finish_output();

// Prints a message to stderr or another log. Unlike fmt::print(), ignores errors.
template <typename... Arguments>
void print_message(std::FILE* log, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), log);
}

}  // namespace scopevm::tool
