// Marks calls of the program's malloc(): mappings that it makes are its own memory, and their
// blocks are recorded already.
#pragma once

#include <utility>

namespace scopevm::record {

extern __thread bool is_in_allocator __attribute__((tls_model("initial-exec")));

template <typename Function, typename... Arguments>
inline auto call(Function* function, Arguments&&... arguments) {
  struct Mark {
    const bool was_set = std::exchange(is_in_allocator, true);
    ~Mark() { is_in_allocator = was_set; }
  } const mark;
  return function(std::forward<Arguments>(arguments)...);
}

}  // namespace scopevm::record
