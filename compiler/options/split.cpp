// See split.h.
#include "compiler/options/split.h"

#include <charconv>
#include <utility>

#include "runtime/quoted.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::options {
namespace {

constexpr std::pair<std::string_view, int Split::*> kParts[] = {{"tensor", &Split::tensor},
                                                                {"pipeline", &Split::pipeline}};
constexpr int kMostRanks = static_cast<int>(format::kMaxRanks);

// Parses "NAME=N" with a name in kParts that has not been set. Returns whether it has this form.
bool parse_part(std::string_view text, Split& split) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  for (const auto& [name, member] : kParts) {
    if (text.substr(0, equals) != name || split.*member != 1) continue;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, split.*member);
    return error == std::errc() && stop == end && split.*member >= 1 && split.*member <= kMostRanks;
  }
  return false;
}

}  // namespace

std::string Split::text() const {
  std::string text;
  for (const auto& [name, member] : kParts)
    if (this->*member != 1)
      text += (text.empty() ? "" : ",") + std::string(name) + "=" + std::to_string(this->*member);
  return text;
}

Result<Split> parse_split(std::string_view text) {
  Split split;
  bool is_valid = true;
  for (std::string_view rest = text; is_valid && !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    is_valid = parse_part(rest.substr(0, comma), split) && comma + 1 != rest.size();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (is_valid && split.ranks() <= kMostRanks) return split;
  return Status(StatusCode::kInvalidArgument,
                runtime::quoted(text) +
                    ": expected pipeline=N, tensor=N, or both with a comma between them, with 1 <= "
                    "N and at most " +
                    std::to_string(kMostRanks) + " ranks");
}

}  // namespace scopevm::compiler::options
