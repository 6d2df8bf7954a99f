// scopevm asm: assembles a module.
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/files/weights_file.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::tool {
namespace {

struct AssembleOptions {
  std::string input;
  std::string output;
  std::string weights;
};

void declare(CLI::App& command, AssembleOptions& options) {
  command.add_option("ASSEMBLY", options.input, "Assembly file, as printed by dis")->required();
  command.add_option("-o,--output", options.output, "Output module file")->required();
  command.add_option("--weights", options.weights, kWeightsHelp)->type_name("FILE");
}

Status write_assembled(const AssembleOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.output, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(options.output));
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(options.weights, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(check_weights_path(options.weights, options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile text, map_input(options.input));
  const std::string name = input_name(options.input);
  SCOPEVM_ASSIGN_OR_RETURN(
      const format::ModuleContents module,
      format::assemble({reinterpret_cast<const char*>(text.data), text.size}, name));
  if (Status status = format::verify(module); !status.ok())
    return std::move(status).with_context(name);
  if (!options.weights.empty()) return write_with_weights(options.output, options.weights, module);
  if (options.output != kStandardStream) return format::write_module_file(options.output, module);
  const std::vector<uint8_t> bytes = format::write_module(module);
  write_output({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return {};
}

int assemble(const AssembleOptions& options) { return report(write_assembled(options)); }

const Command<AssembleOptions> assemble_command(
    {.position = 70, .name = "asm", .description = "Assemble a module"}, declare, assemble);

}  // namespace
}  // namespace scopevm::tool
