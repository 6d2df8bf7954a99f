// The program that `scopevm compile` and `scopevm explain` start. It links the compiler, so that
// `scopevm` does not load LLVM:
//   options/   the options of both commands -> CompileOptions
//   reports/   the reports of `explain`, as text, JSON and drawings
//   tuning/    the measurements of --tune
#include "tools/command_line/command.h"

int main(int argc, char** argv) { return scopevm::tool::run_program(argc, argv); }
