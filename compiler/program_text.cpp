// A program as text; see the header.
#include "compiler/program_text.h"

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
      text += "v" + std::to_string(item);
  }
  return text;
}

std::string type_of(const Value& value) {
  std::string text;
  if (value.is_list()) text = std::string(name(value.kind)) + " of ";
  return text + std::string(name(value.dtype)) + "[" + join(value.shape) + "]";
}

std::string origin_of(const Value& value) {
  switch (value.origin) {
    case ValueOrigin::kInput:
      return "input";
    case ValueOrigin::kConstant:
      return "constant c" + std::to_string(value.constant);
    case ValueOrigin::kView:
      return "view of v" + std::to_string(value.view_of);
    case ValueOrigin::kPart:
      return "part of v" + std::to_string(value.view_of) + " from byte " + value.offset.str();
    case ValueOrigin::kStep:
      if (value.storage == ValueStorage::kOwn) return "computed, in its own storage";
      if (value.storage == ValueStorage::kGrowing) return "computed, growing";
      return "computed";
  }
  return "";
}

const char* name_of(StepKind kind) {
  constexpr const char* kNames[] = {
      "launch",    "copy",     "read",        "if",         "else", "end_if",       "loop",
      "end_loop",  "assert",   "move",        "swap",       "call", "make_closure", "call_closure",
      "make_list", "list_get", "list_insert", "list_erase", "text"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(TextWork work) {
  constexpr const char* kNames[] = {"parse", "format", "lower", "upper"};
  return kNames[static_cast<int>(work)];
}

// All kinds but launches.
std::string mark_text(const Program& program, const Function& function, const Step& step) {
  std::string text = name_of(step.kind);
  if (step.callee >= 0) text += " " + program.functions[step.callee].name;
  text += " (" + join(step.operands) + ") -> (" + join(step.results) + ")";
  if (step.kind == StepKind::kText) text += " " + std::string(name_of(step.text));
  if (step.kind == StepKind::kLoop) text += " trip_count " + step.trip_count.str();
  if (step.index) text += " index " + step.index->str();
  if (step.has_condition) text += " while v" + std::to_string(step.operands.front());
  if (step.stage >= 0) {
    text += " stage " + std::to_string(step.stage);
    for (const Birth& birth : function.stages[step.stage].births) text += " " + birth.symbol;
  }
  return text + "  // " + step.name;
}

std::string step_text(const Program& program, const Function& function, const Step& step) {
  if (step.kind != StepKind::kLaunch) return mark_text(program, function, step);
  std::string text = "launch " + program.kernels[step.kernel].symbol + "(" + join(step.operands) +
                     ") -> (" + join(step.results) + ") params [" + join(step.params) + "] grid " +
                     step.grid.str() + " grain " + step.grain.str();
  for (const Temporary& temporary : step.temporaries)
    text += std::string(" temporary ") + temporary.bytes.str() +
            (temporary.per_worker ? " per worker" : "");
  for (const Step::InPlace& permission : step.in_place)
    text +=
        " in_place " + std::to_string(permission.result) + "=" + std::to_string(permission.operand);
  return text + "  // " + step.name;
}

}  // namespace

std::string str(const Program& program) {
  std::string text;
  const Machine& machine = program.machine;
  for (size_t i = 0; i < machine.pools.size(); ++i)
    text +=
        "pool p" + std::to_string(i) + " " + machine.pools[i].scope +
        (machine.devices.size() > 1 ? " of " + machine.devices[machine.pools[i].device].name : "") +
        "\n";
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const Constant& constant = program.constants[i];
    text += "constant c" + std::to_string(i) + " " + std::string(name(constant.dtype)) + " " +
            std::to_string(constant.bytes) + " bytes \"" + constant.name + "\"\n";
  }
  for (const Function& function : program.functions) {
    text += "function " + function.name + "(" + join(function.inputs) + ") -> (" +
            join(function.outputs) + ")\n";
    for (size_t id = 0; id < function.values.size(); ++id) {
      const Value& value = function.values[id];
      text += "  v" + std::to_string(id) + ": " + type_of(value) + " " + origin_of(value) + " \"" +
              value.name + "\"\n";
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
