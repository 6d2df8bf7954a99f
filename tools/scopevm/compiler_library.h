// libscopevm_compiler.so, which only the commands that need the compiler load: the others start
// without LLVM.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

struct CompilerLibrary {
  Result<CompileOutput> (*compile)(const CompileOptions&);
  Result<ShapeExplanation> (*explain_shapes)(const CompileOptions&);
  Result<CopyExplanation> (*explain_copies)(const CompileOptions&);
};

// Errors: kNotFound.
Result<CompilerLibrary> load_compiler();

}  // namespace scopevm::tool
