// The value of a dim that a module's signature writes as a formula, like "now+past".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace scopevm::vm {

// Numbers, names, + - *, parentheses, floordiv(a, b), mod(a, b), min(a, ...) and max(a, ...), which
// is what the compiler prints. Empty on anything else, on a name without a value, a division by
// less than 1, and on overflow.
std::optional<int64_t> evaluate_dim(std::string_view formula,
                                    const std::map<std::string, int64_t>& values);

}  // namespace scopevm::vm
