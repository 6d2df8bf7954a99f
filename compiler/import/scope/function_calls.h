// The functions whose bodies are imported in place of nodes, within limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

class FunctionCalls {
 public:
  // Checks a call of the function "domain.name". Errors: kInvalidModel if the function is active
  // already, or if the active functions are too many.
  Status check(const std::string& name) const;
  // Starts the function's body of `nodes` nodes. Errors: kInvalidModel if all bodies together have
  // too many nodes.
  Status enter(const std::string& name, int nodes);
  // Ends the body that was started last.
  void leave() { active_.pop_back(); }

 private:
  std::vector<std::string> active_;  // outermost first
  int64_t nodes_ = 0;                // of all bodies
};

}  // namespace scopevm::compiler::frontend
