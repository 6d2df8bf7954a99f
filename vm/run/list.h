// A list: names of tensors and other lists, as registers are, in one storage of the call. A closure
// is a list of what it keeps, and the function that it calls.
//
// The storage holds a header, then for each element a Register and room for its dims. Elements
// count as registers do in the storages that they name. Each has a rank of its own, within what the
// list has room for. The storage is counted in its pool like any
// other; when its last name goes, its elements' counts go (CallContext::disown).
#pragma once

#include <cstdint>

#include "runtime/memory/storage.h"
#include "vm/load/frame_layout.h"

namespace scopevm::vm {

class List {
 public:
  // REQUIRES: the storage is a list's.
  explicit List(const runtime::Storage* storage)
      : header_(static_cast<Header*>(storage->data)), stride_(element_bytes(header_->max_rank)) {}

  // Bytes for `capacity` elements of at most that rank; -1 when they cannot be counted.
  static int64_t bytes_for(int64_t capacity, int64_t max_rank);
  // Makes an empty list of a new storage of bytes_for(capacity, max_rank).
  static List create(runtime::Storage* storage, int64_t capacity, int64_t max_rank);

  // Of a closure: the function's index in the module; -1: it is none.
  int64_t function() const { return header_->function; }
  void set_function(int64_t index) { header_->function = index; }

  int64_t size() const { return header_->size; }
  int64_t capacity() const { return header_->capacity; }
  int64_t max_rank() const { return header_->max_rank; }
  Register& element(int64_t index) const { return *reinterpret_cast<Register*>(at(index)); }
  int64_t* dims_of(int64_t index) const {
    return reinterpret_cast<int64_t*>(at(index) + sizeof(Register));
  }

  // Puts an element in front of `index`, and counts it. REQUIRES: size() < capacity().
  void insert(int64_t index, const Register& element, const int64_t* dims);
  // Takes an element out; its count stays, and is the caller's.
  Register erase(int64_t index);
  // Appends the elements of another list, and counts them, unless is_moved: then the other list is
  // empty. REQUIRES: there is room.
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
