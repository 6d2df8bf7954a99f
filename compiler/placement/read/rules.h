// The rules of --place. Private to compiler/placement.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/placement/read/problem_builder.h"
#include "llvm/Support/GlobPattern.h"

namespace scopevm::compiler::placement {

// A task that rules may place. `names` are in order of precedence.
struct Ruled {
  TaskIndex task;
  std::vector<std::pair<Rule::Kind, std::string>> names;
  std::vector<mlir::Value> values;
};

class Rules {
 public:
  // Errors: kInvalidArgument (an invalid pattern), kInvalidModel (a place that the machine lacks).
  // `rules` outlives the result.
  static Result<Rules> parse(const std::vector<Rule>& rules, const Machine& machine);

  size_t size() const { return rules_.size(); }
  // Applies the rules that match the task. The device and the scope each come from the first
  // applicable rule: by the order of `names`, then the last rule first. Constraints of the graph
  // take precedence. REQUIRES: all constraints of the graph have been read.
  void apply(const Ruled& ruled, ProblemBuilder& builder) const;

 private:
  struct Parsed {
    std::string text;
    Rule::Kind kind;
    llvm::GlobPattern pattern;
    RequiredPlace place;
  };
  std::vector<Parsed> rules_;
};

}  // namespace scopevm::compiler::placement
