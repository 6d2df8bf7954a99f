// A program whose only command is that of docs/adding-a-command.md.
#include "tools/command_line/command.h"

int main(int argc, char** argv) { return scopevm::tool::run_program(argc, argv); }
