// Evaluates a dim of a module's signature that is a formula, such as "now+past".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace scopevm::vm {

// Supports the syntax that the compiler prints: numbers, names, + - *, parentheses, floordiv(a, b),
// ceildiv(a, b), mod(a, b), min(a, ...) and max(a, ...). Returns no value on a syntax error, a name
// without a value, a divisor below 1, overflow, or deeply nested parentheses.
std::optional<int64_t> evaluate_dim(std::string_view formula,
                                    const std::map<std::string, int64_t>& values);

}  // namespace scopevm::vm
