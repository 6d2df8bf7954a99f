// Generates docs/isa.md from opcodes.def, on standard output.
#include <cstdio>
#include <string>

#include "vm/isa/opcodes.h"

namespace {

using namespace scopevm::isa;

struct Family {
  uint16_t first;
  uint16_t last;
  const char* title;
};
constexpr Family kFamilies[] = {
#define FAMILY(first, last, title) {first, last, title},
#include "vm/isa/opcodes.def"
};

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_field_types() {
  print("| field | one 32-bit word, unless stated otherwise |\n|---|---|\n");
#define FIELD_TYPE(token, form, access, type, text) print("| `" #token "` | " text " |\n");
#include "vm/isa/field_types.def"
}

void print_traits() {
  print("\n| property | |\n|---|---|\n");
#define TRAIT_ROW(name, text) print("| `" #name "` | " text " |\n");
#include "vm/isa/rules.def"
}

// Prints the description of a rule or definition, with its arguments in place of `{N}`.
template <typename Kind>
void print_term(const OpcodeRow& row, const Term<Kind>& term) {
  const TermRow& described = term_row(term.kind);
  std::string text(described.text);
  for (size_t i = 0; i < described.parameters.size(); ++i) {
    const uint8_t argument = term.arguments[i];
    const std::string value = described.parameters[i] == Parameter::kNumber
                                  ? std::to_string(argument)
                                  : std::string(row.fields[argument].name);
    const std::string placeholder = "{" + std::to_string(i) + "}";
    if (const size_t at = text.find(placeholder); at != std::string::npos)
      text.replace(at, placeholder.size(), value);
  }
  print(text);
}

// Prints for example: `of`: src (a tensor)
void print_field(const OpcodeRow& row, const FieldRow& field) {
  print("`");
  print(field.name);
  print("`: ");
  print(name(field.type));
  std::string_view separator = " (";
  for (const Rule& rule : field.rules()) {
    print(separator);
    print_term(row, rule);
    separator = "; ";
  }
  if (field.definition) {
    print(separator);
    if (field.rule_count > 0) print("then: ");
    print_term(row, *field.definition);
    separator = "; ";
  }
  if (separator == "; ") print(")");
}

// Prints the text in backticks. Escapes `|`, which would end the cell of a Markdown table.
void print_code(std::string_view text) {
  print("`");
  for (const char c : text) {
    if (c == '|') print("\\");
    print({&c, 1});
  }
  print("`");
}

void print_family(const Family& family) {
  std::printf(
      "\n## %s\n\n| code | opcode | fields | effect | properties |\n|---|---|---|---|---|\n",
      family.title);
  for (const OpcodeRow& row : opcode_rows()) {
    auto code = static_cast<uint16_t>(row.opcode);
    if (code < family.first || code > family.last) continue;
    std::printf("| %d | `", code);
    print(row.name);
    print("` | ");
    std::string_view separator;
    for (const FieldRow& field : row.fields) {
      print(separator);
      print_field(row, field);
      separator = "<br>";
    }
    print(" | ");
    print_code(row.effect);
    print(" | ");
#define TRAIT_ROW(name, text) \
  if (row.has(Trait::name)) print("`" #name "` ");
#include "vm/isa/rules.def"
    if (row.since != 0) std::printf("since format 0.%d ", row.since);
    print("|\n");
  }
}

}  // namespace

int main() {
  print(
      "# Instructions\n\n"
      "Printed by `isa_docs` from `vm/isa/opcodes.def`; to change it, change the table and run\n"
      "`./dev docs`.\n\n"
      "A function runs in a frame of registers `R` (empty, a storage, a tensor, a list or a "
      "closure\n"
      "each) and 64-bit integer slots `S`. An instruction is one word, `code | word_count << 16`, "
      "then its\n"
      "fields in order. Opcodes are added, never changed.\n\n"
      "Each field has a type. The parentheses contain the rules of the verifier: the required "
      "contents of a\n"
      "register that is read, and the new contents of a register that is written.\n\n");
  print_field_types();
  print_traits();
  for (const Family& family : kFamilies) print_family(family);
  return 0;
}
