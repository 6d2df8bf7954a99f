// Evaluates formulas in checked 64-bit arithmetic.
#include "vm/format/schema/formula.h"

namespace scopevm::format {
namespace {

struct CheckedArithmetic {
  using Value = int64_t;

  std::optional<Value> symbol(std::string_view name) const {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  static std::optional<Value> apply(FormulaOp op, Value a, Value b) {
    return format::apply(op, a, b);
  }

  const std::map<std::string, int64_t>& values;
};

}  // namespace

std::optional<int64_t> evaluate_formula(std::string_view formula,
                                        const std::map<std::string, int64_t>& values) {
  return FormulaParser(formula, CheckedArithmetic{values}).parse();
}

}  // namespace scopevm::format
