// scopevm sign: signs a module, or makes a pair of keys.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"
#include "vm/signature/sign.h"
#include "vm/signature/verify.h"

namespace scopevm::tool {
namespace {

struct SignOptions {
  std::string module;
  std::string key;
  std::string output;
  std::string comment = "scopevm module";
  std::string new_key;
};

void declare(CLI::App& command, SignOptions& options) {
  CLI::Option* const new_key =
      command
          .add_option("--new-key", options.new_key,
                      "Make a pair of keys: the secret key NAME.key and the public key NAME.pub")
          ->type_name("NAME")
          ->check(not_empty());
  CLI::Option* const module =
      command.add_option("MODULE", options.module, "Module file")->excludes(new_key);
  CLI::Option* const key =
      command.add_option("--key", options.key, "File of the secret key")->type_name("FILE");
  key->needs(module);
  module->needs(key);
  command.add_option("-o,--output", options.output, "File of the signature (default: MODULE.sig)")
      ->type_name("FILE")
      ->needs(key);
  command.add_option("--comment", options.comment, "Line of text to sign with the module")
      ->capture_default_str()
      ->check(one_line())
      ->needs(key);
}

// Writes a new file; fails if the file exists.
Status write_new(const std::string& path, const std::string& text, mode_t mode) {
  const auto failure = [&] {
    return Status(StatusCode::kInvalidArgument, path + ": cannot write: " + std::strerror(errno));
  };
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) return failure();
  std::FILE* const file = fdopen(descriptor, "w");
  if (file == nullptr) return failure();
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0 && is_written) ? Status() : failure();
}

Status make_keys(const std::string& name) {
  constexpr mode_t kOnlyOwner = 0600, kReadable = 0644;
  SCOPEVM_ASSIGN_OR_RETURN(const signature::KeyPair pair, signature::make_key_pair());
  SCOPEVM_RETURN_IF_ERROR(write_new(name + ".key", pair.secret_key, kOnlyOwner));
  return write_new(name + ".pub", pair.public_key, kReadable);
}

Status sign_module(const SignOptions& options) {
  const std::string output =
      options.output.empty() ? options.module + signature::kSuffix : options.output;
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(output, {options.module, options.key}));
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> key, read_file(options.key));
  // Other files than modules are rejected.
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module, read_module_file(options.module));
  Result<std::string> signature =
      signature::sign({module.file.data, module.file.size},
                      {reinterpret_cast<const char*>(key.data()), key.size()}, options.comment);
  if (!signature.ok()) return std::move(signature).status().with_context(options.key);
  return write_file(output, *signature);
}

Status run_sign(const SignOptions& options) {
  return options.new_key.empty() ? sign_module(options) : make_keys(options.new_key);
}

int sign(const SignOptions& options) {
  if (options.new_key.empty() && options.module.empty())
    return report_usage("expected MODULE and --key FILE, or --new-key NAME");
  if (options.module == kStandardStream && options.output.empty())
    return report_usage("a module from standard input needs --output");
  return report(run_sign(options));
}

const Command<SignOptions> sign_command({.position = 82,
                                         .name = "sign",
                                         .description = "Sign a module, or make a pair of keys"},
                                        declare, sign);

}  // namespace
}  // namespace scopevm::tool
