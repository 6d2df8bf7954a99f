// The tree of call stacks of the blocks that are live at the peak.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/lab/plot/history.h"

namespace scopevm::lab {

// {name, bytes, blocks, children}; children by descending bytes. Children below 1/2000 of the peak
// are merged into one, "others".
nlohmann::ordered_json flame_of(const History& history);

}  // namespace scopevm::lab
