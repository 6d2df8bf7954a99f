// The standard streams of the command. The command fails if it cannot write its output. A failure
// to write a message is ignored, because it cannot be reported.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "scopevm/status.h"

namespace scopevm::tool {

// Denotes stdin or stdout in place of a file.
inline constexpr std::string_view kStandardStream = "-";

// Opens the standard streams that the parent process closed, so that no other file gets their
// descriptors. Reading a closed stdin fails, and so does writing a closed stdout or stderr.
void open_standard_streams();

// Flushes stdout. Errors: kInvalidArgument (this write or an earlier one failed).
Status finish_output();

// Returns runtime::escaped(text, kept): names of a model cannot control a terminal.
std::string escaped(std::string_view text, std::string_view kept = "");

// A string argument of a format, escaped; or another argument, unchanged.
template <typename Argument>
auto printable(const Argument& argument) {
  if constexpr (std::is_convertible_v<const Argument&, std::string_view>)
    return escaped(argument);
  else
    return argument;
}

// Prints text to a stream. String arguments are escaped. Unlike fmt::print(), throws no exception;
// finish_output() reports a failed write to stdout.
template <typename... Arguments>
void print_message(std::FILE* stream, fmt::format_string<const Arguments&...> format,
                   const Arguments&... arguments) {
  const std::tuple values(printable(arguments)...);
  const std::string text = std::apply(
      [&](const auto&... value) { return fmt::vformat(format, fmt::make_format_args(value...)); },
      values);
  std::fwrite(text.data(), 1, text.size(), stream);
}

// Prints results to stdout. String arguments are escaped.
template <typename... Arguments>
void print(fmt::format_string<const Arguments&...> format, const Arguments&... arguments) {
  print_message<Arguments...>(stdout, format, arguments...);
}

// Writes text to stdout unchanged.
void write_output(std::string_view text);

}  // namespace scopevm::tool
