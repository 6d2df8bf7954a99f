// String operations on ids, through the call's string table; see string_ops.h.
#include "vm/run/call/string_ops.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/memory/storage.h"
#include "runtime/string/case.h"
#include "runtime/string/numbers.h"
#include "runtime/tensor/string_tensor.h"
#include "vm/format/assembly/spelling.h"
#include "vm/run/call/interrupts.h"

namespace scopevm::vm {
namespace {

// Initial size of the buffer for case conversion. Strings of up to half this size fit.
constexpr int64_t kRoom = 4096;
// Maximum number of bytes of a string in a message.
constexpr size_t kShownText = 40;

int64_t count_of(const Register& tensor) { return tensor.bytes / byte_size(tensor.dtype); }

int32_t id_at(const Register& ids, int64_t i) {
  int32_t id = 0;
  std::memcpy(&id, ids.data + i * byte_size(DType::kStr), sizeof id);
  return id;
}

void set_id(const Register& ids, int64_t i, int32_t id) {
  std::memcpy(ids.data + i * byte_size(DType::kStr), &id, sizeof id);
}

Result<std::string_view> string_at(const StringTable& table, const Register& ids, int64_t i) {
  if (const std::optional<std::string_view> text = table.find(id_at(ids, i))) return *text;
  return Status(StatusCode::kInvalidModel, "element " + std::to_string(i) + ": invalid string id " +
                                               std::to_string(id_at(ids, i)));
}

Status check_counts(const Register& from, const Register& to) {
  if (count_of(from) == count_of(to)) return {};
  return {StatusCode::kInvalidModel, runtime::count_text(count_of(from), "element") +
                                         ", but the result has " + std::to_string(count_of(to))};
}

Status not_a_number(std::string_view text, DType dtype, int64_t i) {
  // Truncate at a UTF-8 character boundary.
  size_t size = std::min(text.size(), kShownText);
  while (size > 0 && size < text.size() && (static_cast<uint8_t>(text[size]) & 0xc0) == 0x80)
    --size;
  std::string shown;
  format::assembly::append_quoted(shown, text.substr(0, size));
  if (size < text.size()) shown += "...";
  return {StatusCode::kInvalidArgument, "element " + std::to_string(i) + ", " + shown +
                                            ", is not a number of type " +
                                            std::string(name(dtype))};
}

// Calls visit(i), which returns a Status, for each i in [0, count). Checks the interrupts of the
// call before some of them.
template <typename Visit>
Status for_each_element(const StringTable& table, int64_t count, Visit visit) {
  constexpr int64_t kElementsPerCheck = 512;
  for (int64_t i = 0; i < count; ++i) {
    if (i % kElementsPerCheck == kElementsPerCheck - 1)
      SCOPEVM_RETURN_IF_ERROR(check_interrupts(table.options()));
    SCOPEVM_RETURN_IF_ERROR(visit(i));
  }
  return {};
}

}  // namespace

Result<Register> ids_of_input(StringTable& table, const Tensor& input) {
  const int64_t count = input.element_count();
  const int64_t bytes = count * byte_size(DType::kStr);
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage * storage, table.allocate(bytes));
  const Register ids = {static_cast<std::byte*>(storage->data), nullptr, bytes, DType::kStr,
                        static_cast<uint8_t>(input.rank())};
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count, [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const int32_t id, table.id_of(input.string_at(i)));
    set_id(ids, i, id);
    return {};
  }));
  return ids;
}

Result<runtime::Storage*> strings_of_result(StringTable& table, const Register& ids) {
  const int64_t count = count_of(ids);
  // The array of views is also allocated from the call's pool, because it can be large.
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage * views,
                           table.allocate(count * static_cast<int64_t>(sizeof(std::string_view))));
  const std::span strings(static_cast<std::string_view*>(views->data), static_cast<size_t>(count));
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count, [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(strings[static_cast<size_t>(i)], string_at(table, ids, i));
    return {};
  }));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::packed_bytes(strings));
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage * packed, table.allocate(bytes));
  runtime::pack_strings(strings, packed->data);
  table.release(views);
  return packed;
}

Status strings_to_numbers(const StringTable& table, const Register& from, const Register& to) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(from, to));
  return for_each_element(table, count_of(from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, from, i));
    if (!runtime::parse_number(text, to.dtype, to.data + i * byte_size(to.dtype)))
      return not_a_number(text, to.dtype, i);
    return {};
  });
}

Status numbers_to_strings(StringTable& table, const Register& from, const Register& to) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(from, to));
  return for_each_element(table, count_of(from), [&](int64_t i) -> Status {
    const std::string text =
        runtime::format_number(from.dtype, from.data + i * byte_size(from.dtype));
    SCOPEVM_ASSIGN_OR_RETURN(const int32_t id, table.id_of(text));
    set_id(to, i, id);
    return {};
  });
}

Status change_case(StringTable& table, const Register& from, const Register& to, bool to_upper) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(from, to));
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage * room, table.allocate(kRoom));
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count_of(from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, from, i));
    // The buffer is released before a larger one is allocated, so that both do not exist at the
    // same time.
    if (const int64_t needed = runtime::case_room(text.size()); needed > room->bytes) {
      table.release(room);
      SCOPEVM_ASSIGN_OR_RETURN(room, table.allocate(needed));
    }
    auto* changed = static_cast<char*>(room->data);
    const size_t size = runtime::change_case(text, to_upper, changed);
    SCOPEVM_ASSIGN_OR_RETURN(const int32_t id, table.id_of({changed, size}));
    set_id(to, i, id);
    return {};
  }));
  table.release(room);
  return {};
}

}  // namespace scopevm::vm
