// The scopevm command. Each file of commands/ registers its command.
#include "tools/command_line/command.h"

int main(int argc, char** argv) { return scopevm::tool::run_program(argc, argv); }
