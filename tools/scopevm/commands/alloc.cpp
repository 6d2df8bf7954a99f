// Declares the commands of the group `alloc`; see alloc.h.
#include "tools/scopevm/commands/alloc.h"

#include "tools/scopevm/memory_lab/commands.h"

namespace scopevm::tool {

void add_alloc(CLI::App& app, std::function<int()>& action) {
  auto* group =
      app.add_subcommand("alloc", "Plan memory; record, replay, compare and plot allocations");
  group->require_subcommand(1);
  add_alloc_plan(*group, action);
  lab::add_alloc_record(*group, action);
  lab::add_alloc_replay(*group, action);
  lab::add_alloc_compare(*group, action);
  lab::add_alloc_plot(*group, action);
}

}  // namespace scopevm::tool
