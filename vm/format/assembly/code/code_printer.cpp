// Prints instructions as the opcode table describes them, with labels for jump targets; see
// code_printer.h.
#include "vm/format/assembly/code/code_printer.h"

#include <algorithm>
#include <set>

#include "vm/format/assembly/printer.h"
#include "vm/format/assembly/spelling.h"
#include "vm/isa/instruction.h"

namespace scopevm::format::assembly {
namespace {

using isa::Access;
using isa::FieldForm;
using isa::Instruction;

class CodePrinter {
 public:
  CodePrinter(std::string& out, const FunctionDecl& function, const References& references)
      : out_(out), function_(function), references_(references) {}

  void run() {
    find_instructions();
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

  // REQUIRES: `out` is empty. Its contents are unspecified afterwards.
  std::vector<CodeLine> lines() {
    find_instructions();
    std::vector<CodeLine> lines;
    for (uint32_t start : starts_) {
      out_.clear();
      print(*isa::read_instruction(function_.code, start));
      for (const SourceDecl& source : function_.sources) {
        if (source.word != start) continue;
        out_ += " !";
        append_quoted(out_, source.name);
      }
      lines.push_back({start, targets_.contains(start), out_});
    }
    return lines;
  }

 private:
  // Splits the code into instructions and collects the jump targets.
  void find_instructions() {
    std::set<uint32_t> named;
    while (end_ < function_.code.size()) {
      Result<Instruction> in = isa::read_instruction(function_.code, end_);
      if (!in.ok()) break;
      starts_.push_back(end_);
      for (const Instruction::Field& field : in->fields())
        if (field.form() == FieldForm::target_form) named.insert(field.words[0]);
      end_ += in->word_count;
    }
    // A target that is not the start of an instruction has no label and is printed as a number, so
    // that invalid code can be assembled again to the same words.
    std::ranges::set_intersection(starts_, named, std::inserter(targets_, targets_.end()));
  }

  // Whether printing each source after its instruction preserves the order of the sources.
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
      visit(printer, source);
      out_ += '\n';
    }
  }

  static std::string label(uint32_t word) { return "L" + std::to_string(word); }

  void print(const Instruction& in) {
    for (const Instruction::Field& field : in.fields()) {
      if (field.access() != Access::kWrite || field.words.empty()) continue;
      print_registers(field.words);
      out_ += " = ";
    }
    out_ += in.row->name;
    for (const Instruction::Field& field : in.fields()) {
      if (field.access() == Access::kWrite) continue;
      out_ += ' ';
      if (is_named(*in.row, *field.row)) out_ += std::string(field.name()) + "=";
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

  void print_value(const Instruction::Field& field) {
    switch (field.form()) {
      case FieldForm::reg_form:
        return print_registers(field.words);
      case FieldForm::regs_form:
        out_ += '(';
        print_registers(field.words);
        out_ += ')';
        return;
      case FieldForm::int_form:
        out_ += int_text({field.words[0]});
        return;
      case FieldForm::ints_form: {
        out_ += '[';
        std::string_view separator;
        for (uint32_t word : field.words) {
          out_ += separator;
          out_ += int_text({word});
          separator = ", ";
        }
        out_ += ']';
        return;
      }
      case FieldForm::slot_form:
        out_ += "s" + std::to_string(field.words[0]);
        return;
      case FieldForm::dtype_form:
        out_ += field.words[0] < kDTypeCount
                    ? std::string(scopevm::name(static_cast<DType>(field.words[0])))
                    : std::to_string(field.words[0]);
        return;
      case FieldForm::target_form:
        out_ += targets_.contains(field.words[0]) ? label(field.words[0])
                                                  : std::to_string(field.words[0]);
        return;
      case FieldForm::function_form:
      case FieldForm::shape_fn_form:
      case FieldForm::launch_form:
      case FieldForm::constant_form:
      case FieldForm::pool_form:
      case FieldForm::message_form:
        out_ += references_.print(field.form(), field.words[0]);
        return;
    }
  }

  std::string& out_;
  const FunctionDecl& function_;
  const References& references_;
  std::vector<uint32_t> starts_;
  std::set<uint32_t> targets_;
  uint32_t end_ = 0;  // word index after the last decodable instruction
};

}  // namespace

bool is_named(const isa::OpcodeRow& row, const isa::FieldRow& field) {
  const FieldForm form = isa::form(field.type);
  if (form == FieldForm::int_form || form == FieldForm::slot_form) return true;
  return std::ranges::count_if(row.fields, [form](const isa::FieldRow& other) {
           return isa::form(other.type) == form && isa::access(other.type) != Access::kWrite;
         }) > 1;
}

std::vector<CodeLine> code_lines(const FunctionDecl& function, const References& references) {
  std::string line;
  return CodePrinter(line, function, references).lines();
}

void append_code(std::string& out, const FunctionDecl& function, const References& references) {
  CodePrinter(out, function, references).run();
}

}  // namespace scopevm::format::assembly
