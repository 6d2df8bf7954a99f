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
#include "runtime/string/utf8.h"
#include "runtime/tensor/string_tensor.h"
#include "vm/format/assembly/spelling.h"
#include "vm/run/call/interrupts.h"

namespace scopevm::vm {
namespace {

// Initial size of the buffer for strings that an opcode creates.
constexpr int64_t kRoom = 4096;
// The element of an automaton that contains the number of columns.
constexpr int64_t kColumns = 256;
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

Status set_string(StringTable& table, const Register& ids, int64_t i, std::string_view text) {
  SCOPEVM_ASSIGN_OR_RETURN(const int32_t id, table.id_of(text));
  set_id(ids, i, id);
  return {};
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

// Whether the interrupts of the call are checked before element or piece i.
bool is_check_due(int64_t i) {
  constexpr int64_t kPerCheck = 512;
  return i % kPerCheck == kPerCheck - 1;
}

// Calls visit(i), which returns a Status, for each i in [0, count). Checks the interrupts of the
// call before some of them.
template <typename Visit>
Status for_each_element(const StringTable& table, int64_t count, Visit visit) {
  for (int64_t i = 0; i < count; ++i) {
    if (is_check_due(i)) SCOPEVM_RETURN_IF_ERROR(check_interrupts(table.options()));
    SCOPEVM_RETURN_IF_ERROR(visit(i));
  }
  return {};
}

// A temporary storage of at least `bytes` bytes: `room`, or a larger one that replaces it. `room`
// is released first, so that both do not exist at the same time.
Result<char*> reserve(StringTable& table, runtime::Storage*& room, int64_t bytes) {
  if (room == nullptr || bytes > room->bytes) {
    if (room != nullptr) table.release(room);
    SCOPEVM_ASSIGN_OR_RETURN(room, table.allocate(std::max(bytes, kRoom)));
  }
  return static_cast<char*>(room->data);
}

// Writes an integer or bool in the element type of the tensor.
void set_integer(const Register& to, int64_t i, int64_t value) {
  const int64_t size = byte_size(to.dtype);
  if (to.dtype == DType::kBool) value = value != 0 ? 1 : 0;
  std::memcpy(to.data + i * size, &value, static_cast<size_t>(size));  // little-endian
}

// The size in bytes of the whitespace character, as Unicode defines it, with which the string
// begins. 0 if it begins with another character.
size_t whitespace_size(std::string_view text) {
  if (text.empty()) return 0;
  const auto [c, bytes] = runtime::decode_utf8(text);
  const bool is_space = (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
                        c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
                        c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
  return is_space ? bytes : 0;
}

// Checks the interrupts of the call if `at` bytes of a string end a part of it.
Status check_at(const StringTable& table, size_t at) {
  constexpr size_t kBytesPerCheck = 1 << 16;
  return at % kBytesPerCheck == kBytesPerCheck - 1 ? check_interrupts(table.options()) : Status();
}

// text.find(delimiter), in parts of about a million comparisons.
Result<size_t> find(const StringTable& table, std::string_view text, std::string_view delimiter) {
  const size_t starts = (size_t{1} << 20) / delimiter.size() + 1;
  for (size_t at = 0; at < text.size(); at += starts) {
    const size_t found = text.substr(at, starts + delimiter.size() - 1).find(delimiter);
    if (found != std::string_view::npos) return at + found;
    if (at > 0) SCOPEVM_RETURN_IF_ERROR(check_interrupts(table.options()));
  }
  return std::string_view::npos;
}

// The end of the first piece of a text that does not begin with whitespace.
Result<size_t> piece_end(const StringTable& table, std::string_view text,
                         std::string_view delimiter) {
  if (!delimiter.empty()) return find(table, text, delimiter);
  size_t end = 0;
  for (; end < text.size() && whitespace_size(text.substr(end)) == 0; ++end)
    SCOPEVM_RETURN_IF_ERROR(check_at(table, end));
  return end < text.size() ? end : std::string_view::npos;
}

// Calls visit(piece), which returns a Status, for each piece of a string.
template <typename Visit>
Status for_each_piece(const StringTable& table, std::string_view text, std::string_view delimiter,
                      int64_t max_splits, Visit visit) {
  // A negative number is a large unsigned number.
  for (auto splits = static_cast<uint64_t>(max_splits);; --splits) {
    if (delimiter.empty()) {
      while (const size_t size = whitespace_size(text)) {
        text.remove_prefix(size);
        SCOPEVM_RETURN_IF_ERROR(check_at(table, text.size()));
      }
      if (text.empty()) return {};
    }
    if (splits == 0) return visit(text);
    SCOPEVM_ASSIGN_OR_RETURN(const size_t end, piece_end(table, text, delimiter));
    if (end == std::string_view::npos) return visit(text);
    SCOPEVM_RETURN_IF_ERROR(visit(text.substr(0, end)));
    text.remove_prefix(end + delimiter.size());
  }
}

// The delimiter of split_strings.
Result<std::string_view> delimiter_of(const StringTable& table, const StringOperands& in) {
  if (count_of(*in.other) == 1) return string_at(table, *in.other, 0);
  return Status(StatusCode::kInvalidModel, "the delimiter is not one string");
}

}  // namespace

Result<Register> ids_of_input(StringTable& table, const Tensor& input) {
  const int64_t count = input.element_count();
  const int64_t bytes = count * byte_size(DType::kStr);
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage * storage, table.allocate(bytes));
  const Register ids = {static_cast<std::byte*>(storage->data), nullptr, bytes, DType::kStr,
                        static_cast<uint8_t>(input.rank())};
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count, [&](int64_t i) -> Status {
    return set_string(table, ids, i, input.string_at(i));
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

Status strings_to_numbers(StringTable& table, const StringOperands& in) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  return for_each_element(table, count_of(in.from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, in.from, i));
    if (!runtime::parse_number(text, in.to.dtype, in.to.data + i * byte_size(in.to.dtype)))
      return not_a_number(text, in.to.dtype, i);
    return {};
  });
}

Status numbers_to_strings(StringTable& table, const StringOperands& in) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  return for_each_element(table, count_of(in.from), [&](int64_t i) -> Status {
    return set_string(
        table, in.to, i,
        runtime::format_number(in.from.dtype, in.from.data + i * byte_size(in.from.dtype)));
  });
}

