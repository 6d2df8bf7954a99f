// The blocks of a function, and the range of steps that an access from an outer block covers.
// Private to compiler/memory.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/memory/samples.h"

namespace scopevm::compiler::memory {

// The block that contains each step: a branch, the body of a loop, or the body of the function.
struct Blocks {
  struct Block {
    int parent = 0;     // index of a block; the body of the function is its own parent
    int64_t begin = 0;  // the If or Loop step of the block; it belongs to the parent
    int64_t end = 0;    // the EndIf or EndLoop step of the block; it belongs to the parent
    double times = 1;   // executions per call
  };
  // The first and the last step of one use of a value, both in the block that computes the value.
  // If the use is inside an if or a loop of that block, the access covers the whole if or loop.
  struct Access {
    int64_t begin = 0;
    int64_t end = 0;
  };

  std::vector<Block> blocks = std::vector<Block>(1);
  std::vector<int> of_step;

  // Executions are those at the dims of `request`.
  Blocks(const Function& function, const Request& request);

  double times_of_step(int64_t step) const { return blocks[of_step[step]].times; }
  // The access of a value of block `home` at `step`. REQUIRES: the step is in `home` or in a block
  // inside it.
  Access access_from(int home, int64_t step) const;
  // Whether the step is in the block or in a block inside it.
  bool contains(int block, int64_t step) const;

 private:
  int add(int parent, int64_t begin, double trips);
};

}  // namespace scopevm::compiler::memory
