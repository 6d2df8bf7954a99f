// An execution hook that sees the tensors that each launch, external function, string operation and
// copy has written.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scopevm/execution_hook.h"
#include "scopevm/tensor.h"
#include "tools/execution/code_map.h"

namespace scopevm::tool {

// An instruction that has written tensors.
struct ObservedLaunch {
  int64_t position = 0;  // the number of instructions that were executed before it
  InstructionPlace place;
  std::vector<uint32_t> registers;
  std::vector<Tensor> outputs;  // by register: copies in host memory
};

class LaunchObserver : public ExecutionHook {
 public:
  // `code` must outlive this object.
  explicit LaunchObserver(CodeMap& code) : code_(code) {}

  // Throws std::bad_alloc.
  bool at(const ExecutionState& state) final;
  // The error that has ended the run; ok if there is none.
  const Status& failure() const { return failure_; }

 protected:
  CodeMap& code() { return code_; }
  // Called after the instruction. False ends the run.
  virtual bool launched(ObservedLaunch launch) = 0;

 private:
  struct Pending {
    int64_t position;
    InstructionPlace place;
  };
  Status observe(const ExecutionState& state, bool& is_continued);

  CodeMap& code_;
  std::optional<Pending> pending_;  // the instruction that the run executes now
  Status failure_;
};

}  // namespace scopevm::tool
