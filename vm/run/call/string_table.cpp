// The string table, a hash table with linear probing; see string_table.h.
#include "vm/run/call/string_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "vm/run/call/bound_session.h"
#include "vm/run/call/call_context.h"

namespace scopevm::vm {
namespace {

using runtime::Storage;

constexpr int32_t kFirstCapacity = 256;
// Chunk size of the bump allocator for string bytes.
constexpr int64_t kChunk = int64_t{16} << 10;

}  // namespace

void StringTable::begin(BoundSession& session, CallContext& context, const RunOptions& options) {
  *this = StringTable();
  module_ = &session.module().strings();
  context_ = &context;
  options_ = &options;
  const std::optional<uint32_t> heap = session.module().heap_pool();
  if (!heap) return;
  session_ = &session;
  pool_ = *heap;
}

Result<Storage*> StringTable::allocate(int64_t bytes) {
  if (session_ == nullptr)
    return Status(StatusCode::kInvalidModel, "the module has no heap pool for strings");
  Storage* storage = nullptr;
  SCOPEVM_RETURN_IF_ERROR(
      session_->allocate(*context_, pool_, bytes, &storage).with_context("strings"));
  context_->own(storage, static_cast<int32_t>(pool_));
  return storage;
}

void StringTable::release(Storage* storage) { context_->release(storage); }

std::optional<std::string_view> StringTable::find(int32_t id) const {
  if (id < 0) return std::nullopt;
  if (id < module_->size()) return module_->text(id);
  const int32_t own = id - module_->size();
  if (own >= count_) return std::nullopt;
  const Entry& entry = entries()[own];
  return std::string_view(entry.text, static_cast<size_t>(entry.size));
}

Result<int32_t> StringTable::id_of(std::string_view text) {
  // Equal strings have equal ids, so a string of the module keeps its id.
  if (const std::optional<int32_t> known = module_->find(text)) return *known;
  const uint64_t hash = std::hash<std::string_view>()(text);
  if (count_ > 0)
    if (const int32_t entry = *slot_of(text, hash); entry > 0) return module_->size() + entry - 1;
  if (count_ == capacity_) SCOPEVM_RETURN_IF_ERROR(grow());
  SCOPEVM_RETURN_IF_ERROR(add(text, hash));
  return module_->size() + count_ - 1;
}

int32_t* StringTable::slot_of(std::string_view text, uint64_t hash) const {
  auto* slots = static_cast<int32_t*>(slots_->data);
  // There are two slots per entry. At most half of the slots are used, so every probe sequence
  // reaches an empty slot.
  const uint64_t mask = 2 * static_cast<uint64_t>(capacity_) - 1;
  for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
    // A slot holds the entry's index plus 1; 0 is empty.
    if (slots[at] == 0) return &slots[at];
    const Entry& entry = entries()[slots[at] - 1];
    if (entry.hash == hash && std::string_view(entry.text, static_cast<size_t>(entry.size)) == text)
      return &slots[at];
  }
}

Status StringTable::make_room(int64_t bytes) {
  if (bytes <= free_bytes_) return {};
  const int64_t chunk = std::max(bytes, kChunk);
  SCOPEVM_ASSIGN_OR_RETURN(Storage * storage, allocate(chunk));
  free_ = static_cast<char*>(storage->data);
  free_bytes_ = chunk;
  return {};
}

Status StringTable::add(std::string_view text, uint64_t hash) {
  const auto size = static_cast<int64_t>(text.size());
  SCOPEVM_RETURN_IF_ERROR(make_room(size));
  std::memcpy(free_, text.data(), text.size());
  // Chunks do not move, so views of strings stay valid when the table grows.
  entries()[count_] = {free_, size, hash};
  *slot_of(text, hash) = ++count_;
  free_ += size;
  free_bytes_ -= size;
  return {};
}

Status StringTable::grow() {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max() / 4;
  // Ids are i32, and the first ids denote the strings of the module. The limits keep the largest id
  // below 2^31.
  if (capacity_ > kMost || module_->size() > kMost)
    return {StatusCode::kResourceLimit,
            "more than " + std::to_string(capacity_) + " different strings in one call"};
  const int32_t capacity = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
  SCOPEVM_ASSIGN_OR_RETURN(Storage * more,
                           allocate(capacity * static_cast<int64_t>(sizeof(Entry))));
  SCOPEVM_ASSIGN_OR_RETURN(Storage * slots,
                           allocate(int64_t{2} * capacity * static_cast<int64_t>(sizeof(int32_t))));
  if (count_ > 0)
    std::memcpy(more->data, entries_->data, sizeof(Entry) * static_cast<size_t>(count_));
  std::memset(slots->data, 0, 2 * sizeof(int32_t) * static_cast<size_t>(capacity));
  // The old storages are released after both allocations, so that a failure leaves the table
  // intact.
  for (Storage* old : {entries_, slots_})
    if (old != nullptr) release(old);
  entries_ = more;
  slots_ = slots;
  capacity_ = capacity;
  for (int32_t i = 0; i < count_; ++i) {
    const Entry& entry = entries()[i];
    *slot_of({entry.text, static_cast<size_t>(entry.size)}, entry.hash) = i + 1;
  }
  return {};
}

}  // namespace scopevm::vm
