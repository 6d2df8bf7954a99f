// Prints declarations, one per line. Constants and images are last, because their data is long.
#include "vm/format/assembly/disassembler.h"

#include "vm/format/assembly/code/code_printer.h"
#include "vm/format/assembly/code/reference.h"
#include "vm/format/assembly/printer.h"
#include "vm/format/binary/layout.h"

namespace scopevm::format {
namespace {

using assembly::Printer;

// Prints the lists of a record as declarations in its block.
class BlockPrinter : public ListVisitor {
 public:
  BlockPrinter(std::string& out, Printer& printer) : out_(out), printer_(printer) {}

  void list(std::string_view, const auto& records, std::string_view word) {
    if (word.empty()) return;
    for (const auto& record : records) {
      out_ += "  ";
      out_ += word;
      visit(printer_, record);
      out_ += '\n';
    }
  }

 private:
  std::string& out_;
  Printer& printer_;
};

class ModulePrinter : public ListVisitor {
 public:
  ModulePrinter(const ModuleContents& module, const DisassembleOptions& options)
      : module_(module), options_(options), references_(module), printer_(out_) {}

  std::string run() {
    out_ += "scopevm_module " + version_text(kVersionMajor, kVersionMinor);
    printer_.named("producer", module_.producer);
    out_ += "\n\n";
    visit(*this, module_);
    list("sections", module_.sections, "section");
    return std::move(out_);
  }

  // Prints the declarations of a list.
  template <typename Record>
  void list(std::string_view, const std::vector<Record>& records, std::string_view word) {
    if constexpr (std::same_as<Record, ConstantDecl>) out_ += '\n';
    for (const Record& record : records) {
      if (has_block<Record>) out_ += '\n';
      out_ += word;
      if constexpr (std::same_as<Record, std::string>)
        printer_.value(record);
      else
        visit(printer_, record);
      print_rest(record);
    }
  }

 private:
  template <typename Record>
  static constexpr bool has_block =
      std::same_as<Record, ShapeFunctionDecl> || std::same_as<Record, FunctionDecl> ||
      std::same_as<Record, VariantDecl>;

  // Prints the part of a declaration that follows the members.
  template <typename Record>
  void print_rest(const Record& record) {
    if constexpr (HasData<Record>) return print(record.bytes);
    if constexpr (has_block<Record>) {
      out_ += " {\n";
      BlockPrinter block(out_, printer_);
      visit(block, record);
      if constexpr (std::same_as<Record, FunctionDecl>) print_code(record);
      out_ += '}';
    }
    out_ += '\n';
  }

  void print_code(const FunctionDecl& function) {
    out_ += "  code {\n";
    assembly::append_code(out_, function, references_);
    out_ += "  }\n";
  }

  void print(const Bytes& bytes) {
    printer_.word("bytes");
    printer_.value(bytes.size);
    if (options_.elide_data) {
      out_ += " elided\n";
      return;
    }
    out_ += " {\n";
    assembly::append_base64(out_, bytes.data, bytes.size, "  ");
    out_ += "}\n";
  }

  const ModuleContents& module_;
  const DisassembleOptions& options_;
  assembly::References references_;
  std::string out_;
  Printer printer_;
};

}  // namespace

std::string disassemble(const ModuleContents& module, const DisassembleOptions& options) {
  return ModulePrinter(module, options).run();
}

}  // namespace scopevm::format
