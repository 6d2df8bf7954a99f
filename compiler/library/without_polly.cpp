// libLLVMLTO.a refers to Polly, whose library is in another package. scopevm links no bitcode, so
// this function is never called.
#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }
