// The branches that an import selects for Ifs whose branches return results of different number,
// rank or element type. The ops that use such results can be imported for one branch only.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::compiler::frontend {

// A depth-first search over the choices of a model's import. If an import fails, it is repeated
// with the next choices, until there are none.
class BranchChoices {
 public:
  // True for the then-branch, which is tried first.
  bool choose();
  // Number of choices that this import has made.
  size_t made() const { return made_; }
  // True if the choice with index `from` or a later one of this import selected the then-branch, so
  // that another import can try the else-branch.
  bool has_open(size_t from) const;

  // Requests whose dim is in the range need the other branch, and therefore a variant.
  void need_variant(const std::string& dim, const DimBound& range) {
    variants_.emplace_back(dim, range);
  }
  const std::vector<std::pair<std::string, DimBound>>& variants() const { return variants_; }
  // Adds a message about a branch that is not compiled.
  void warn(std::string message) { warnings_.push_back(std::move(message)); }
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The import must fail, because another choice might succeed.
  void require_other() { needs_other_ = true; }
  bool needs_other() const { return needs_other_; }

  // Prepares the next import: the last then-branch among the choices is replaced by the
  // else-branch, and later choices are dropped. False if all choices have been tried.
  bool advance();

 private:
  std::vector<bool> is_then_;
  std::vector<std::pair<std::string, DimBound>> variants_;  // of this import, as are the warnings
  std::vector<std::string> warnings_;
  size_t made_ = 0;
  bool needs_other_ = false;
};

}  // namespace scopevm::compiler::frontend
