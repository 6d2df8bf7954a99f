// Allocates memory for modules and constants that are not in a mapped file.
#include <cstring>
#include <new>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

Bytes aligned_copy(const void* data, uint64_t size) {
  if (size == 0) return {};
  constexpr std::align_val_t kAligned{kAlignment};
  std::shared_ptr<void> memory(::operator new(size, kAligned),
                               [](void* bytes) { ::operator delete(bytes, kAligned); });
  std::memcpy(memory.get(), data, size);
  const auto* first = static_cast<const uint8_t*>(memory.get());
  return {std::move(memory), first, size};
}

}  // namespace scopevm::format
