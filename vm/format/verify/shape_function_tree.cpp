// The shape functions of a module as a forest; see stages.h.
#include "vm/format/verify/stages.h"

namespace scopevm::format {

ShapeFunctionTree::ShapeFunctionTree(const ModuleContents& module)
    : positions_(module.shape_functions.size()), sizes_(module.shape_functions.size(), 1) {
  for (const ShapeFunctionDecl& function : module.shape_functions)
    parents_.push_back(function.follows);
  // A parent precedes its children in the table.
  for (size_t i = parents_.size(); i-- > 0;)
    if (parents_[i] != kNone) sizes_[static_cast<size_t>(parents_[i])] += sizes_[i];
  std::vector<uint32_t> next(parents_.size());  // the position of the next child
  uint32_t next_root = 0;
  for (size_t i = 0; i < parents_.size(); ++i) {
    uint32_t& position = parents_[i] == kNone ? next_root : next[static_cast<size_t>(parents_[i])];
    positions_[i] = position;
    next[i] = position + 1;
    position += sizes_[i];
  }
}

bool ShapeFunctionTree::is_in_effect(int32_t ancestor, int32_t function) const {
  if (ancestor == kNone) return true;
  if (function == kNone) return false;
  const auto above = static_cast<size_t>(ancestor), below = static_cast<size_t>(function);
  return positions_[above] <= positions_[below] &&
         positions_[below] < positions_[above] + sizes_[above];
}

}  // namespace scopevm::format
