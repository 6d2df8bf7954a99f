// Assumed minimum of dims that are named in parsed types.
#pragma once

#include <set>
#include <string>

namespace scopevm::compiler::graph {

// A named dim is assumed to be at least 1, and expressions are normalised under that assumption
// when they are parsed. While a ZeroDims object exists, its names may be 0 in everything parsed on
// the same thread. Objects must be destroyed in reverse order of construction.
class ZeroDims {
 public:
  explicit ZeroDims(std::set<std::string, std::less<>> names);
  ~ZeroDims();
  ZeroDims(const ZeroDims&) = delete;
  ZeroDims& operator=(const ZeroDims&) = delete;

  static bool contain(std::string_view name);

 private:
  std::set<std::string, std::less<>> names_;
  const ZeroDims* outer_;
};

}  // namespace scopevm::compiler::graph
