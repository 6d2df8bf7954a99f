// The cache of compiled modules (CompileOptions::cache_folder), a folder with one file per module.
//   key.cpp    the model, the options, the target and the compiler -> the name of the file
//   entry.cpp  reads and writes a file
//   cache.cpp  uses both around a compilation
#pragma once

#include "compiler/pipeline/stages.h"

namespace scopevm::compiler::cache {

// Like pipeline::compile_model(), but takes the module from the cache if that has it, and else adds
// it. Errors: those of compile_model(). Those of the cache are warnings.
Result<pipeline::Compiled> compile_model(pipeline::Context& context);

}  // namespace scopevm::compiler::cache
