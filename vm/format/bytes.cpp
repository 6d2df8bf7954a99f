// Allocates memory for modules and constants that are not in a mapped file.
#include <cstdlib>
#include <cstring>

#include "vm/format/layout.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

Bytes aligned_copy(const void* data, uint64_t size) {
  if (size == 0 || size > UINT64_MAX - kAlignment) return {};
  std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, align_up(size)), std::free);
  if (!memory) return {};
  std::memcpy(memory.get(), data, size);
  const auto* first = static_cast<const uint8_t*>(memory.get());
  return {std::move(memory), first, size};
}

}  // namespace scopevm::format
