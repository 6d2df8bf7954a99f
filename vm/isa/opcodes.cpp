// The rows of opcodes.def as constant data, validated at compile time.
#include "vm/isa/opcodes.h"

#include <algorithm>

namespace scopevm::isa {
namespace {

using namespace vocabulary;

// --- rules.def. ---------------------------------------------------------------------------------

template <size_t count>
using Parameters = std::array<Parameter, count>;

namespace parameters {
using enum Parameter;
#define ROW(name, ...) \
  constexpr auto name = std::to_array<Parameter>({__VA_ARGS__ __VA_OPT__(, ) kNumber});
#define RULE(form, name, text, ...) ROW(name, __VA_ARGS__)
#define DEFINITION(name, text, ...) ROW(name, __VA_ARGS__)
#include "vm/isa/rules.def"
#undef ROW
// Drops the last element, which exists because a C++ array cannot be empty.
template <size_t count>
constexpr std::span<const Parameter> of(const Parameters<count>& row) {
  return std::span(row).first(count - 1);
}
}  // namespace parameters

constexpr TermRow kRules[] = {
#define RULE(form, name, text, ...) {#name, text, parameters::of(parameters::name)},
#include "vm/isa/rules.def"
};
constexpr FieldForm kFormsOfRules[] = {
#define RULE(form, name, text, ...) FieldForm::form##_form,
#include "vm/isa/rules.def"
};
constexpr TermRow kDefinitions[] = {
#define DEFINITION(name, text, ...) {#name, text, parameters::of(parameters::name)},
#include "vm/isa/rules.def"
};

// The contents that a rule requires of a register.
enum class Contents : uint8_t { kUnknown, kValue, kStorage, kTensor, kList };

constexpr Contents contents_under(RuleKind rule) {
  switch (rule) {
    case RuleKind::holds_value:
    case RuleKind::holds_closure:
    case RuleKind::holds_tensor_or_closure:
    case RuleKind::element_of:
    case RuleKind::element_typed:
    case RuleKind::returned:
    case RuleKind::passed_to:
      return Contents::kValue;
    case RuleKind::holds_storage:
      return Contents::kStorage;
    case RuleKind::holds_tensor:
    case RuleKind::bound_to:
      return Contents::kTensor;
    case RuleKind::holds_list:
      return Contents::kList;
    case RuleKind::on_host:
    case RuleKind::in_pool:
    case RuleKind::reached_by:
    case RuleKind::not_in_frame:
    case RuleKind::writable:
    case RuleKind::writable_in:
    case RuleKind::of_strings:
    case RuleKind::of_numbers:
    case RuleKind::of_integers:
    case RuleKind::buffers_of:
    case RuleKind::typed_by:
    case RuleKind::dims_of:
    case RuleKind::immediate:
    case RuleKind::axis_of:
    case RuleKind::not_computed:
    case RuleKind::follows:
    case RuleKind::computed:
    case RuleKind::in_image:
    case RuleKind::external:
    case RuleKind::allocates:
    case RuleKind::host_heap:
    case RuleKind::copied_with:
    case RuleKind::closed_over:
      return Contents::kUnknown;
  }
  return Contents::kUnknown;
}

constexpr Contents contents_in(const FieldRow& field) {
  Contents held = Contents::kUnknown;
  for (const Rule& rule : field.rules())
    if (contents_under(rule.kind) != Contents::kUnknown) held = contents_under(rule.kind);
  return held;
}

constexpr bool has_rule(const FieldRow& field, RuleKind kind) {
  return std::ranges::any_of(field.rules(), [&](const Rule& rule) { return rule.kind == kind; });
}

constexpr bool is_one(const FieldRow& field, FieldForm expected, Contents held) {
  return form(field.type) == expected && is_read(access(field.type)) && contents_in(field) == held;
}

constexpr bool fits(Parameter parameter, const FieldRow& field) {
  switch (parameter) {
    case Parameter::kNumber:
      return true;
    case Parameter::kValue:
      return form(field.type) == FieldForm::reg_form && contents_in(field) != Contents::kUnknown;
    case Parameter::kStorage:
      return is_one(field, FieldForm::reg_form, Contents::kStorage);
    case Parameter::kTensor:
      return is_one(field, FieldForm::reg_form, Contents::kTensor);
    case Parameter::kList:
      return is_one(field, FieldForm::reg_form, Contents::kList);
    case Parameter::kInt:
      return form(field.type) == FieldForm::int_form;
    case Parameter::kImmediate:
      return form(field.type) == FieldForm::int_form && has_rule(field, RuleKind::immediate);
    case Parameter::kInts:
      return field.type == FieldType::ints_field;
    case Parameter::kTypes:
      return field.type == FieldType::types_field;
    case Parameter::kPool:
      return form(field.type) == FieldForm::pool_form;
    case Parameter::kSource:
      return has_rule(field, RuleKind::allocates) || has_rule(field, RuleKind::host_heap);
    case Parameter::kLaunch:
      return form(field.type) == FieldForm::launch_form;
    case Parameter::kConstant:
      return form(field.type) == FieldForm::constant_form;
    case Parameter::kFunction:
      return form(field.type) == FieldForm::function_form;
    case Parameter::kShapeFunction:
      return form(field.type) == FieldForm::shape_fn_form;
    case Parameter::kDType:
      return form(field.type) == FieldForm::dtype_form;
  }
  return false;
}

// --- opcodes.def. -------------------------------------------------------------------------------

constexpr void add(FieldRow& row, const Rule& rule) { row.rule_storage[row.rule_count++] = rule; }
constexpr void add(FieldRow& row, const Definition& definition) { row.definition = definition; }

template <typename... Terms>
constexpr FieldRow field_row(FieldType type, std::string_view name, const Terms&... terms) {
  FieldRow row{type, name};
  (add(row, terms), ...);
  return row;
}

// Rules refer to fields of the same row by name: FieldNames_ defines the names as indices. The last
// element of kRows exists because a C++ array cannot be empty.
#define FIELD(type, name, ...) name,
#define OPCODE(name, code, effect, ...)  \
  struct FieldNames_##name {             \
    enum Name : uint8_t { __VA_ARGS__ }; \
  };
#include "vm/isa/opcodes.def"

#define FIELD(type, name, ...) field_row(FieldType::type##_field, #name __VA_OPT__(, ) __VA_ARGS__),
#define OPCODE(name, code, effect, ...)                                                         \
  struct Fields_##name : FieldNames_##name {                                                    \
    static constexpr FieldRow kRows[] = {__VA_ARGS__ FieldRow{}};                               \
    static constexpr auto kFields = std::span(kRows).first(sizeof kRows / sizeof kRows[0] - 1); \
  };
