// The stack-pool allocations of a function. Every alloc_storage from a stack pool has a fixed
// offset in the frame, so the frame size is known at load time. An instruction in a loop reuses its
// bytes in each iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::vm {

struct FrameStorages {
  struct Allocation {
    uint32_t word = 0;  // word index of the alloc_storage
    size_t offset = 0;  // from FrameLayout::stack_offset; a multiple of kFrameAlignment
  };
  struct Use {
    uint32_t pool = 0;
    int64_t bytes = 0;
  };
  std::vector<Allocation> allocations;  // sorted by word
  std::vector<Use> uses;                // one per stack pool
  size_t bytes = 0;                     // total over all pools

  // REQUIRES: `allocations` has an entry for `word`.
  size_t offset_at(uint32_t word) const;
};

// REQUIRES: the function passed verification.
FrameStorages find_stacks(const format::ModuleContents& contents,
                          const format::FunctionDecl& function);

}  // namespace scopevm::vm
