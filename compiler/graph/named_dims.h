// The assumed minimum of named dims in types that are parsed.
#pragma once

#include <set>
#include <string>

namespace scopevm::compiler::graph {

// A named dim is assumed to be at least 1, and expressions are normalised under that assumption
// when they are parsed. The dims that the innermost ZeroDims object of the parsing thread contains
// may also be 0. Objects must be destroyed in reverse order of construction.
class ZeroDims {
 public:
  explicit ZeroDims(std::set<std::string, std::less<>> names);
  ~ZeroDims();
  ZeroDims(const ZeroDims&) = delete;
  ZeroDims& operator=(const ZeroDims&) = delete;

  // True if the innermost object of this thread contains `name`.
  static bool contain(std::string_view name);

 private:
  std::set<std::string, std::less<>> names_;
  const ZeroDims* outer_;
};

}  // namespace scopevm::compiler::graph
