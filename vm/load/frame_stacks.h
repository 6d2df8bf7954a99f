// What a function's code takes of stacks: each instruction that does has bytes of its own in the
// frame, so that one in a loop gets the same again, and a frame's size is known when it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/format/module_contents.h"

namespace scopevm::vm {

struct FrameStacks {
  struct Site {
    uint32_t word = 0;  // word index of the alloc_storage
    size_t offset = 0;  // from the frame's first byte of stacks; a multiple of kFrameAlignment
  };
  struct Use {
    uint32_t pool = 0;
    int64_t bytes = 0;
  };
  std::vector<Site> sites;  // by word
  std::vector<Use> uses;    // one for each pool
  size_t bytes = 0;

  // REQUIRES: one of the sites is at `word`.
  size_t offset_at(uint32_t word) const;
};

// REQUIRES: the function passed verification.
FrameStacks find_stacks(const format::ModuleContents& contents,
                        const format::FunctionDecl& function);

}  // namespace scopevm::vm