Status change_case(StringTable& table, const StringOperands& in) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  runtime::Storage* room = nullptr;
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count_of(in.from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, in.from, i));
    SCOPEVM_ASSIGN_OR_RETURN(char* changed, reserve(table, room, runtime::case_room(text.size())));
    const size_t size = runtime::change_case(text, in.number != 0, changed);
    return set_string(table, in.to, i, {changed, size});
  }));
  if (room != nullptr) table.release(room);
  return {};
}

Status concat_strings(StringTable& table, const StringOperands& in) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  SCOPEVM_RETURN_IF_ERROR(check_counts(*in.other, in.to));
  runtime::Storage* room = nullptr;
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count_of(in.to), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view first, string_at(table, in.from, i));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view second, string_at(table, *in.other, i));
    const size_t size = first.size() + second.size();
    SCOPEVM_ASSIGN_OR_RETURN(char* joined, reserve(table, room, static_cast<int64_t>(size)));
    second.copy(joined + first.copy(joined, first.size()), second.size());
    return set_string(table, in.to, i, {joined, size});
  }));
  if (room != nullptr) table.release(room);
  return {};
}

Status split_strings(StringTable& table, const StringOperands& in) {
  const bool counts = in.to.dtype != DType::kStr;
  if (counts) SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view delimiter, delimiter_of(table, in));
  const int64_t columns = count_of(in.to) / std::max<int64_t>(count_of(in.from), 1);
  std::fill_n(in.to.data, in.to.bytes, std::byte());  // id 0 is the empty string
  return for_each_element(table, count_of(in.from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, in.from, i));
    int64_t count = 0;
    SCOPEVM_RETURN_IF_ERROR(
        for_each_piece(table, text, delimiter, in.number, [&](std::string_view piece) -> Status {
          const int64_t column = count++;
          if (is_check_due(column)) SCOPEVM_RETURN_IF_ERROR(check_interrupts(table.options()));
          if (counts || column >= columns) return {};
          return set_string(table, in.to, i * columns + column, piece);
        }));
    if (counts) set_integer(in.to, i, count);
    return {};
  });
}

Status match_strings(StringTable& table, const StringOperands& in) {
  SCOPEVM_RETURN_IF_ERROR(check_counts(in.from, in.to));
  const int64_t size = in.other->bytes / byte_size(DType::kI32);
  // An index outside of the table is the error of the whole opcode.
  bool is_valid = in.other->dtype == DType::kI32 && size > kColumns;
  const auto entry = [&](int64_t index) {
    is_valid = is_valid && index >= 0 && index < size;
    return is_valid ? id_at(*in.other, index) : -1;
  };
  const int64_t columns = entry(kColumns);
  SCOPEVM_RETURN_IF_ERROR(for_each_element(table, count_of(in.from), [&](int64_t i) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, string_at(table, in.from, i));
    int64_t state = 0;
    for (size_t at = 0; at < text.size() && state >= 0; ++at) {
      SCOPEVM_RETURN_IF_ERROR(check_at(table, at));
      state = entry(kColumns + 1 + state * columns + entry(static_cast<uint8_t>(text[at])));
    }
    set_integer(in.to, i, state >= 0 && entry(kColumns + 1 + state * columns) != 0 ? 1 : 0);
    return {};
  }));
  return is_valid ? Status() : Status(StatusCode::kInvalidModel, "the automaton is invalid");
}

}  // namespace scopevm::vm
