// Parses the values of the options "dim" and "variant", such as "n=1..512" and "n%8==0", into one
// bound per name; see dim_bounds.h.
#include "compiler/options/dim_bounds.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "runtime/name_text.h"
#include "runtime/quoted.h"
#include "vm/format/schema/formula.h"

namespace scopevm::compiler::options {
namespace {

Status wrong(std::string_view text, const std::string& what) {
  return {StatusCode::kInvalidArgument, runtime::quoted(text) + ": " + what};
}

constexpr char kForms[] = "expected n=4, n=1..512, n<=512, n>=2, n%8==0 or n=m+k";

// The combined constraints of one name.
struct Constraints {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  int64_t multiple_of = 1;
  std::string formula;
  std::string strings;  // as given, for the message about a contradiction
};

enum class Relation : uint8_t { kEqual, kAtMost, kAtLeast, kMultipleOf };

// One parsed constraint: "n" "<=" "512".
struct Constraint {
  std::string name;
  Relation relation;
  std::string_view value;
};

Result<Constraint> split_constraint(std::string_view text) {
  std::string_view rest = text;
  std::string name;
  if (std::optional<std::string> quoted = runtime::take_quoted_name(rest)) {
    name = *std::move(quoted);
  } else {
    const size_t at = std::min(text.find_first_of("<>=%!"), text.size());
    name = text.substr(0, at);
    rest = text.substr(at);
  }
  if (name.empty() || rest.empty()) return wrong(text, kForms);
  if (rest.starts_with("<=")) return Constraint{name, Relation::kAtMost, rest.substr(2)};
  if (rest.starts_with(">=")) return Constraint{name, Relation::kAtLeast, rest.substr(2)};
  if (rest.starts_with("=") && !rest.starts_with("=="))
    return Constraint{name, Relation::kEqual, rest.substr(1)};
  if (rest.starts_with("<")) return wrong(text, "bounds are inclusive: use <=");
  if (rest.starts_with(">")) return wrong(text, "bounds are inclusive: use >=");
  if (!rest.starts_with("%")) return wrong(text, kForms);
  const size_t equals = rest.find('=');
  const std::string_view remainder = equals == std::string_view::npos ? "" : rest.substr(equals);
  if (!remainder.empty() && remainder != "==0" && remainder != "=0")
    return wrong(text, "expected remainder 0, such as n%8==0");
  return Constraint{name, Relation::kMultipleOf,
                    rest.substr(1, equals == std::string_view::npos ? equals : equals - 1)};
}

Status read_number(std::string_view text, std::string_view number, int64_t least, int64_t& value) {
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size())
    return wrong(text, runtime::quoted(number) + " is not a 64-bit integer");
  if (value < least)
    return wrong(text, std::to_string(value) + " is below " + std::to_string(least));
  return {};
}

Status add_range(std::string_view text, const Constraint& constraint, Constraints& constraints) {
  const size_t dots = constraint.value.find("..");
  const bool is_range = constraint.relation == Relation::kEqual && dots != std::string_view::npos;
  int64_t low = 0, high = 0;
  SCOPEVM_RETURN_IF_ERROR(
      read_number(text, is_range ? constraint.value.substr(0, dots) : constraint.value, 0, low));
  high = low;
  if (is_range)
    SCOPEVM_RETURN_IF_ERROR(read_number(text, constraint.value.substr(dots + 2), 0, high));
  if (low > high) return wrong(text, "the lower end exceeds the upper end");
  if (constraint.relation != Relation::kAtMost)
    constraints.min = std::max(constraints.min.value_or(0), low);
  if (constraint.relation != Relation::kAtLeast)
    constraints.max = std::min(constraints.max.value_or(high), high);
  return {};
}

Status add_multiple(std::string_view text, const Constraint& constraint, Constraints& constraints) {
  int64_t factor = 0;
  SCOPEVM_RETURN_IF_ERROR(read_number(text, constraint.value, 1, factor));
  // A multiple of both factors is a multiple of their least common multiple.
  const int64_t more = factor / std::gcd(factor, constraints.multiple_of);
  if (__builtin_mul_overflow(constraints.multiple_of, more, &constraints.multiple_of))
    return wrong(text, "the least common multiple of the factors exceeds 64 bits");
  return {};
}

// An algebra that accepts every name.
struct AnyName {
  using Value = int64_t;
  static std::optional<Value> symbol(std::string_view) { return 1; }
  static std::optional<Value> apply(format::FormulaOp, Value, Value) { return 1; }
};

bool is_formula(const Constraint& constraint) {
  const std::string_view value = constraint.value;
  const bool is_number = value.find_first_not_of("0123456789.-") == std::string_view::npos;
  return constraint.relation == Relation::kEqual && !is_number &&
         format::FormulaParser(value, AnyName()).parse().has_value();
}

Status add_constraint(std::string_view text, std::map<std::string, Constraints>& names) {
  SCOPEVM_ASSIGN_OR_RETURN(const Constraint constraint, split_constraint(text));
  Constraints& constraints = names[constraint.name];
  const bool is_first = constraints.strings.empty();
  constraints.strings += (is_first ? "" : ",") + std::string(text);
  if (!constraints.formula.empty() || (is_formula(constraint) && !is_first))
    return wrong(constraints.strings, "a dimension with a formula has no other constraint");
  if (is_formula(constraint)) {
    constraints.formula = constraint.value;
    return {};
  }
  return constraint.relation == Relation::kMultipleOf ? add_multiple(text, constraint, constraints)
                                                      : add_range(text, constraint, constraints);
}

// Rounds the ends inwards to multiples of the factor.
Result<DimBound> combine(const Constraints& constraints) {
  DimBound bound;
  bound.formula = constraints.formula;
  const int64_t factor = constraints.multiple_of;
  bound.min = constraints.min;
  bound.max = constraints.max.value_or(bound.max);
  bound.multiple_of = factor;
  bound.max -= bound.max % factor;
  // The default minimum depends on the model.
  if (!bound.min) return bound;
  if (const int64_t over = *bound.min % factor; over > 0 && *bound.min <= bound.max)
    *bound.min += factor - over;
  if (*bound.min <= bound.max) return bound;
  std::string reason = "no value satisfies all bounds";
  if (!constraints.max)
    reason += "; the default upper bound of a dim is " + std::to_string(DimBound().max);
  return wrong(constraints.strings, reason);
}

// The position of the first comma outside of quotes and parentheses, or the size of the text.
size_t end_of_constraint(std::string_view text) {
  bool is_quoted = false;
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && is_quoted)
      ++at;
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && (c == '(' || c == ')'))
      depth += c == '(' ? 1 : -1;
    else if (c == ',' && !is_quoted && depth <= 0)
      return at;
  }
  return text.size();
}

// The constraints of a value.
Status add_constraints(const std::string& value, std::map<std::string, Constraints>& names) {
  for (std::string_view rest = value;;) {
    const size_t comma = end_of_constraint(rest);
    SCOPEVM_RETURN_IF_ERROR(add_constraint(rest.substr(0, comma), names));
    if (comma == rest.size()) return {};
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

Status check_dim_bounds(const std::string& value) {
  std::map<std::string, Constraints> names;
  return add_constraints(value, names);
}

Result<std::map<std::string, DimBound>> parse_dim_bounds(const std::vector<std::string>& strings) {
  std::map<std::string, Constraints> names;
  for (const std::string& value : strings) SCOPEVM_RETURN_IF_ERROR(add_constraints(value, names));
  std::map<std::string, DimBound> bounds;
  for (const auto& [name, constraints] : names) {
    SCOPEVM_ASSIGN_OR_RETURN(bounds[name], combine(constraints));
  }
  return bounds;
}

}  // namespace scopevm::compiler::options
