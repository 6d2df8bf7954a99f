// scopevm verify, dis, asm: check, disassemble and assemble modules.
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"
#include "tools/scopevm/module_file.h"
#include "tools/scopevm/standard_streams.h"
#include "vm/format/assembler.h"
#include "vm/format/disassembler.h"
#include "vm/format/verify.h"
#include "vm/format/writer.h"

namespace scopevm::tool {
namespace {

Status print_text(const TextOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module, read_module_file(options.input));
  const format::DisassembleOptions format = {.elide_data = options.elide_data};
  return write_file(options.output, format::disassemble(module.contents, format));
}

Status write_assembled(const TextOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile text, map_input(options.input));
  const std::string name = input_name(options.input);
  SCOPEVM_ASSIGN_OR_RETURN(
      const format::ModuleContents module,
      format::assemble({reinterpret_cast<const char*>(text.data), text.size}, name));
  if (Status status = format::verify(module); !status.ok())
    return std::move(status).with_context(name);
  if (options.output != kStandardStream) return format::write_module_file(options.output, module);
  const std::vector<uint8_t> bytes = format::write_module(module);
  write_output({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return {};
}

}  // namespace

int disassemble(const TextOptions& options) { return report(print_text(options)); }

int assemble(const TextOptions& options) { return report(write_assembled(options)); }

int verify(const std::string& path) {
  const Result<Module> module = load_module(path);
  if (!module.ok()) return report(module.status());
  print("{}: ok\n", input_name(path));
  return kExitOk;
}

}  // namespace scopevm::tool
