// The allocators that replay a trace: those of scopevm, and the malloc() of other libraries with
// default and tuned settings.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/status.h"

namespace scopevm::lab {

// A setting of malloc(): a library that replaces it, and environment variables that tune it.
struct AllocatorEntry {
  std::string name;     // "pool", "jemalloc", "jemalloc-tuned"
  bool is_own = false;  // an allocator of scopevm
  std::string library;  // file name; empty: the C library
  std::string package;  // of Debian, that contains the library
  std::vector<std::pair<std::string, std::string>> variables;
};

// All allocators, those of scopevm first.
std::span<const AllocatorEntry> allocator_entries();

// Errors: kInvalidArgument (unknown name), with a suggestion.
Result<AllocatorEntry> find_allocator(const std::string& name);

// Creates an allocator of scopevm whose blocks have this alignment; null if the name is unknown or
// memory is exhausted.
std::shared_ptr<Allocator> make_own_allocator(std::string_view name, int64_t alignment);

// The path of an entry's library; empty if it is not installed.
std::string installed_library(const std::string& file);

}  // namespace scopevm::lab
