// Parses declarations in any order, then resolves names.
#include "vm/format/assembly/assembler.h"

#include <algorithm>

#include "runtime/count_text.h"
#include "vm/format/assembly/code/code_parser.h"
#include "vm/format/assembly/code/reference.h"
#include "vm/format/assembly/parser.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/weights.h"

namespace scopevm::format {
namespace {

using assembly::Parser;

// Appends the next declaration to the list whose word it starts with. Then calls rest(record).
template <typename Rest>
class DeclarationParser : public ListVisitor {
 public:
  DeclarationParser(Parser& parser, Rest rest) : parser_(parser), rest_(rest) {}

  bool is_found() const { return is_found_; }

  template <typename Record>
  void list(std::string_view, std::vector<Record>& records, std::string_view word) {
    if (is_found_ || word.empty() || !parser_.accept_word(word)) return;
    is_found_ = true;
    Record& record = records.emplace_back();
    if constexpr (std::same_as<Record, std::string>)
      parser_.value(record);
    else
      visit(parser_, record);
    rest_(record);
  }

 private:
  Parser& parser_;
  Rest rest_;
  bool is_found_ = false;
};

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string_view file_name) : parser_(text, file_name) {}

  Result<ModuleContents> run() {
    header();
    while (!parser_.has_failed() && parser_.token().kind != assembly::Token::Kind::kEnd)
      declaration();
    if (!parser_.has_failed()) resolve();
    if (parser_.has_failed()) return parser_.take_status();
    return std::move(module_);
  }

 private:
  void header() {
    parser_.word("scopevm_module");
    const std::string known = version_text(kVersionMajor, kVersionMinor);
    if (parser_.token().kind != assembly::Token::Kind::kNumber)
      parser_.fail_expected("a version, like " + known);
    else if (parser_.token().text != known)
      parser_.fail("unsupported module format " + parser_.token().text + ", expected " + known);
    parser_.advance();
    parser_.named("producer", module_.producer);
  }

  void declaration() {
    const auto rest = [this](auto& record) { parse_rest(record); };
    if (parse_declaration(module_, rest)) return;
    DeclarationParser section(parser_, rest);
    section.list("sections", module_.sections, "section");
    if (!section.is_found()) parser_.fail_expected("a declaration");
  }

  // Parses the part of a declaration that follows the members.
  template <typename Record>
  void parse_rest(Record& record) {
    if constexpr (std::same_as<Record, SectionDecl>) check_section(record);
    if constexpr (HasData<Record>)
      data(record.bytes);
    else if constexpr (std::same_as<Record, FunctionDecl>)
      block([&] { function_part(record); });
    else if constexpr (std::same_as<Record, ShapeFunctionDecl>)
      block([&] { part(record, "'check'"); });
    else if constexpr (std::same_as<Record, VariantDecl>)
      block([&] { part(record, "'dimension'"); });
  }

  void check_section(const SectionDecl& section) {
    if (!is_section_name(section.name))
      return parser_.fail(
          "invalid name of a section: expected up to 16 letters, digits, '_', '-' "
          "and '.'");
    if (is_weights_section(section.name))
      return parser_.fail("section \"" + section.name +
                          "\" is reserved; option --weights of asm writes it");
    const bool is_last = std::ranges::find(module_.sections, section.name, &SectionDecl::name) ==
                             module_.sections.end() - 1 &&
                         std::ranges::find(kSectionNames, section.name) == std::end(kSectionNames);
    if (!is_last) parser_.fail("section \"" + section.name + "\" is defined twice");
    if (kSectionCount + module_.sections.size() > kMostSections) parser_.fail("too many sections");
  }

  // Calls each() for every declaration of a block.
  void block(auto each) {
    parser_.expect('{');
    while (!parser_.has_failed() && !parser_.accept('}')) each();
  }

  void function_part(FunctionDecl& function) {
    if (parser_.accept_word("code"))
      assembly::CodeParser(parser_, function, module_.functions.size() - 1, pending_).run();
    else
      part(function, "a declaration of a function");
  }

  void part(auto& record, std::string_view expected) {
    if (!parse_declaration(record, [](auto&) {})) parser_.fail_expected(expected);
  }

  // Parses a declaration of one of the record's lists. Returns false if the next word starts none.
  bool parse_declaration(auto& record, auto rest) {
    DeclarationParser declaration(parser_, rest);
    visit(declaration, record);
    return declaration.is_found();
  }

  void data(Bytes& bytes) {
    parser_.word("bytes");
    uint64_t size = 0;
    size_t offset = parser_.token().offset;
    parser_.value(size);
    if (parser_.is_word("elided"))
      return parser_.fail("the data is elided; disassemble the module without --no-data");
    std::vector<uint8_t> decoded = parser_.base64();
    if (parser_.has_failed()) return;
    if (decoded.size() != size)
      return parser_.fail_at(offset, "expected " + runtime::count_text(size, "byte") + ", given " +
                                         std::to_string(decoded.size()));
    bytes = aligned_copy(decoded.data(), decoded.size());
    if (bytes.size != size)
      parser_.fail_at(offset,
                      "out of memory for " + runtime::count_text(size, "byte") + " of data");
  }

  void resolve() {
    assembly::References references(module_);
    for (const assembly::PendingReference& pending : pending_) {
      std::optional<uint32_t> index = references.find(pending.form, pending.name);
      if (!index)
        return parser_.fail_at(pending.offset, "undefined " + std::string(isa::name(pending.form)) +
                                                   " \"" + pending.name + "\"");
      module_.functions[pending.function].code[pending.word] = *index;
    }
  }

  Parser parser_;
  ModuleContents module_;
  std::vector<assembly::PendingReference> pending_;
};

}  // namespace

Result<ModuleContents> assemble(std::string_view text, std::string_view file_name) {
  return ModuleParser(text, file_name).run();
}

}  // namespace scopevm::format