#include "vm/isa/opcodes.def"

constexpr OpcodeRow kRows[] = {
#define OPCODE(name, code, effect, ...) \
  {Opcode::name, #name, effect, traits_of::name, Fields_##name::kFields, since::name},
#include "vm/isa/opcodes.def"
};

template <typename Kind>
constexpr bool has_right_arguments(const OpcodeRow& row, const Term<Kind>& term,
                                   std::span<const Parameter> parameters) {
  if (term.argument_count != parameters.size()) return false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == Parameter::kNumber) continue;
    if (term.arguments[i] >= row.fields.size()) return false;
    if (!fits(parameters[i], row.fields[term.arguments[i]])) return false;
  }
  return true;
}

// The verifier checks rules field by field, so a register that a rule refers to must belong to an
// earlier field.
constexpr bool refers_to_earlier_registers(const OpcodeRow& row, const Rule& rule, size_t field) {
  const std::span<const Parameter> parameters = kRules[static_cast<size_t>(rule.kind)].parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == Parameter::kNumber) continue;
    if (is_register(row.fields[rule.arguments[i]].type) && rule.arguments[i] >= field) return false;
  }
  return true;
}

constexpr bool applies(RuleKind rule, FieldForm form) {
  const FieldForm expected = kFormsOfRules[static_cast<size_t>(rule)];
  return form == expected || (expected == FieldForm::reg_form && form == FieldForm::regs_form);
}

constexpr bool has_right_rules(const OpcodeRow& row) {
  for (size_t i = 0; i < row.fields.size(); ++i) {
    const FieldRow& field = row.fields[i];
    for (const Rule& rule : field.rules()) {
      const TermRow& term = kRules[static_cast<size_t>(rule.kind)];
      if (!applies(rule.kind, form(field.type))) return false;
      if (!has_right_arguments(row, rule, term.parameters)) return false;
      if (!refers_to_earlier_registers(row, rule, i)) return false;
    }
    if (!field.definition) continue;
    const TermRow& term = kDefinitions[static_cast<size_t>(field.definition->kind)];
    if (!has_right_arguments(row, *field.definition, term.parameters)) return false;
  }
  return true;
}

