// See split.h.
#include "compiler/options/split.h"

#include <charconv>
#include <string>

#include "runtime/quoted.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::options {

Result<Split> parse_split(std::string_view text) {
  Split split;
  if (text.empty()) return split;
  constexpr std::string_view kPrefix = "pipeline=";
  const char* const end = text.data() + text.size();
  if (text.starts_with(kPrefix)) {
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, split.pipeline);
    if (error == std::errc() && stop == end && split.pipeline >= 1 &&
        split.pipeline <= static_cast<int>(format::kMaxRanks))
      return split;
  }
  return Status(StatusCode::kInvalidArgument,
                runtime::quoted(text) +
                    ": expected pipeline=N, with 1 <= N <= " + std::to_string(format::kMaxRanks));
}

}  // namespace scopevm::compiler::options
