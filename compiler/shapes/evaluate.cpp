// Evaluates and prints shape programs at compile time.
#include "compiler/shapes/shape_program.h"

namespace scopevm::compiler {
namespace {

using Op = ShapeProgram::Op;

const char* name_of(Op op) {
  constexpr const char* kNames[] = {"constant", "input_dim", "threads", "runtime", "add",
                                    "mul",      "floordiv",  "mod",     "min",     "max"};
  return kNames[static_cast<int>(op)];
}

const char* name_of(Check::Kind kind) {
  constexpr const char* kNames[] = {"equal", "broadcastable", "at_least", "multiple_of"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace

std::optional<ShapeProgram::Values> ShapeProgram::evaluate(
    const std::map<std::string, int64_t>& symbols, int64_t threads) const {
  auto value_of = [&](std::string_view name) -> std::optional<int64_t> {
    auto found = symbols.find(std::string(name));
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  Values values;
  values.reserve(instructions_.size());
  for (const Instruction& i : instructions_) {
    int64_t result = i.immediate;
    if (i.op == Op::kInputDim) {
      std::optional<int64_t> dim = dims_[i.immediate].evaluate(value_of);
      if (!dim) return std::nullopt;
      result = *dim;
    } else if (i.op == Op::kThreads) {
      result = threads;
    } else if (i.op == Op::kRuntime) {
      // The VM's value is the signed sum of its symbols, such as n - n.neg.
      result = 0;
      for (const auto& [symbol, sign] : runtime_values_.at({static_cast<uint32_t>(i.immediate)})) {
        std::optional<int64_t> part = value_of(symbol);
        if (!part) return std::nullopt;
        result += sign * *part;
      }
    } else if (i.has_operands()) {
      const auto value = format::apply(i.formula_op(), values[i.a], values[i.b]);
      if (!value) return std::nullopt;
      result = *value;
    }
    values.push_back(result);
  }
  return values;
}

std::string ShapeProgram::str() const {
  std::string text;
  auto name = [](ValueIndex value) { return "v" + std::to_string(value.value); };
  for (ValueIndex value : instructions_.indices()) {
    const Instruction& i = instructions_[value];
    text += name(value) + " = " + name_of(i.op);
    if (i.has_operands())
      text += " " + name(i.a) + ", " + name(i.b);
    else if (i.op != Op::kThreads)
      text += " " + std::to_string(i.immediate);
    text += "\n";
  }
  for (const Condition& c : conditions_)
    text += std::string("check ") + name_of(c.kind) + " " + name(c.lhs) + ", " + name(c.rhs) +
            " \"" + c.message + "\"\n";
  for (SlotIndex slot : stores_.indices())
    if (stores_[slot])
      text += "s" + std::to_string(slot.value) + " := " + name(*stores_[slot]) + "\n";
  return text;
}

}  // namespace scopevm::compiler
