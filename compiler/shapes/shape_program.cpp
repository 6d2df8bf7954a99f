// Expressions -> one value-numbered straight-line program; see the header.
#include "compiler/shapes/shape_program.h"

namespace scopevm {

ShapeProgram::ValueIndex ShapeProgram::instruction(Instruction i) {
  auto [entry, is_new] = numbered_.try_emplace({i.op, i.immediate, i.a, i.b},
                                               static_cast<ValueIndex>(instructions_.size()));
  if (is_new) instructions_.push_back(i);
  return entry->second;
}

ShapeProgram::ValueIndex ShapeProgram::constant(int64_t value) {
  return instruction({Op::kConstant, value});
}

ShapeProgram::ValueIndex ShapeProgram::add(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  int64_t sum;
  if (x && y && !__builtin_add_overflow(*x, *y, &sum)) return constant(sum);
  if (x == 0) return b;
  if (y == 0) return a;
  return instruction({Op::kAdd, 0, std::min(a, b), std::max(a, b)});
}

ShapeProgram::ValueIndex ShapeProgram::max(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return constant(std::max(*x, *y));
  if (a == b) return a;
  return instruction({Op::kMax, 0, std::min(a, b), std::max(a, b)});
}

std::optional<int64_t> ShapeProgram::constant_of(ValueIndex value) const {
  const Instruction& i = instructions_[value];
  return i.op == Op::kConstant ? std::optional(i.immediate) : std::nullopt;
}

ShapeProgram::ValueIndex ShapeProgram::value(DimExpr expr) {
  if (auto found = exprs_.find(expr); found != exprs_.end()) return found->second;
  ValueIndex result = -1;
  if (auto literal = expr.as_constant()) {
    result = constant(*literal);
  } else if (expr.kind() == DimExpr::Kind::kSymbol) {
    result = expr.symbol_name() == kThreadsSymbol ? instruction({Op::kThreads})
                                                  : symbols_.find(expr.symbol_name())->second;
  } else {
    constexpr Op kOps[] = {Op::kConstant, Op::kConstant, Op::kAdd, Op::kMul,
                           Op::kFloorDiv, Op::kMod,      Op::kMin, Op::kMax};
    Op op = kOps[static_cast<int>(expr.kind())];
    for (DimExpr operand : expr.operands()) {
      ValueIndex next = value(operand);
      result = result < 0       ? next
               : op == Op::kAdd ? add(result, next)
                                : instruction({op, 0, result, next});
    }
  }
  exprs_.emplace(expr, result);
  return result;
}

uint32_t ShapeProgram::slot_of(ValueIndex value) {
  auto [entry, is_new] = slots_.try_emplace(value, static_cast<uint32_t>(stores_.size()));
  if (is_new) stores_.push_back(value);
  return entry->second;
}

uint32_t ShapeProgram::block_of(const std::vector<ValueIndex>& values) {
  auto [entry, is_new] = blocks_.try_emplace(values, static_cast<uint32_t>(stores_.size()));
  if (is_new) stores_.insert(stores_.end(), values.begin(), values.end());
  return entry->second;
}

void ShapeProgram::condition(Check::Kind kind, ValueIndex lhs, ValueIndex rhs,
                             std::string message) {
  conditions_.push_back({kind, lhs, rhs, slot_of(lhs), slot_of(rhs), std::move(message)});
}

Result<ShapeProgram> ShapeProgram::create(const Function& function) {
  ShapeProgram program;
  SCOPEVM_RETURN_IF_ERROR(program.read_inputs(function));
  for (const Dimension& dimension : function.dimensions) program.check_dimension(dimension);
  for (const Check& check : function.checks)
    program.condition(check.kind, program.value(check.lhs), program.value(check.rhs),
                      check.message);
  return program;
}

Status ShapeProgram::read_inputs(const Function& function) {
  std::map<std::string, std::string, std::less<>> born;  // symbol -> where it was bound
  for (ValueId id : function.inputs) {
    const Value& input = function.values[id];
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      DimExpr dim = input.shape[axis];
      ValueIndex actual = instruction({Op::kInputDim, dim_count_++});
      std::string where = "input \"" + input.name + "\" dim " + std::to_string(axis);
      dim_symbols_.emplace_back(dim.kind() == DimExpr::Kind::kSymbol ? dim.symbol_name() : "");
      dim_constants_.push_back(dim.as_constant().value_or(0));
      if (auto expected = dim.as_constant()) {
        condition(Check::Kind::kEqual, actual, constant(*expected),
                  where + " is {0}, expected {1}");
      } else if (dim.kind() == DimExpr::Kind::kSymbol) {
        auto [entry, is_new] = symbols_.try_emplace(std::string(dim.symbol_name()), actual);
        if (is_new)
          born[entry->first] = where;
        else
          condition(
              Check::Kind::kEqual, actual, entry->second,
              where + " is {0}, but " + entry->first + " is {1} (from " + born[entry->first] + ")");
      } else {
        return Status(StatusCode::kUnsupported,
                      where + ": " + dim.str() + " is neither a name nor a number");
      }
    }
  }
  return {};
}

void ShapeProgram::check_dimension(const Dimension& dimension) {
  ValueIndex value = symbols_.find(dimension.name)->second;
  condition(Check::Kind::kAtLeast, value, constant(dimension.min),
            "dimension " + dimension.name + " is {0}, below its least value {1}");
  condition(Check::Kind::kAtLeast, constant(dimension.max), value,
            "dimension " + dimension.name + " is {1}, above its greatest value {0}");
  if (dimension.multiple_of > 1)
    condition(Check::Kind::kMultipleOf, value, constant(dimension.multiple_of),
              "dimension " + dimension.name + " is {0}, not a multiple of {1}");
}

}  // namespace scopevm
