// What parsing takes for granted of the dims that a text names.
#pragma once

#include <set>
#include <string>

namespace scopevm::compiler::graph {

// A dim that a text names is at least 1: expressions are normalised with that as they are read.
// While an object of this class lives, that does not hold for dims of its names that are parsed on
// its thread. Objects are destroyed in the opposite order of their making.
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
