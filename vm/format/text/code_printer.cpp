// See the header.
#include "vm/format/text/code_printer.h"

#include <algorithm>
#include <set>

#include "vm/format/text/declarations.h"
#include "vm/format/text/printer.h"
#include "vm/format/text/spelling.h"
#include "vm/isa/instruction.h"

namespace scopevm::format::text {
namespace {

using isa::FieldType;
using isa::Instruction;

bool is_written(FieldType type) {
  return type == FieldType::dst_field || type == FieldType::dsts_field;
}

class CodePrinter {
 public:
  CodePrinter(std::string& out, const FunctionDecl& function, const References& references)
      : out_(out), function_(function), references_(references) {}

  void run() {
    cut();
    bool are_inline = sources_fit();
    if (!are_inline) print_source_lines();
    size_t source = 0;
    for (uint32_t start : starts_) {
      Instruction in = *isa::read_instruction(function_.code, start);
      if (targets_.contains(in.start)) out_ += "  " + label(in.start) + ":\n";
      out_ += "    ";
      print(in);
      for (; are_inline && source < function_.sources.size(); ++source) {
        if (function_.sources[source].word != in.start) break;
        out_ += " !";
        append_quoted(out_, function_.sources[source].name);
      }
      out_ += '\n';
    }
    for (size_t word = end_; word < function_.code.size(); ++word)
      out_ += "    .word " + std::to_string(function_.code[word]) + "\n";
  }

 private:
  // Cuts the code into instructions, and finds which of them are jumped to.
  void cut() {
    std::set<uint32_t> named;
    while (end_ < function_.code.size()) {
      Result<Instruction> in = isa::read_instruction(function_.code, end_);
      if (!in.is_ok()) break;
      starts_.push_back(end_);
      for (const Instruction::Field& field : in->fields())
        if (field.type == FieldType::target_field) named.insert(field.words[0]);
      end_ += in->word_count;
    }
    std::ranges::set_intersection(starts_, named, std::inserter(targets_, targets_.end()));
  }

  // Sources stand behind their instructions if that keeps their order.
  bool sources_fit() const {
    size_t next = 0;
    for (uint32_t start : starts_)
      while (next < function_.sources.size() && function_.sources[next].word == start) ++next;
    return next == function_.sources.size();
  }

  void print_source_lines() {
    for (const SourceDecl& source : function_.sources) {
      out_ += "    .source";
      Printer printer(out_);
      visit_source(printer, source);
      out_ += '\n';
    }
  }

  static std::string label(uint32_t word) { return "L" + std::to_string(word); }

  void print(const Instruction& in) {
    for (const Instruction::Field& field : in.fields()) {
      if (!is_written(field.type) || field.words.empty()) continue;
      print_registers(field.words);
      out_ += " = ";
    }
    out_ += in.row->name;
    for (size_t i = 0; i < in.fields().size(); ++i) {
      const Instruction::Field& field = in.fields()[i];
      if (is_written(field.type)) continue;
      out_ += ' ';
      if (is_named(*in.row, in.row->fields[i])) out_ += std::string(field.name) + "=";
      print_value(field);
    }
  }

  void print_registers(std::span<const uint32_t> words) {
    std::string_view separator;
    for (uint32_t word : words) {
      out_ += separator;
      out_ += "%r" + std::to_string(word);
      separator = ", ";
    }
  }

  static std::string int_text(uint32_t word) {
    isa::Int value = isa::Int::from_word(word);
    return value.is_slot() ? "s" + std::to_string(value.slot_index().value)
                           : std::to_string(value.immediate_value());
  }

  void print_value(const Instruction::Field& field) {
    if (References::is_reference(field.type)) {
      out_ += references_.print(field.type, field.words[0]);
      return;
    }
    switch (field.type) {
      case FieldType::src_field:
        return print_registers(field.words);
      case FieldType::regs_field:
        out_ += '(';
        print_registers(field.words);
        out_ += ')';
        return;
      case FieldType::int_field:
        out_ += int_text(field.words[0]);
        return;
      case FieldType::ints_field: {
        out_ += '[';
        std::string_view separator;
        for (uint32_t word : field.words) {
          out_ += separator;
          out_ += int_text(word);
          separator = ", ";
        }
        out_ += ']';
        return;
      }
      case FieldType::slot_field:
        out_ += "s" + std::to_string(field.words[0]);
        return;
      case FieldType::dtype_field:
        out_ += field.words[0] < kDTypeCount
                    ? std::string(scopevm::name(static_cast<DType>(field.words[0])))
                    : std::to_string(field.words[0]);
        return;
      case FieldType::target_field:
        out_ += targets_.contains(field.words[0]) ? label(field.words[0])
                                                  : std::to_string(field.words[0]);
        return;
      default:
        return;
    }
  }

  std::string& out_;
  const FunctionDecl& function_;
  const References& references_;
  std::vector<uint32_t> starts_;
  std::set<uint32_t> targets_;
  uint32_t end_ = 0;  // where the instructions end
};

}  // namespace

bool is_named(const isa::OpcodeRow& row, const isa::FieldRow& field) {
  if (field.type == FieldType::int_field || field.type == FieldType::slot_field) return true;
  return std::ranges::count(row.fields, field.type, &isa::FieldRow::type) > 1;
}

void append_code(std::string& out, const FunctionDecl& function, const References& references) {
  CodePrinter(out, function, references).run();
}

}  // namespace scopevm::format::text
