// Parses and evaluates breakpoints; see breakpoint.h.
#include "tools/scopevm/commands/debug/breakpoint.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/quoted.h"
#include "tools/command_line/arguments.h"

namespace scopevm::tool {
namespace {

using Kind = Breakpoint::Kind;

Status wrong_breakpoint(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

bool has_name(const Breakpoint& breakpoint, InstructionPlace place, const CodeMap& code) {
  if (breakpoint.kind == Kind::kOpcode) return code.instruction(place).row->name == breakpoint.name;
  const std::string_view text = breakpoint.kind == Kind::kOp ? code.op(place) : code.kernel(place);
  return text.find(breakpoint.name) != std::string_view::npos;
}

// Whether `matches` is true for an instruction of the module.
template <typename Matches>
bool has_instruction(const CodeMap& code, Matches matches) {
  const auto& functions = code.module().functions;
  for (uint32_t function = 0; function < functions.size(); ++function)
    for (uint32_t word = 0; word < functions[function].code.size();
         word += isa::word_count(functions[function].code[word]))
      if (matches(InstructionPlace{function, word})) return true;
  return false;
}

Result<Breakpoint> parse_place(const std::string& text, const CodeMap& code) {
  const size_t colon = text.rfind(':');
  const Result<int64_t> word = colon == std::string::npos
                                   ? Result<int64_t>(wrong_breakpoint(""))
                                   : parse_number(std::string_view(text).substr(colon + 1));
  if (!word.ok())
    return wrong_breakpoint("\"" + text +
                            "\": expected FUNCTION:PC, op NAME, kernel NAME, opcode NAME, if "
                            "COMPARISON, nan or inf");
  const auto& functions = code.module().functions;
  const auto function =
      std::ranges::find(functions, text.substr(0, colon), &format::FunctionDecl::name);
  if (function == functions.end())
    return wrong_breakpoint("the module has no function " + runtime::quoted(text.substr(0, colon)));
  const InstructionPlace place{static_cast<uint32_t>(function - functions.begin()),
                               static_cast<uint32_t>(*word)};
  const bool is_instruction = has_instruction(code, [&](InstructionPlace other) {
    return other.function == place.function && std::cmp_equal(other.word, *word);
  });
  if (!is_instruction)
    return wrong_breakpoint("no instruction starts at " + text + "; `list` prints the places");
  return Breakpoint{.kind = Kind::kPlace, .text = text, .place = place};
}

Result<Breakpoint> parse_condition(const std::string& text, const std::string& condition,
                                   const CodeMap& code) {
  const size_t at = std::min(condition.find_first_of("<>=!"), condition.size());
  const size_t end = std::min(condition.find_first_not_of("<>=!", at), condition.size());
  const Breakpoint made{.kind = Kind::kCondition,
                        .text = text,
                        .left = trimmed(condition.substr(0, at)),
                        .comparison = condition.substr(at, end - at),
                        .right = trimmed(condition.substr(end))};
  constexpr std::string_view kComparisons[] = {"<", "<=", ">", ">=", "==", "!="};
  if (std::ranges::find(kComparisons, made.comparison) == std::end(kComparisons))
    return wrong_breakpoint("\"" + condition +
                            "\": expected a comparison such as n > 4, s3 == 0 or r5.0 < 2");
  for (const std::string& side : {made.left, made.right})
    if (!is_formula(side, code.module()))
      return wrong_breakpoint(runtime::quoted(side) +
                              ": expected a formula of dimensions, slots (s3) and dims of "
                              "registers (r5.0, r5.rank)");
  return made;
}

bool compare_values(int64_t a, std::string_view comparison, int64_t b) {
  if (comparison == "<") return a < b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">") return a > b;
  if (comparison == ">=") return a >= b;
  return comparison == "==" ? a == b : a != b;
}

}  // namespace

Result<Breakpoint> parse_breakpoint(const std::string& text, const CodeMap& code) {
  if (text == "nan") return Breakpoint{.kind = Kind::kNan, .text = text};
  if (text == "inf") return Breakpoint{.kind = Kind::kInfinity, .text = text};
  const size_t space = text.find(' ');
  const std::string word = text.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : text.substr(space + 1);
  if (word == "if") return parse_condition(text, rest, code);
  const bool is_op = word == "op", is_kernel = word == "kernel";
  if ((!is_op && !is_kernel && word != "opcode") || rest.empty()) return parse_place(text, code);
  Breakpoint made{.kind = is_op       ? Kind::kOp
                          : is_kernel ? Kind::kKernel
                                      : Kind::kOpcode,
                  .text = text,
                  .name = rest};
  const bool is_known =
      has_instruction(code, [&](InstructionPlace place) { return has_name(made, place, code); });
  if (!is_known) return wrong_breakpoint("the module has no " + word + " " + runtime::quoted(rest));
  return made;
}

bool is_reached(Breakpoint& breakpoint, const ExecutionState& state, const CodeMap& code,
                const Inspector& inspector) {
  const InstructionPlace next = state.next();
  if (breakpoint.is_of_elements()) return false;
  if (breakpoint.kind == Kind::kPlace)
    return next.function == breakpoint.place.function && next.word == breakpoint.place.word;
  if (breakpoint.kind != Kind::kCondition) return has_name(breakpoint, next, code);
  const std::optional<int64_t> left = inspector.evaluate(breakpoint.left, &state),
                               right = inspector.evaluate(breakpoint.right, &state);
  const bool was_true = breakpoint.was_true;
  breakpoint.was_true = left && right && compare_values(*left, breakpoint.comparison, *right);
  return breakpoint.was_true && !was_true;
}

}  // namespace scopevm::tool
