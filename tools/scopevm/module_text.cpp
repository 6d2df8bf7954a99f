// scopevm verify, dis, asm: modules as text and back.
#include <fmt/format.h>

#include "scopevm/module.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"

namespace scopevm::tool {

int disassemble(const TextOptions&) { return report({StatusCode::kUnsupported, "dis"}); }
int assemble(const TextOptions&) { return report({StatusCode::kUnsupported, "asm"}); }

int verify(const std::string& path) {
  const Result<Module> module = Module::load(path);
  if (!module.is_ok()) return report(module.status());
  fmt::print("{}: ok\n", path);
  return kExitOk;
}

}  // namespace scopevm::tool
