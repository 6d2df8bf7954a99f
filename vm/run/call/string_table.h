// The string table of one call. Strings are interned, so that elements are compared and copied as
// integers: equal strings have equal ids. The ids below ModuleStrings::size() denote strings of the
// module. Higher ids denote strings of the call.
//
// All memory is allocated from one pool as storages of the call. It counts against the limit of the
// pool and is released when the call ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/memory/scope_memory.h"
#include "runtime/memory/storage.h"
#include "scopevm/status.h"
#include "vm/load/module_strings.h"

namespace scopevm::vm {

class BoundSession;
class CallContext;
struct RunOptions;

class StringTable {
 public:
  // Resets the table for a new call. REQUIRES: the storages of the last call have been released;
  // `options` is valid until the end of the call.
  void begin(BoundSession& session, CallContext& context, const RunOptions& options);

  // Of the call.
  const RunOptions& options() const { return *options_; }

  // Interns a string. Errors: kOutOfMemory, kResourceLimit, kInvalidModel (the module has no heap
  // pool).
  Result<int32_t> id_of(std::string_view text);

  // The string of an id; no value for an invalid id. Ids can be invalid, because kernels write
  // them.
  std::optional<std::string_view> find(int32_t id) const;

  // Allocates a temporary storage from the table's pool. It is owned by the call until release() or
  // the call's end.
  Result<runtime::Storage*> allocate(int64_t bytes);
  void release(runtime::Storage* storage);

 private:
  struct Entry {
    const char* text = nullptr;
    int64_t size = 0;
    uint64_t hash = 0;
  };

  Entry* entries() const { return static_cast<Entry*>(entries_->data); }
  // The hash slot of a string, found by linear probing. It contains the entry's index plus 1,
  // or 0 if the string is absent. add() inserts an absent string in this slot.
  int32_t* slot_of(std::string_view text, uint64_t hash) const;
  Status add(std::string_view text, uint64_t hash);
  Status grow();
  Status make_room(int64_t bytes);

  const ModuleStrings* module_ = nullptr;
  CallContext* context_ = nullptr;
  const RunOptions* options_ = nullptr;
  BoundSession* session_ = nullptr;  // null if the module has no heap pool
  uint32_t pool_ = 0;
  int32_t count_ = 0;
  int32_t capacity_ = 0;  // in entries, a power of 2; there are twice as many slots
  runtime::Storage* entries_ = nullptr;
  runtime::Storage* slots_ = nullptr;
  char* free_ = nullptr;  // the unused rest of the last chunk
  int64_t free_bytes_ = 0;
};

}  // namespace scopevm::vm