constexpr bool describes_registers(const OpcodeRow& row) {
  for (const FieldRow& field : row.fields) {
    const bool is_known = !is_read(access(field.type)) || contents_in(field) != Contents::kUnknown;
    if (!is_known || is_written(access(field.type)) != field.definition.has_value()) return false;
    const bool is_slot = form(field.type) == FieldForm::slot_form;
    if (is_slot && !has_rule(field, RuleKind::not_computed)) return false;
  }
  return true;
}

// Whether the row has at most one written field and at most one field that allocates. In assembly,
// all registers before `=` belong to one field. FrameStorages has at most one stack allocation per
// instruction.
constexpr bool is_unambiguous(const OpcodeRow& row) {
  const auto is_target = [](const FieldRow& field) { return access(field.type) == Access::kWrite; };
  const auto allocates_storage = [](const FieldRow& field) {
    return has_rule(field, RuleKind::allocates);
  };
  return std::ranges::count_if(row.fields, is_target) <= 1 &&
         std::ranges::count_if(row.fields, allocates_storage) <= 1;
}

#define FAMILY(first, last, title) +(first <= code && code <= last)
constexpr int families_of(int code) {
  return 0
#include "vm/isa/opcodes.def"
      ;
}

#define OPCODE(name, code, effect, ...)                                                         \
  static_assert(Fields_##name::kFields.size() <= kMaxFields, #name ": raise kMaxFields");       \
  static_assert(families_of(code) == 1, #name ": its code is of no family");                    \
  static_assert(is_unambiguous({Opcode::name, #name, effect, 0, Fields_##name::kFields}),       \
                #name ": more than one field of type dst or dsts, or pool that gives storage"); \
  static_assert(has_right_rules({Opcode::name, #name, effect, 0, Fields_##name::kFields}),      \
                #name ": a rule does not apply to its field, or has other arguments");          \
  static_assert(describes_registers({Opcode::name, #name, effect, 0, Fields_##name::kFields}),  \
                #name                                                                           \
                ": a read register lacks a rule for its contents, or a written one a "          \
                "definition, or a slot the rule not_computed");
#include "vm/isa/opcodes.def"

struct Described {
  std::string_view name;
  std::string_view explanation;
};
constexpr Described kFieldTypes[] = {
#define FIELD_TYPE(token, form, access, type, text) {#token, text},
#include "vm/isa/field_types.def"
};
constexpr std::string_view kFieldForms[] = {
#define FIELD_FORM(token) #token,
#include "vm/isa/field_types.def"
};
constexpr Described kTraits[] = {
#define TRAIT_ROW(name, text) {#name, text},
#include "vm/isa/rules.def"
};

constexpr uint32_t kLargestCode = 255;

// Row index by code; -1 where there is no opcode.
constexpr std::array<int16_t, kLargestCode + 1> row_by_code() {
  std::array<int16_t, kLargestCode + 1> table = {};
  table.fill(-1);
  int16_t row = 0;
  for (const OpcodeRow& each : kRows) table[static_cast<uint16_t>(each.opcode)] = row++;
  return table;
}
constexpr auto kRowByCode = row_by_code();

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }

const OpcodeRow* find_opcode(uint32_t code) {
  if (code > kLargestCode || kRowByCode[code] < 0) return nullptr;
  return &kRows[kRowByCode[code]];
}

const OpcodeRow* find_opcode(std::string_view name) {
  for (const OpcodeRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string_view name(Opcode opcode) {
  const OpcodeRow* row = find_opcode(static_cast<uint32_t>(opcode));
  return row ? row->name : "?";
}
std::string_view name(FieldForm form) { return kFieldForms[static_cast<size_t>(form)]; }
std::string_view name(FieldType type) { return kFieldTypes[static_cast<size_t>(type)].name; }
std::string_view explanation(FieldType type) {
  return kFieldTypes[static_cast<size_t>(type)].explanation;
}

const TermRow& term_row(RuleKind kind) { return kRules[static_cast<size_t>(kind)]; }
const TermRow& term_row(DefinitionKind kind) { return kDefinitions[static_cast<size_t>(kind)]; }
std::string_view name(Trait trait) { return kTraits[static_cast<size_t>(trait)].name; }
std::string_view explanation(Trait trait) {
  return kTraits[static_cast<size_t>(trait)].explanation;
}

}  // namespace scopevm::isa
