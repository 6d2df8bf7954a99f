// Lists. Instructions modify lists in place; a shared list is copied first (copy-on-write).
#include "vm/run/interpreter/interpreter_class.h"

#include <cstring>

#include "runtime/count_text.h"

namespace scopevm::vm {

using runtime::ScopeMemory;
using runtime::Storage;
namespace op = isa::op;
using isa::RegisterIndex;
using runtime::count_text;

// Converts a sequence or optional input to a list. An optional has one element or none.
bool Interpreter::bind_list(uint32_t input) {
  const format::TensorDecl& decl = frame_.function->decl->inputs[input];
  const ListValue& given = context_.request->list_inputs[input];
  const std::optional<uint32_t> pool = session_.module().heap_pool();
  if (!pool) return fail(StatusCode::kInvalidModel, "the module has no heap pool for lists");
  Storage* list = nullptr;
  int rank = 0;
  for (const Tensor& element : given.elements) rank = std::max(rank, element.rank());
  if (!allocate_list(*pool, static_cast<int64_t>(given.elements.size()), rank, &list)) return false;
  for (const Tensor& element : given.elements)
    List(list).insert(List(list).size(), input_register(element), element.dims().data());
  set({input}, list_register(list));
  // An optional sequence is a list that contains the sequence, or nothing.
  if (decl.kind != ValueKind::kOptionalSequence) return true;
  Storage* optional = nullptr;
  if (!allocate_list(*pool, 1, 0, &optional)) return false;
  if (given.has_value) List(optional).insert(0, reg({input}), nullptr);
  set({input}, list_register(optional));
  return true;
}

bool Interpreter::allocate_list(uint32_t pool, int64_t capacity, int64_t max_rank,
                                Storage** storage) {
  const int64_t bytes = List::bytes_for(capacity, max_rank);
  if (bytes < 0)
    return fail(StatusCode::kResourceLimit,
                "the size of a list of " + std::to_string(capacity) + " elements exceeds 64 bits");
  if (channel_ != nullptr && is_of_other_rank(pool)) {
    // Each rank has the lists, whose elements can be on any of them. They are charged to one.
    *storage = Storage::allocate(bytes);
    if (*storage == nullptr)
      return fail(StatusCode::kOutOfMemory,
                  "cannot allocate a list of " + count_text(bytes, "byte"));
    context_.own(*storage, -1);
  } else if (!allocate(pool, bytes, storage)) {
    return false;
  }
  List::create(*storage, capacity, max_rank);
  return true;
}

// Makes the register's list unshared, with capacity for `more` additional elements of rank `rank`.
// The capacity doubles, so that n appends copy fewer than 2n elements.
bool Interpreter::make_room(RegisterIndex index, isa::PoolIndex pool, int64_t more, int64_t rank) {
  const Register held = reg(index);
  const List list(held.storage);
  // References are counted per call without atomics, since one thread interprets a call.
  const bool is_shared = held.storage->call_references > 1;
  if (!is_shared && list.size() + more <= list.capacity() && rank <= list.max_rank()) return true;
  constexpr int64_t kLeastCapacity = 4;
  const int64_t capacity = std::max({list.size() + more, list.size() * 2, kLeastCapacity});
  Storage* storage = nullptr;
  if (!allocate_list(pool.value, capacity, std::max(rank, list.max_rank()), &storage)) return false;
  // The elements of an unshared list are moved, so their reference counts do not change.
  List(storage).append_all(list, !is_shared);
  set(index, list_register(storage));
  return true;
}

// Adds the list's size to a negative index and checks that *index is then in [0, count). Indices
// depend on the request, so an invalid index is an error of the request.
bool Interpreter::find_index(int64_t* index, int64_t count, int64_t size) {
  const int64_t given = *index;
  if (given < 0) *index += size;
  if (*index >= 0 && *index < count) return true;
  return fail_at_source("index " + std::to_string(given) + " is out of range for a list of " +
                        count_text(size, "element"));
}

bool Interpreter::insert(RegisterIndex list, isa::PoolIndex pool, RegisterIndex element,
                         int64_t index) {
  if (!make_room(list, pool, 1, reg(element).rank)) return false;
  List(reg(list).storage).insert(index, reg(element), dims(element));
  return true;
}

bool Interpreter::execute(const op::make_list& in) {
  int64_t rank = 0;
  for (uint32_t i = 0; i < in.elements.size(); ++i)
    rank = std::max<int64_t>(rank, reg(in.elements[i]).rank);
  Storage* storage = nullptr;
  if (!allocate_list(in.from.value, in.elements.size(), rank, &storage)) return false;
  for (uint32_t i = 0; i < in.elements.size(); ++i)
    List(storage).insert(i, reg(in.elements[i]), dims(in.elements[i]));
  set(in.dst, list_register(storage));
  return true;
}

bool Interpreter::execute(const op::list_get& in) {
  const List list(reg(in.list).storage);
  int64_t index = value(in.index);
  if (!find_index(&index, list.size(), list.size())) return false;
  const Register element = list.element(index);
  if (element.rank != in.rank.immediate_value())
    return fail_at_source("element " + std::to_string(index) + " has rank " +
                          std::to_string(element.rank) + ", expected rank " +
                          std::to_string(in.rank.immediate_value()));
  // Copy the dims first: set() can release the list if in.dst holds its last reference.
  std::memcpy(dims(in.dst), list.dims_of(index), element.rank * sizeof(int64_t));
  set(in.dst, element);
  return true;
}

bool Interpreter::execute(const op::list_insert& in) {
  const int64_t size = List(reg(in.list).storage).size();
  int64_t index = value(in.index);
  // ONNX SequenceInsert allows the position after the last element.
  return find_index(&index, size + 1, size) && insert(in.list, in.from, in.element, index);
}

bool Interpreter::execute(const op::list_append& in) {
  return insert(in.list, in.from, in.element, List(reg(in.list).storage).size());
}

bool Interpreter::execute(const op::list_erase& in) {
  const int64_t size = List(reg(in.list).storage).size();
  int64_t index = value(in.index);
  // erase() modifies the list in place, so make_room() must make it unshared.
  if (!find_index(&index, size, size) || !make_room(in.list, in.from, 0, 0)) return false;
  release_reference(List(reg(in.list).storage).erase(index).storage);
  return true;
}

bool Interpreter::execute(const op::list_size& in) {
  frame_.slots[in.dst.value] = List(reg(in.list).storage).size();
  return true;
}

}  // namespace scopevm::vm
