// Prints a program; see program_text.h.
#include "compiler/program/program_text.h"

namespace scopevm::compiler {
namespace {

template <typename List>
std::string join(const List& list) {
  std::string text;
  for (const auto& item : list) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_same_v<std::decay_t<decltype(item)>, DimExpr>)
      text += item.str();
    else
      text += "v" + std::to_string(item.value);
  }
  return text;
}

std::string type_of(const Value& value) {
  std::string text;
  if (value.is_list()) text = std::string(name(value.kind)) + " of ";
  return text + std::string(name(value.dtype)) + "[" +
         (value.any_rank ? "..." : join(value.shape)) + "]";
}

std::string origin_of(const Value& value) {
  switch (value.origin) {
    case ValueOrigin::kInput:
      return "input";
    case ValueOrigin::kConstant:
      return "constant c" + std::to_string(value.constant->value);
    case ValueOrigin::kView:
      return "view of v" + std::to_string(value.view_of->value);
    case ValueOrigin::kPart:
      return "part of v" + std::to_string(value.view_of->value) + " from byte " +
             value.offset.str();
    case ValueOrigin::kStep:
      if (value.storage == ValueStorage::kOwn) return "computed, in its own storage";
      if (value.storage == ValueStorage::kDynamic) return "computed, dynamically sized";
      return "computed";
  }
  return "";
}

const char* name_of(step::StringWork::Kind kind) {
  constexpr const char* kNames[] = {"parse",  "format",       "lower", "upper",
                                    "concat", "count_pieces", "split", "match"};
  return kNames[static_cast<int>(kind)];
}

std::string launch_text(const Program& program, const Step& step, const step::Launch& launch) {
  const Kernel& kernel = program.kernels[launch.kernel];
  std::string text =
      (kernel.external ? "call_extern " + kernel.external->library + ":" : "launch ") +
      kernel.symbol + "(" + join(step.operands) + ") -> (" + join(step.results) + ") params [" +
      join(launch.params) + "] grid " + launch.grid.str() + " grain " + launch.grain.str();
  for (const Temporary& temporary : launch.temporaries)
    text += " temporary " + temporary.bytes.str() + (temporary.per_worker ? " per worker" : "");
  for (const step::Launch::InPlace& permission : launch.in_place)
    text +=
        " in_place " + std::to_string(permission.result) + "=" + std::to_string(permission.operand);
  return text;
}

std::string other_text(const Program& program, const Function& function, const Step& step) {
  std::string text(step.kind_name());
  if (auto callee = step.callee()) text += " " + program.functions[*callee].name;
  text += " (" + join(step.operands) + ") -> (" + join(step.results) + ")";
  if (const auto* work = step.as<step::StringWork>())
    text += std::string(" ") + name_of(work->kind) +
            (work->max_splits < 0 ? "" : " max_splits " + std::to_string(work->max_splits));
  if (const auto* loop = step.as<step::Loop>()) text += " trip_count " + loop->trip_count.str();
  if (const auto* get = step.as<step::ListGet>()) text += " index " + get->index.str();
  if (const auto* insert = step.as<step::ListInsert>(); insert && insert->index)
    text += " index " + insert->index->str();
  if (const auto* erase = step.as<step::ListErase>()) text += " index " + erase->index.str();
  if (const auto* end = step.as<step::EndLoop>(); end && end->has_condition)
    text += " while v" + std::to_string(step.operands.front().value);
  if (step.segment) {
    text += " segment " + std::to_string(step.segment->value);
    for (const RuntimeSymbol& defined : function.segments[*step.segment].symbols)
      text += " " + defined.symbol;
  }
  return text;
}

std::string step_text(const Program& program, const Function& function, const Step& step) {
  const auto* launch = step.as<step::Launch>();
  return (launch ? launch_text(program, step, *launch) : other_text(program, function, step)) +
         "  // " + step.name;
}

}  // namespace

std::string str(const Program& program) {
  std::string text;
  const Machine& machine = program.machine;
  for (PoolIndex index : machine.pools.indices()) {
    const Pool& pool = machine.pools[index];
    text += "pool p" + std::to_string(index.value) + " " + pool.scope +
            (machine.devices.size() > 1 ? " of " + machine.devices[pool.device].name : "") + "\n";
  }
  for (ConstantIndex index : program.constants.indices()) {
    const Constant& constant = program.constants[index];
    text += "constant c" + std::to_string(index.value) + " " + std::string(name(constant.dtype)) +
            " " + std::to_string(constant.bytes) + " bytes \"" + constant.name + "\"\n";
  }
  for (const Function& function : program.functions) {
    text += "function " + function.name + "(" + join(function.inputs) + ") -> (" +
            join(function.outputs) + ")\n";
    for (ValueId id : function.values.indices()) {
      const Value& value = function.values[id];
      text += "  v" + std::to_string(id.value) + ": " + type_of(value) + " " + origin_of(value) +
              " \"" + value.name + "\"\n";
    }
    for (const Check& check : function.checks)
      text +=
          "  check " + check.lhs.str() + ", " + check.rhs.str() + " \"" + check.message + "\"\n";
    for (const Step& step : function.steps)
      text += "  " + step_text(program, function, step) + "\n";
  }
  return text;
}

}  // namespace scopevm::compiler
