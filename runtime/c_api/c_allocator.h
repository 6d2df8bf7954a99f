// The handles of allocators of the C API (scopevm/c/allocator.h).
#pragma once

#include <memory>

#include "scopevm/allocator.h"
#include "scopevm/allocators.h"
#include "scopevm/c/allocator.h"
#include "scopevm/status.h"

struct scopevm_allocator {
  std::shared_ptr<scopevm::Allocator> allocator;
};

struct scopevm_block_source {
  std::shared_ptr<scopevm::BlockSource> source;
};

namespace scopevm {

// The counters, with struct_size 0.
scopevm_allocator_stats to_c(const AllocatorStats& stats);

// The options that a caller has given, and the owner of their context.
struct ReadAllocatorOptions {
  // Calls `release` when it is destroyed, unless the options were refused.
  class Owner {
   public:
    explicit Owner(const scopevm_allocator_options& options)
        : release_(options.release), context_(options.context) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() {
      if (is_accepted_ && release_ != nullptr) release_(context_);
    }
    void accept() { is_accepted_ = true; }

   private:
    void (*const release_)(void*);
    void* const context_;
    bool is_accepted_ = false;
  };
  AllocatorOptions options;      // their functions share `owner`
  std::shared_ptr<Owner> owner;  // null without options
};

// The allocator with these options, which keeps `owner` (can be null) until it is destroyed.
std::shared_ptr<Allocator> with_owner(std::shared_ptr<Allocator> allocator,
                                      std::shared_ptr<ReadAllocatorOptions::Owner> owner);

// NULL: the defaults. Errors: kInvalidArgument.
Result<ReadAllocatorOptions> read_allocator_options(const scopevm_allocator_options* given);

}  // namespace scopevm
