// scopevm verify: checks a module, and with --key its signature.
#include "vm/signature/verify.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"

namespace scopevm::tool {
namespace {

struct VerifyOptions {
  std::string module;
  std::vector<std::string> keys;
  std::string signature;
};

void declare(CLI::App& command, VerifyOptions& options) {
  command.add_option("MODULE", options.module, "Module file")->required();
  CLI::Option* const keys =
      command
          .add_option("--key", options.keys,
                      "File of a public key: check that this key, or one of several, signed the "
                      "module")
          ->type_name("FILE")
          ->allow_extra_args(false);
  command
      .add_option("--signature", options.signature, "File of the signature (default: MODULE.sig)")
      ->type_name("FILE")
      ->needs(keys);
}

Result<std::string> text_of(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  return std::string(bytes.begin(), bytes.end());
}

Result<LoadOptions> load_options(const VerifyOptions& options) {
  LoadOptions load;
  for (const std::string& key : options.keys) {
    SCOPEVM_ASSIGN_OR_RETURN(load.public_keys.emplace_back(), text_of(key));
    // Errors of load() name the module.
    Status is_key = signature::check_public_key(load.public_keys.back());
    if (!is_key.ok()) return std::move(is_key).with_context(key);
  }
  if (options.signature.empty()) return load;
  SCOPEVM_ASSIGN_OR_RETURN(load.signature, text_of(options.signature));
  return load;
}

Status check(const VerifyOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const LoadOptions load, load_options(options));
  const Result<Module> module = load_module(options.module, load);
  if (!module.ok()) return module.status();
  print("{}: {}\n", input_name(options.module), options.keys.empty() ? "ok" : "ok, signed");
  return {};
}

int verify(const VerifyOptions& options) { return report(check(options)); }

const Command<VerifyOptions> verify_command(
    {.position = 80,
     .name = "verify",
     .description = "Check a module's checksums and bytecode, and its signature"},
    declare, verify);

}  // namespace
}  // namespace scopevm::tool
