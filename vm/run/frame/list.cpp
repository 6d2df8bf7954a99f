// Insertion and removal of list elements; see list.h.
#include "vm/run/frame/list.h"

#include <algorithm>
#include <cstring>

namespace scopevm::vm {

int64_t List::bytes_for(int64_t capacity, int64_t max_rank) {
  int64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(capacity, element_bytes(max_rank), &bytes) ||
      __builtin_add_overflow(bytes, static_cast<int64_t>(sizeof(Header)), &bytes);
  return overflows ? -1 : bytes;
}

List List::create(runtime::Storage* storage, int64_t capacity, int64_t max_rank) {
  storage->is_list = true;
  *static_cast<Header*>(storage->data) = {0, capacity, max_rank, -1};
  return List(storage);
}

void List::insert(int64_t index, const Register& element, const int64_t* dims) {
  std::memmove(at(index + 1), at(index), static_cast<size_t>((size() - index) * stride_));
  this->element(index) = element;
  std::copy_n(dims, element.rank, dims_of(index));
  if (element.storage != nullptr) ++element.storage->call_references;
  ++header_->size;
}

Register List::erase(int64_t index) {
  const Register erased = element(index);
  --header_->size;
  std::memmove(at(index), at(index + 1), static_cast<size_t>((size() - index) * stride_));
  return erased;
}

void List::append_all(const List& other, bool is_moved) {
  for (int64_t i = 0; i < other.size(); ++i) {
    runtime::Storage* storage = other.element(i).storage;
    if (!is_moved && storage != nullptr) ++storage->call_references;
    std::memcpy(at(size() + i), other.at(i),
                static_cast<size_t>(element_bytes(other.element(i).rank)));
  }
  header_->size += other.size();
  if (is_moved) other.header_->size = 0;
}

}  // namespace scopevm::vm
