// Backtracking over the branches of Ifs; see branch_choices.h.
#include "compiler/import/scope/branch_choices.h"

#include <algorithm>

namespace scopevm::compiler::frontend {

bool BranchChoices::choose() {
  if (made_ == is_then_.size()) is_then_.push_back(true);
  return is_then_[made_++];
}

bool BranchChoices::has_open(size_t from) const {
  const auto begin = is_then_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(made_);
  return std::find(begin + static_cast<std::ptrdiff_t>(from), end, true) != end;
}

bool BranchChoices::advance() {
  made_ = 0;
  variants_.clear();
  warnings_.clear();
  needs_other_ = false;
  while (!is_then_.empty() && !is_then_.back()) is_then_.pop_back();
  if (is_then_.empty()) return false;
  is_then_.back() = false;
  return true;
}

}  // namespace scopevm::compiler::frontend
