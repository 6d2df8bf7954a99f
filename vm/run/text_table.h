// The texts of one call: ids below the module's count are the module's, those behind it came up
// during the call. Equal texts have one id, so elements compare and move as integers.
//
// All its memory comes from one pool, as storages of the call: it counts against limits, and goes
// when the call ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/memory/scope_memory.h"
#include "runtime/memory/storage.h"
#include "scopevm/status.h"
#include "vm/load/module_texts.h"

namespace scopevm::vm {

class BoundSession;
class CallContext;

class TextTable {
 public:
  // Forgets the texts of the last call, whose storages are gone.
  void begin(BoundSession& session, CallContext& context);

  // Errors: kOutOfMemory, kResourceLimit, kInvalidModel where the module has no heap.
  Result<int32_t> id_of(std::string_view text);

  // Empty where there is no such id: ids are what kernels wrote.
  std::optional<std::string_view> find(int32_t id) const;

  // A storage of the call's pool, for what goes with texts; until `release`, or the call's end.
  Result<runtime::Storage*> allocate(int64_t bytes);
  void release(runtime::Storage* storage);

 private:
  struct Entry {
    const char* text = nullptr;
    int64_t size = 0;
    uint64_t hash = 0;
  };

  Entry* entries() const { return static_cast<Entry*>(entries_->data); }
  // Where the entry's number is, plus 1, or where it belongs: 0 then.
  int32_t* slot_of(std::string_view text, uint64_t hash) const;
  Status add(std::string_view text, uint64_t hash);
  Status grow();
  Status make_room(int64_t bytes);

  const ModuleTexts* module_ = nullptr;
  CallContext* context_ = nullptr;
  BoundSession* session_ = nullptr;  // null: the module has no heap
  uint32_t pool_ = 0;
  int32_t count_ = 0;
  int32_t capacity_ = 0;  // entries; slots are twice as many, a power of 2
  runtime::Storage* entries_ = nullptr;
  runtime::Storage* slots_ = nullptr;
  char* free_ = nullptr;  // the rest of the last chunk of bytes
  int64_t free_bytes_ = 0;
};

}  // namespace scopevm::vm
