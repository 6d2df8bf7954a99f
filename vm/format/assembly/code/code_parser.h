// Parses the body of a function into words. Names and labels can be used before their definition:
// their words are set when all definitions are known.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "vm/format/assembly/code/reference.h"
#include "vm/format/assembly/parser.h"
#include "vm/format/schema/module_contents.h"
#include "vm/isa/opcodes.h"

namespace scopevm::format::assembly {

// A word to be replaced by the table index of a name.
struct PendingReference {
  size_t function = 0;  // index into the module's functions
  size_t word = 0;
  isa::FieldForm form = isa::FieldForm::function_form;
  std::string name;
  size_t offset = 0;  // in the text
};

class CodeParser {
 public:
  // Unresolved names are appended to `pending`, with `index` as the function's index.
  CodeParser(Parser& parser, FunctionDecl& function, size_t index,
             std::vector<PendingReference>& pending)
      : parser_(parser), function_(function), index_(index), pending_(pending) {}

  // Parses from '{' to '}'. Errors are reported to the parser.
  void run();

 private:
  struct LabelUse {
    std::string name;
    size_t word;
    size_t offset;
  };

  void line();
  void directive();
  void bind(const std::string& name, size_t offset);
  void instruction(const std::vector<uint32_t>& written, bool has_written, const std::string& name,
                   size_t offset);
  void value(isa::FieldForm form);
  void int_value();
  void reference(isa::FieldForm form);
  void target();
  void resolve_labels();

  void push(uint32_t word) { function_.code.push_back(word); }
  template <typename Each>
  void list(char open, char close, Each each);

  Parser& parser_;
  FunctionDecl& function_;
  size_t index_;
  std::vector<PendingReference>& pending_;
  std::unordered_map<std::string, uint32_t> labels_;
  std::vector<LabelUse> uses_;
};

}  // namespace scopevm::format::assembly
