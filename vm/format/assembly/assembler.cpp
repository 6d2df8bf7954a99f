// Parses declarations in any order, then resolves names.
#include "vm/format/assembler.h"

#include "runtime/count_text.h"
#include "vm/format/assembly/code_parser.h"
#include "vm/format/assembly/declarations.h"
#include "vm/format/assembly/parser.h"
#include "vm/format/assembly/reference.h"
#include "vm/format/layout.h"

namespace scopevm::format {
namespace {

using assembly::Parser;

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
    const std::string known = std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor);
    if (parser_.token().kind != assembly::Token::Kind::kNumber)
      parser_.fail_expected("a version, like " + known);
    else if (parser_.token().text != known)
      parser_.fail("unsupported module format " + parser_.token().text + ", expected " + known);
    parser_.advance();
    parser_.word("producer");
    parser_.string(module_.producer);
  }

  void declaration() {
    if (parser_.accept_word("device"))
      assembly::visit_device(parser_, module_.devices.emplace_back());
    else if (parser_.accept_word("pool"))
      assembly::visit_pool(parser_, module_.pools.emplace_back());
    else if (parser_.accept_word("kernel"))
      assembly::visit_kernel(parser_, module_.kernels.emplace_back());
    else if (parser_.accept_word("launch"))
      assembly::visit_launch(parser_, module_.launches.emplace_back());
    else if (parser_.accept_word("message"))
      parser_.string(module_.messages.emplace_back());
    else if (parser_.accept_word("string"))
      parser_.string(module_.strings.emplace_back());
    else if (parser_.accept_word("shape_function"))
      shape_function(module_.shape_functions.emplace_back());
    else if (parser_.accept_word("function"))
      function(module_.functions.emplace_back());
    else if (parser_.accept_word("variant"))
      variant(module_.variants.emplace_back());
    else if (parser_.accept_word("constant"))
      constant(module_.constants.emplace_back());
    else if (parser_.accept_word("image"))
      image(module_.images.emplace_back());
    else
      parser_.fail_expected("a declaration");
  }

  void shape_function(ShapeFunctionDecl& function) {
    assembly::visit_shape_function(parser_, function);
    parser_.expect('{');
    while (!parser_.has_failed() && !parser_.accept('}')) {
      parser_.word("check");
      assembly::visit_check(parser_, function.checks.emplace_back());
    }
  }

  void function(FunctionDecl& function) {
    assembly::visit_function(parser_, function);
    parser_.expect('{');
    while (!parser_.has_failed() && !parser_.accept('}')) {
      if (parser_.accept_word("dimension"))
        assembly::visit_dimension(parser_, function.dimensions.emplace_back());
      else if (parser_.accept_word("input"))
        assembly::visit_tensor(parser_, function.inputs.emplace_back());
      else if (parser_.accept_word("output"))
        assembly::visit_tensor(parser_, function.outputs.emplace_back());
      else if (parser_.accept_word("definition"))
        assembly::visit_definition(parser_, function.definitions.emplace_back());
      else if (parser_.accept_word("memory"))
        assembly::visit_memory(parser_, function.memory.emplace_back());
      else if (parser_.accept_word("code"))
        assembly::CodeParser(parser_, function, module_.functions.size() - 1, pending_).run();
      else
        parser_.fail_expected("a declaration of a function");
    }
  }

  void variant(VariantDecl& variant) {
    assembly::visit_variant(parser_, variant);
    parser_.expect('{');
    while (!parser_.has_failed() && !parser_.accept('}')) {
      parser_.word("dimension");
      assembly::visit_dimension(parser_, variant.dimensions.emplace_back());
    }
  }

  void constant(ConstantDecl& constant) {
    assembly::visit_constant(parser_, constant);
    data(constant.bytes);
  }

  void image(ImageDecl& image) {
    assembly::visit_image(parser_, image);
    data(image.bytes);
  }

  void data(Bytes& bytes) {
    parser_.word("bytes");
    uint64_t size = 0;
    size_t offset = parser_.token().offset;
    parser_.number(size);
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
