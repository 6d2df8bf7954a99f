// scopevm dis: disassembles a module.
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"
#include "vm/format/assembly/disassembler.h"

namespace scopevm::tool {
namespace {

struct DisassembleOptions {
  std::string input;
  std::string output = std::string(kStandardStream);
  bool elide_data = false;
};

void declare(CLI::App& command, DisassembleOptions& options) {
  command.add_option("MODULE", options.input, "Module file")->required();
  command.add_option("-o,--output", options.output, "Output file (default: -)");
  command.add_flag("--no-data", options.elide_data,
                   "Omit the bytes of constants and images; the output cannot be assembled");
}

Status print_text(const DisassembleOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module, read_module_file(options.input));
  const format::DisassembleOptions format = {.elide_data = options.elide_data};
  return write_file(options.output, format::disassemble(module.contents, format));
}

int disassemble(const DisassembleOptions& options) { return report(print_text(options)); }

const Command<DisassembleOptions> disassemble_command(
    {.position = 60, .name = "dis", .description = "Disassemble a module"}, declare, disassemble);

}  // namespace
}  // namespace scopevm::tool
