// Declares the commands of the group `alloc`; see alloc.h.
#include "tools/scopevm/commands/alloc.h"

namespace scopevm::tool {

void add_alloc(CLI::App& app, std::function<int()>& action) {
  auto* group = app.add_subcommand("alloc", "Plan memory");
  group->require_subcommand(1);
  add_alloc_plan(*group, action);
}

}  // namespace scopevm::tool
