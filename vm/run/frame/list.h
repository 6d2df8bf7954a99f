// A list of references to tensors and other lists, in one storage of the call. A closure is
// represented as the list of its captured values with the index of its function.
//
// The storage contains a header and, for each element, a Register and space for max_rank dims. Each
// element has its own rank, at most max_rank. Each element counts as one reference in
// Storage::call_references, as a register does. CallContext::release() releases the elements
// together with the list.
#pragma once

#include <cstdint>

#include "runtime/memory/storage.h"
#include "vm/load/frame_layout.h"

namespace scopevm::vm {

class List {
 public:
  // REQUIRES: the storage contains a list.
  explicit List(const runtime::Storage* storage)
      : header_(static_cast<Header*>(storage->data)), stride_(element_bytes(header_->max_rank)) {}

  // The storage size for `capacity` elements of rank at most `max_rank`; -1 on overflow.
  static int64_t bytes_for(int64_t capacity, int64_t max_rank);
  // Initialises an empty list in a new storage of bytes_for(capacity, max_rank) bytes.
  static List create(runtime::Storage* storage, int64_t capacity, int64_t max_rank);

  // The module index of a closure's function; -1 for a list that is not a closure.
  int64_t function() const { return header_->function; }
  void set_function(int64_t index) { header_->function = index; }

  int64_t size() const { return header_->size; }
  int64_t capacity() const { return header_->capacity; }
  int64_t max_rank() const { return header_->max_rank; }
  Register& element(int64_t index) const { return *reinterpret_cast<Register*>(at(index)); }
  int64_t* dims_of(int64_t index) const {
    return reinterpret_cast<int64_t*>(at(index) + sizeof(Register));
  }

  // Inserts an element before `index` and increments the reference count of its storage. REQUIRES:
  // size() < capacity(), element.rank <= max_rank().
  void insert(int64_t index, const Register& element, const int64_t* dims);
  // Removes and returns an element. The reference to its storage is transferred to the caller.
  Register erase(int64_t index);
  // Appends the elements of another list. If `is_moved`, their references are transferred and the
  // other list becomes empty. Otherwise the reference counts of their storages are incremented.
  // REQUIRES: sufficient capacity and max_rank().
  void append_all(const List& other, bool is_moved);

 private:
  struct Header {
    int64_t size;
    int64_t capacity;
    int64_t max_rank;
    int64_t function;
  };

  static int64_t element_bytes(int64_t max_rank) {
    return static_cast<int64_t>(sizeof(Register)) + max_rank * int64_t{8};
  }
  std::byte* at(int64_t index) const {
    return reinterpret_cast<std::byte*>(header_ + 1) + index * stride_;
  }

  Header* header_;
  int64_t stride_;
};

}  // namespace scopevm::vm
