// opcodes.def -> docs/isa.md, on standard output.
#include <cstdio>

#include "vm/isa/opcodes.h"

namespace {

using namespace scopevm::isa;

// The families of opcodes, by their codes.
struct Family {
  uint16_t first;
  uint16_t last;
  const char* title;
};
constexpr Family kFamilies[] = {{1, 15, "Control"},
                                {16, 31, "Memory"},
                                {32, 47, "Compute"},
                                {48, 63, "Shapes"},
                                {64, 79, "Values"}};

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_field_types() {
  print("| field | one 32-bit word, unless said |\n|---|---|\n");
#define FIELD_TYPE(token, type, text) print("| `" #token "` | " text " |\n");
#include "vm/isa/field_types.def"
#undef FIELD_TYPE
}

void print_family(const Family& family) {
  std::printf("\n## %s\n\n| code | opcode | fields | effect |\n|---|---|---|---|\n", family.title);
  for (const OpcodeRow& row : opcode_rows()) {
    auto code = static_cast<uint16_t>(row.opcode);
    if (code < family.first || code > family.last) continue;
    std::printf("| %d | `", code);
    print(row.name);
    print("` | ");
    std::string_view separator;
    for (const FieldRow& field : row.fields) {
      print(separator);
      print("`");
      print(field.name);
      print("`: ");
      print(name(field.type));
      separator = ", ";
    }
    print(" | ");
    print(row.effect);
    print(" |\n");
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
      "fields in order. Codes are frozen once released.\n\n");
  print_field_types();
  for (const Family& family : kFamilies) print_family(family);
  return 0;
}
