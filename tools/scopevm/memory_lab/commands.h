// The commands of the memory laboratory: `scopevm alloc record`, `replay`, `compare` and `plot`.
// Each function declares one command in the group `alloc`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace scopevm::lab {

// What the selected command executes; returns the exit code.
using Action = std::function<int()>;

void add_alloc_record(CLI::App& group, Action& action);
void add_alloc_replay(CLI::App& group, Action& action);
void add_alloc_compare(CLI::App& group, Action& action);
void add_alloc_plot(CLI::App& group, Action& action);

}  // namespace scopevm::lab
