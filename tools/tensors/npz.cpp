// Reads ZIP archives of arrays; see npz.h. The format is that of PKWARE's APPNOTE.TXT 6.3.
#include "tools/tensors/npz.h"

#define ZLIB_CONST
#include <zlib.h>

#include <cstring>
#include <new>
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
constexpr uint16_t kStored = 0, kDeflated = 8;  // methods of compression
constexpr uint64_t kMostInflated = 1032;        // bytes for each byte of deflated data
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
  uint16_t method = kStored;
  uint32_t crc = 0;   // CRC-32 of the array
  uint64_t size = 0;  // of the array
  Bytes bytes;        // in the archive
  size_t next = 0;    // offset of the next entry
};

Result<Entry> read_entry(Bytes file, size_t at) {
  if (at > file.size() || file.size() - at < kEntrySize ||
      load<uint32_t>(file, at) != kEntrySignature)
    return zip_error("damaged ZIP archive: invalid directory");
  const uint64_t size = load<uint32_t>(file, at + 20), local = load<uint32_t>(file, at + 42);
  const size_t name_size = load<uint16_t>(file, at + 28);
  Entry entry;
  entry.method = load<uint16_t>(file, at + 10);
  entry.crc = load<uint32_t>(file, at + 16);
  entry.size = load<uint32_t>(file, at + 24);
  entry.next =
      at + kEntrySize + name_size + load<uint16_t>(file, at + 30) + load<uint16_t>(file, at + 32);
  if (entry.next > file.size()) return zip_error("damaged ZIP archive: invalid directory");
  entry.name.assign(reinterpret_cast<const char*>(file.data()) + at + kEntrySize, name_size);
  if (entry.method != kStored && entry.method != kDeflated)
    return Status(StatusCode::kUnsupported, "\"" + entry.name + "\" has compression method " +
                                                std::to_string(entry.method) +
                                                ", which is not supported");
  if (size == UINT32_MAX || entry.size == UINT32_MAX || local == UINT32_MAX)
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

// Decompresses (RFC 1951). Returns fewer than `size` bytes if the data are damaged.
std::vector<uint8_t> inflate_bytes(Bytes deflated, uint64_t size) {
  std::vector<uint8_t> bytes;
  if (size > deflated.size() * kMostInflated) return bytes;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  bytes.resize(size);
  stream.next_in = deflated.data();
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = bytes.data();
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  bytes.resize(result == Z_STREAM_END ? stream.total_out : 0);
  (void)inflateEnd(&stream);
  return bytes;
}

Result<Tensor> read_array(const Entry& entry) {
  std::vector<uint8_t> inflated;
  Bytes bytes = entry.bytes;
  if (entry.method == kDeflated) bytes = inflated = inflate_bytes(entry.bytes, entry.size);
  if (bytes.size() != entry.size || crc32_z(0, bytes.data(), bytes.size()) != entry.crc)
    return zip_error("checksum mismatch; the file is damaged");
  return read_npy_bytes(bytes);
}

Result<std::vector<NamedValue>> read_archive(Bytes file) {
  const std::optional<size_t> end = find_end(file);
  if (!end) return zip_error("not a .npz file");
  std::vector<NamedValue> values;
  size_t at = load<uint32_t>(file, *end + 16);
  for (uint16_t count = load<uint16_t>(file, *end + 10); count > 0; --count) {
    SCOPEVM_ASSIGN_OR_RETURN(Entry entry, read_entry(file, at));
    at = entry.next;
    Result<Tensor> tensor = read_array(entry);
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
