#include "tools/scopevm/compiler_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace scopevm::tool {
namespace {

constexpr char kLibrary[] = "libscopevm_compiler.so";
// scopevm::compile(scopevm::CompileOptions const&), and so on
constexpr char kCompile[] = "_ZN7scopevm7compileERKNS_14CompileOptionsE";
constexpr char kExplainShapes[] = "_ZN7scopevm14explain_shapesERKNS_14CompileOptionsE";
constexpr char kExplainCopies[] = "_ZN7scopevm14explain_copiesERKNS_14CompileOptionsE";

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

// The compiler is never unloaded: LLVM does not expect to be.
Result<CompilerLibrary> load_compiler() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string failure;
  for (const auto& folder : {program, program.parent_path() / "lib"}) {
    const std::string path = folder / kLibrary;
    if (!std::filesystem::exists(path, error)) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    CompilerLibrary compiler;
    if (library != nullptr && find(library, kCompile, compiler.compile) &&
        find(library, kExplainShapes, compiler.explain_shapes) &&
        find(library, kExplainCopies, compiler.explain_copies))
      return compiler;
    failure = dlerror();
  }
  if (failure.empty())
    failure =
        fmt::format("{} is neither in {} nor in its neighbour lib", kLibrary, program.string());
  return Status(StatusCode::kNotFound, "the compiler cannot be loaded: " + failure);
}

}  // namespace scopevm::tool
