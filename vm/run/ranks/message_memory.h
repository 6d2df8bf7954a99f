// Memory of a transport, from which messages take less time than from other memory.
#pragma once

#include <cstdint>

#include "runtime/memory/sources/available_memory.h"
#include "scopevm/allocator.h"
#include "scopevm/c/transport.h"

namespace scopevm::vm {

class MessageMemory final : public BlockSource {
 public:
  // `transport` has `allocate` and must outlive the source.
  explicit MessageMemory(const scopevm_transport& transport) : transport_(transport) {}

  void* allocate(int64_t bytes, int64_t alignment) override {
    return runtime::is_available(bytes) ? transport_.allocate(transport_.context, bytes, alignment)
                                        : nullptr;
  }
  void deallocate(void* block, int64_t bytes) override {
    transport_.deallocate(transport_.context, block, bytes);
  }

 private:
  const scopevm_transport& transport_;
};

}  // namespace scopevm::vm
