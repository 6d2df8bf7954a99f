// Parses and expands INPUT=OUTPUT; see state_pairs.h.
#include "runtime/state_pairs.h"

#include <algorithm>

namespace scopevm::runtime {
namespace {

bool contains(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_pattern(const std::string& name) { return name.find('*') != std::string::npos; }

}  // namespace

Result<StatePairs> parse_state_pairs(const std::string& value, std::span<const std::string> inputs,
                                     std::span<const std::string> outputs) {
  size_t equals = value.find('=');
  if (equals == std::string::npos)
    return Status(StatusCode::kInvalidArgument, "expected INPUT=OUTPUT");
  // Names can contain '='.
  for (size_t at = equals; at != std::string::npos; at = value.find('=', at + 1))
    if (contains(inputs, value.substr(0, at))) equals = at;
  const std::string input = value.substr(0, equals), output = value.substr(equals + 1);
  const bool are_names = (contains(inputs, input) || !is_pattern(input)) &&
                         (contains(outputs, output) || !is_pattern(output));
  if (are_names) return StatePairs{{input, output}};
  if (std::ranges::count(input, '*') != 1 || std::ranges::count(output, '*') != 1)
    return Status(StatusCode::kInvalidArgument, "expected one \"*\" in each of the names, or none");
  const size_t star = input.find('*'), output_star = output.find('*');
  StatePairs pairs;
  for (const std::string& name : inputs) {
    if (name.size() < input.size() - 1 || !name.starts_with(input.substr(0, star)) ||
        !name.ends_with(input.substr(star + 1)))
      continue;
    const std::string part = name.substr(star, name.size() - (input.size() - 1));
    pairs.emplace_back(name, output.substr(0, output_star) + part + output.substr(output_star + 1));
  }
  if (pairs.empty())
    return Status(StatusCode::kInvalidArgument, "no input matches \"" + input + "\"");
  return pairs;
}

Result<StatePairs> parse_state_pairs(std::span<const std::string> values,
                                     std::span<const std::string> inputs,
                                     std::span<const std::string> outputs) {
  StatePairs pairs;
  for (const std::string& value : values) {
    Result<StatePairs> parsed = parse_state_pairs(value, inputs, outputs);
    if (!parsed.ok()) return std::move(parsed).status().with_context("state " + value);
    pairs.insert(pairs.end(), parsed->begin(), parsed->end());
  }
  return pairs;
}

}  // namespace scopevm::runtime
