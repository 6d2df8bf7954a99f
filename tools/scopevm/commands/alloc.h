// The group of commands for allocators and memory plans: `scopevm alloc COMMAND`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace scopevm::tool {

void add_alloc(CLI::App& app, std::function<int()>& action);

// Each function declares one command of the group. The callback of the selected command sets
// `action`.
void add_alloc_plan(CLI::App& group, std::function<int()>& action);

}  // namespace scopevm::tool
