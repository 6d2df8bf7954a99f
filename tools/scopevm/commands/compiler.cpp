// scopevm compile and scopevm explain: commands of the program that links the compiler.
#include <sys/mman.h>

#include <filesystem>
#include <system_error>

#include "tools/command_line/command.h"
#include "tools/compile/program.h"
#include "tools/files/own_files.h"

namespace scopevm::tool {
namespace {

constexpr char kLibrary[] = "libscopevm_compiler.so." SCOPEVM_SOVERSION;

// Fails if a process cannot map the compiler library and allocate this much more: the dynamic
// loader and the static initialisers of LLVM end a process whose allocation fails.
Status check_memory() {
  constexpr size_t kInitialisers = size_t{32} << 20;
  const Result<std::string> library = find_own_library(kLibrary);
  if (!library.ok()) return {};  // the dynamic loader searches other folders, too
  std::error_code error;
  const size_t bytes = std::filesystem::file_size(*library, error) + kInitialisers;
  if (error) return {};  // the dynamic loader reports it
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED)
    return {StatusCode::kOutOfMemory,
            "the compiler cannot be loaded: " + *library + ": out of memory"};
  munmap(reserved, bytes);
  return {};
}

const ForwardedCommand compile(kCompile, kCompileProgram, check_memory);
const ForwardedCommand explain(kExplain, kCompileProgram, check_memory);

}  // namespace
}  // namespace scopevm::tool
