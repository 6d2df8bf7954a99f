// scopevm verify, dis, asm: check, disassemble and assemble modules.
#include <fmt/format.h>

#include "runtime/mapped_file.h"
#include "scopevm/module.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"
#include "vm/format/assembler.h"
#include "vm/format/disassembler.h"
#include "vm/format/reader.h"
#include "vm/format/verify.h"
#include "vm/format/writer.h"

namespace scopevm::tool {
namespace {

Status print_text(const TextOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(options.input));
  Result<format::ModuleContents> module = format::read_module({file.owner, file.data, file.size});
  if (!module.ok()) return std::move(module).status().with_context(options.input);
  const std::string text = format::disassemble(*module, {.elide_data = options.elide_data});
  if (!options.output.empty())
    return write_file(options.output, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  fmt::print("{}", text);
  return {};
}

Status write_assembled(const TextOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> text, read_file(options.input));
  SCOPEVM_ASSIGN_OR_RETURN(
      const format::ModuleContents module,
      format::assemble({reinterpret_cast<const char*>(text.data()), text.size()}, options.input));
  if (Status status = format::verify(module); !status.ok())
    return std::move(status).with_context(options.input);
  if (options.output == "-") return write_file(options.output, format::write_module(module));
  return format::write_module_file(options.output, module);
}

}  // namespace

int disassemble(const TextOptions& options) { return report(print_text(options)); }

int assemble(const TextOptions& options) { return report(write_assembled(options)); }

int verify(const std::string& path) {
  const Result<Module> module = Module::load(path);
  if (!module.ok()) return report(module.status());
  fmt::print("{}: ok\n", path);
  return kExitOk;
}

}  // namespace scopevm::tool
