// The cache of compiled modules (CompileOptions::cache_folder), a folder with one file per module.
//   key.cpp    the model, the options, the target and the compiler -> the name of the file
//   entry.cpp  reads and writes a file
//   file.cpp   reads regular files only
//   cache.cpp  uses them around a compilation
#pragma once

#include <memory>

#include "compiler/pipeline/stages.h"
#include "llvm/Support/MemoryBuffer.h"

namespace scopevm::compiler::cache {

// Reads the model and sets CompileOptions::model_bytes if the cache is used, so that the key is
// that of the compiled bytes even if the file changes. The result owns the bytes. Null, without an
// effect: the cache is not used, the bytes are known already, or the file cannot be read.
std::unique_ptr<llvm::MemoryBuffer> read_model(CompileOptions& options);

// Like pipeline::compile_model(), but takes the module from the cache if that has it, and else adds
// it. Errors: those of compile_model(). Those of the cache are warnings. REQUIRES: read_model() was
// called.
Result<pipeline::Compiled> compile_model(pipeline::Context& context);

}  // namespace scopevm::compiler::cache
