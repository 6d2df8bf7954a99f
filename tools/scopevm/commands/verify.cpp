// scopevm verify: checks a module.
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"

namespace scopevm::tool {
namespace {

struct VerifyOptions {
  std::string module;
};

void declare(CLI::App& command, VerifyOptions& options) {
  command.add_option("MODULE", options.module, "Module file")->required();
}

int verify(const VerifyOptions& options) {
  const Result<Module> module = load_module(options.module);
  if (!module.ok()) return report(module.status());
  print("{}: ok\n", input_name(options.module));
  return kExitOk;
}

const Command<VerifyOptions> registered({.position = 80,
                                         .name = "verify",
                                         .description = "Check a module's checksums and bytecode"},
                                        declare, verify);

}  // namespace
}  // namespace scopevm::tool
