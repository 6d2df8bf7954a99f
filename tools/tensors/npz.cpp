// Reads ZIP archives of arrays; see npz.h. The format is that of PKWARE's APPNOTE.TXT 6.3.
#include "tools/tensors/npz.h"

#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tools/files/file.h"
#include "tools/tensors/npy.h"

namespace scopevm::tool {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t kEndSignature = 0x06054b50, kEntrySignature = 0x02014b50,
                   kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kMaxComment = 0xffff;
constexpr std::string_view kNpy = ".npy";

// REQUIRES: at + sizeof(T) <= bytes.size().
template <typename T>
T load(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Status zip_error(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

// The offset of the record at the end of the archive, which a comment can follow.
std::optional<size_t> find_end(Bytes file) {
  if (file.size() < kEndSize) return std::nullopt;
  for (size_t back = 0; back <= kMaxComment && back + kEndSize <= file.size(); ++back) {
    const size_t at = file.size() - kEndSize - back;
    if (load<uint32_t>(file, at) == kEndSignature) return at;
  }
  return std::nullopt;
}

// One entry of the directory.
struct Entry {
  std::string name;
  Bytes bytes;
  size_t next = 0;  // offset of the next entry
};

Result<Entry> read_entry(Bytes file, size_t at) {
  if (at > file.size() || file.size() - at < kEntrySize ||
      load<uint32_t>(file, at) != kEntrySignature)
    return zip_error("damaged ZIP archive: invalid directory");
  const auto method = load<uint16_t>(file, at + 10);
  const uint64_t size = load<uint32_t>(file, at + 20), local = load<uint32_t>(file, at + 42);
  const size_t name_size = load<uint16_t>(file, at + 28);
  Entry entry;
  entry.next =
      at + kEntrySize + name_size + load<uint16_t>(file, at + 30) + load<uint16_t>(file, at + 32);
  if (entry.next > file.size()) return zip_error("damaged ZIP archive: invalid directory");
  entry.name.assign(reinterpret_cast<const char*>(file.data()) + at + kEntrySize, name_size);
  if (method != 0)
    return Status(StatusCode::kUnsupported,
                  "\"" + entry.name + "\" is compressed; write the file with numpy.savez()");
  if (size == UINT32_MAX || local == UINT32_MAX)
    return Status(StatusCode::kUnsupported, "archives above 4 GiB are not supported");
  if (local + kLocalSize > file.size() || load<uint32_t>(file, local) != kLocalSignature)
    return zip_error("damaged ZIP archive: \"" + entry.name + "\" is missing");
  const uint64_t begin =
      local + kLocalSize + load<uint16_t>(file, local + 26) + load<uint16_t>(file, local + 28);
  if (begin > file.size() || size > file.size() - begin)
    return zip_error("damaged ZIP archive: \"" + entry.name + "\" is truncated");
  entry.bytes = file.subspan(begin, size);
  return entry;
}

Result<std::vector<NamedValue>> read_archive(Bytes file) {
  const std::optional<size_t> end = find_end(file);
  if (!end) return zip_error("not a .npz file");
  std::vector<NamedValue> values;
  size_t at = load<uint32_t>(file, *end + 16);
  for (uint16_t count = load<uint16_t>(file, *end + 10); count > 0; --count) {
    SCOPEVM_ASSIGN_OR_RETURN(Entry entry, read_entry(file, at));
    at = entry.next;
    Result<Tensor> tensor = read_npy_bytes(entry.bytes);
    if (!tensor.ok()) return std::move(tensor).status().with_context(entry.name);
    if (entry.name.ends_with(kNpy)) entry.name.resize(entry.name.size() - kNpy.size());
    values.push_back({std::move(entry.name), ValueKind::kTensor, true, {*std::move(tensor)}});
  }
  return values;
}

}  // namespace

Result<std::vector<NamedValue>> read_npz(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  Result<std::vector<NamedValue>> values = read_archive({file.data, file.size});
  if (!values.ok()) return std::move(values).status().with_context(input_name(path));
  return values;
}

}  // namespace scopevm::tool
