// Parses directives, labels and instructions, driven by the opcode table; see code_parser.h.
#include "vm/format/assembly/code/code_parser.h"

#include "vm/format/assembly/code/code_printer.h"

namespace scopevm::format::assembly {

using isa::Access;
using isa::FieldForm;
using isa::Int;

void CodeParser::run() {
  parser_.expect('{');
  while (!parser_.has_failed() && !parser_.accept('}')) line();
  if (!parser_.has_failed()) resolve_labels();
}

// Parses a directive, a label, or an instruction with its sources.
void CodeParser::line() {
  if (parser_.accept('.')) return directive();
  size_t offset = parser_.token().offset;
  std::vector<uint32_t> written;
  bool has_written = parser_.token().kind == Token::Kind::kRegister;
  if (has_written) {
    do written.push_back(parser_.register_index());
    while (!parser_.has_failed() && parser_.accept(','));
    parser_.expect('=');
    offset = parser_.token().offset;
  }
  std::string name = parser_.name();
  if (parser_.has_failed()) return;
  if (!has_written && parser_.accept(':')) return bind(name, offset);
  auto start = static_cast<uint32_t>(function_.code.size());
  instruction(written, has_written, name, offset);
  while (!parser_.has_failed() && parser_.accept('!')) {
    SourceDecl& source = function_.sources.emplace_back();
    source.word = start;
    parser_.value(source.name);
  }
}

void CodeParser::directive() {
  if (parser_.accept_word("word")) {
    parser_.value(function_.code.emplace_back());
  } else if (parser_.accept_word("source")) {
    visit(parser_, function_.sources.emplace_back());
  } else {
    parser_.fail_expected("'.word' or '.source'");
  }
}

void CodeParser::bind(const std::string& name, size_t offset) {
  if (!labels_.emplace(name, static_cast<uint32_t>(function_.code.size())).second)
    parser_.fail_at(offset, "duplicate label " + name);
}

void CodeParser::instruction(const std::vector<uint32_t>& written, bool has_written,
                             const std::string& name, size_t offset) {
  const isa::OpcodeRow* row = isa::find_opcode(name);
  if (!row) return parser_.fail_at(offset, "unknown opcode '" + name + "'");
  size_t start = function_.code.size();
  push(0);
  bool takes_written = false;
  for (const isa::FieldRow& field : row->fields) {
    if (isa::access(field.type) == Access::kWrite) {
      takes_written = true;
      if (isa::is_list(field.type))
        push(static_cast<uint32_t>(written.size()));
      else if (written.size() != 1)
        return parser_.fail_at(offset, std::string(name)
                                           .append(" writes one register: expected '%rN = ")
                                           .append(name)
                                           .append("', given ")
                                           .append(std::to_string(written.size()))
                                           .append(" registers"));
      function_.code.insert(function_.code.end(), written.begin(), written.end());
    } else {
      if (is_named(*row, field)) {
        parser_.word(field.name);
        parser_.expect('=');
      }
      value(isa::form(field.type));
    }
    if (parser_.has_failed()) return;
  }
  if (has_written && !takes_written) return parser_.fail_at(offset, name + " writes no register");
  size_t words = function_.code.size() - start;
  if (words > isa::kMaxInstructionWords)
    return parser_.fail_at(offset, name + " has " + std::to_string(words) +
                                       " words, the limit is " +
                                       std::to_string(isa::kMaxInstructionWords));
  function_.code[start] = isa::instruction_word(row->opcode, static_cast<uint32_t>(words));
}

template <typename Each>
void CodeParser::list(char open, char close, Each each) {
  size_t count_at = function_.code.size();
  push(0);
  parser_.separated(open, close, each);
  // The count word precedes the elements. Its value is known only after they have been parsed.
  function_.code[count_at] = static_cast<uint32_t>(function_.code.size() - count_at - 1);
}

void CodeParser::value(FieldForm form) {
  switch (form) {
    case FieldForm::reg_form:
      return push(parser_.register_index());
    case FieldForm::regs_form:
      return list('(', ')', [this] { push(parser_.register_index()); });
    case FieldForm::int_form:
      return int_value();
    case FieldForm::ints_form:
      return list('[', ']', [this] { int_value(); });
    case FieldForm::slot_form:
      return parser_.slot(function_.code.emplace_back());
    case FieldForm::dtype_form: {
      if (parser_.token().kind == Token::Kind::kNumber)
        return parser_.value(function_.code.emplace_back());
      DType dtype = DType::kF32;
      parser_.value(dtype);
      return push(static_cast<uint32_t>(dtype));
    }
    case FieldForm::target_form:
      return target();
    case FieldForm::function_form:
    case FieldForm::shape_fn_form:
    case FieldForm::launch_form:
    case FieldForm::constant_form:
    case FieldForm::pool_form:
    case FieldForm::message_form:
      return reference(form);
  }
}

void CodeParser::int_value() {
  Int value;
  parser_.value(value);
  push(value.word());
}

// Parses @name, @"any name" or #index.
void CodeParser::reference(FieldForm form) {
  if (parser_.accept('#')) return parser_.value(function_.code.emplace_back());
  size_t offset = parser_.token().offset;
  if (!parser_.accept('@')) return parser_.fail_expected("'@' and a name, or '#' and an index");
  std::string name;
  if (parser_.token().kind == Token::Kind::kString)
    parser_.value(name);
  else
    name = parser_.name();
  // Declarations can follow their uses, so names are resolved at the end of the module.
  pending_.push_back({index_, function_.code.size(), form, std::move(name), offset});
  push(0);
}

// Parses a label or a word index.
void CodeParser::target() {
  if (parser_.token().kind == Token::Kind::kNumber)
    return parser_.value(function_.code.emplace_back());
  size_t offset = parser_.token().offset;
  // Labels may be bound later, so uses are resolved at the end of the function.
  uses_.push_back({parser_.name(), function_.code.size(), offset});
  push(0);
}

void CodeParser::resolve_labels() {
  for (const LabelUse& use : uses_) {
    auto label = labels_.find(use.name);
    if (label == labels_.end()) return parser_.fail_at(use.offset, "undefined label " + use.name);
    function_.code[use.word] = label->second;
  }
}

}  // namespace scopevm::format::assembly
