// Writes and reads the section `flops`; see launch_flops.h.
#include "vm/format/schema/launch_flops.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "vm/format/schema/formula.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

// Accepts each formula with a valid syntax.
struct SyntaxOnly {
  using Value = int64_t;
  static std::optional<Value> symbol(std::string_view) { return 1; }
  static std::optional<Value> apply(FormulaOp, Value, Value) { return 1; }
};

// Removes a number and the space after it from the start of `line`.
std::optional<uint32_t> take_number(std::string_view& line) {
  uint32_t value = 0;
  const char* const end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || after == end || *after != ' ') return std::nullopt;
  line.remove_prefix(static_cast<size_t>(after - line.data()) + 1);
  return value;
}

bool is_launch(const std::vector<uint32_t>& code, uint32_t word) {
  if (word >= code.size()) return false;
  const Result<isa::Instruction> in = isa::read_instruction(code, word);
  return in.ok() &&
         (in->row->opcode == isa::Opcode::launch || in->row->opcode == isa::Opcode::call_extern);
}

std::optional<LaunchFlops> read_line(const ModuleContents& module, std::string_view line) {
  const std::optional<uint32_t> function = take_number(line);
  const std::optional<uint32_t> word = function ? take_number(line) : std::nullopt;
  if (!word || *function >= module.functions.size() ||
      !is_launch(module.functions[*function].code, *word) ||
      !FormulaParser(line, SyntaxOnly{}).parse())
    return std::nullopt;
  return LaunchFlops{*function, *word, std::string(line)};
}

}  // namespace

std::string flops_text(std::span<const LaunchFlops> launches) {
  std::string text;
  for (const LaunchFlops& launch : launches)
    text += std::to_string(launch.function) + ' ' + std::to_string(launch.word) + ' ' +
            launch.formula + '\n';
  return text;
}

std::vector<LaunchFlops> read_flops(const ModuleContents& module) {
  const auto section = std::ranges::find(module.sections, kFlopsSection, &SectionDecl::name);
  if (section == module.sections.end()) return {};
  std::string_view text(reinterpret_cast<const char*>(section->bytes.data), section->bytes.size);
  std::vector<LaunchFlops> launches;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<LaunchFlops> launch = read_line(module, text.substr(0, end)))
      launches.push_back(*std::move(launch));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return launches;
}

}  // namespace scopevm::format
