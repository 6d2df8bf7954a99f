// Writes, validates and reads files of records; see records.h.
#include "vm/format/records/records.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "scopevm/tensor.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"

namespace scopevm::format {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kPadding = 8;
constexpr size_t kChecksumSize = sizeof(uint64_t);

// The header of a tensor; its dims and bytes follow.
struct TensorHeader {
  uint32_t dtype;
  uint32_t rank;
};

size_t padded(size_t size) { return (size + kPadding - 1) / kPadding * kPadding; }

template <typename T>
std::span<const uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

template <typename T>
std::span<const uint8_t> bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status invalid_file(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

Status damaged() { return invalid_file("checksum mismatch; the file is damaged"); }

// Takes the next bytes of a file.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : rest_(bytes) {}

  std::optional<std::span<const uint8_t>> take(uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const std::span<const uint8_t> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  template <typename T>
  std::optional<T> take() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }
  // Takes bytes and their padding, which must be zero.
  std::optional<std::span<const uint8_t>> take_padded(uint64_t size) {
    const auto taken = take(size);
    const auto padding = taken ? take(padded(size) - size) : std::nullopt;
    if (!padding || std::ranges::any_of(*padding, [](uint8_t byte) { return byte != 0; }))
      return std::nullopt;
    return taken;
  }
  bool is_at_end() const { return rest_.empty(); }
  size_t size() const { return rest_.size(); }

 private:
  std::span<const uint8_t> rest_;
};

Result<RecordsHeader> read_records_header(std::span<const uint8_t> bytes, std::string_view kind) {
  const std::string expected = "not a file of kind \"" + std::string(kind) + "\"";
  if (bytes.size() < sizeof kRecordsMagic ||
      std::memcmp(bytes.data(), kRecordsMagic, sizeof kRecordsMagic) != 0)
    return invalid_file(expected + ": its first bytes differ");
  const auto header = Cursor(bytes).take<RecordsHeader>();
  if (!header || bytes.size() < sizeof(RecordsHeader) + kChecksumSize)
    return invalid_file("the file is truncated: it has " + std::to_string(bytes.size()) + " bytes");
  if (header->version != kRecordsVersion)
    return Status(StatusCode::kUnsupported, "the file has version " +
                                                std::to_string(header->version) + ", expected " +
                                                std::to_string(kRecordsVersion));
  if (header->size > bytes.size())
    return invalid_file("the file is truncated: it has " + std::to_string(bytes.size()) +
                        " bytes, expected " + std::to_string(header->size));
  if (header->size < bytes.size())
    return invalid_file("the file has " + std::to_string(bytes.size() - header->size) +
                        " bytes after its end");
  const std::string_view given(header->kind, std::ranges::find(header->kind, '\0') - header->kind);
  uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - kChecksumSize, sizeof stored);
  if (checksum(bytes.data(), bytes.size() - kChecksumSize) != stored) return damaged();
  if (given != kind) return invalid_file(expected + ": its kind is \"" + std::string(given) + "\"");
  return *header;
}

}  // namespace

RecordWriter::RecordWriter(std::string_view kind, uint64_t module) {
  std::ranges::copy(kRecordsMagic, header_.magic);
  header_.version = kRecordsVersion;
  std::ranges::copy(kind.substr(0, sizeof header_.kind), header_.kind);
  header_.module = module;
  bytes_.resize(sizeof header_);
}

void RecordWriter::add(std::string_view name,
                       std::initializer_list<std::span<const uint8_t>> pieces) {
  size_t size = 0;
  for (const std::span<const uint8_t> piece : pieces) size += piece.size();
  const RecordEntry entry = {static_cast<uint32_t>(name.size()), 0, size};
  bytes_.reserve(bytes_.size() + sizeof entry + padded(name.size()) + padded(size));
  const auto append = [this](std::span<const uint8_t> piece) {
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
  };
  append(bytes_of(entry));
  append(bytes_of(std::span(name.data(), name.size())));
  bytes_.resize(padded(bytes_.size()));
  for (const std::span<const uint8_t> piece : pieces) append(piece);
  bytes_.resize(padded(bytes_.size()));
  ++header_.record_count;
}

void RecordWriter::add_number(std::string_view name, int64_t value) {
  add(name, {bytes_of(value)});
}

void RecordWriter::add_tensor(std::string_view name, DType dtype, std::span<const int64_t> dims,
                              std::span<const uint8_t> bytes) {
  const TensorHeader header = {static_cast<uint32_t>(dtype), static_cast<uint32_t>(dims.size())};
  add(name, {bytes_of(header), bytes_of(dims), bytes});
}

std::vector<uint8_t> RecordWriter::finish() && {
  header_.size = bytes_.size() + kChecksumSize;
  std::memcpy(bytes_.data(), &header_, sizeof header_);
  const uint64_t sum = checksum(bytes_.data(), bytes_.size());
  const std::span<const uint8_t> end = bytes_of(sum);
  bytes_.insert(bytes_.end(), end.begin(), end.end());
  return std::move(bytes_);
}

const Record* Records::find(std::string_view name) const {
  const auto found = std::ranges::find(records, name, &Record::name);
  return found == records.end() ? nullptr : &*found;
}

Result<Records> read_records(std::span<const uint8_t> bytes, std::string_view kind) {
  SCOPEVM_ASSIGN_OR_RETURN(const RecordsHeader header, read_records_header(bytes, kind));
  Records out;
  out.module = header.module;
  Cursor cursor(bytes.first(bytes.size() - kChecksumSize).subspan(sizeof header));
  // The checksum does not protect from a file that was made to harm.
  for (uint32_t i = 0; i < header.record_count; ++i) {
    const auto entry = cursor.take<RecordEntry>();
    const auto name = entry ? cursor.take_padded(entry->name_size) : std::nullopt;
    const auto contents = name ? cursor.take_padded(entry->size) : std::nullopt;
    if (!contents || entry->reserved != 0)
      return invalid_file("record " + std::to_string(i) + " is invalid");
    out.records.push_back({text_of(*name), *contents});
  }
  if (!cursor.is_at_end())
    return invalid_file(std::to_string(cursor.size()) + " bytes follow the last record");
  return out;
}

Result<int64_t> read_number(const Record& record) {
  Cursor cursor(record.bytes);
  const auto value = cursor.take<int64_t>();
  if (value && cursor.is_at_end()) return *value;
  return invalid_file("record \"" + std::string(record.name) + "\" is not a number");
}

Result<TensorRecord> read_tensor(const Record& record) {
  const auto invalid = [&] {
    return invalid_file("record \"" + std::string(record.name) + "\" is not a tensor");
  };
  Cursor cursor(record.bytes);
  const auto header = cursor.take<TensorHeader>();
  if (!header || header->dtype >= static_cast<uint32_t>(kDTypeCount) ||
      static_cast<DType>(header->dtype) == DType::kStr || header->rank > kMaxRank)
    return invalid();
  TensorRecord out;
  out.dtype = static_cast<DType>(header->dtype);
  const int64_t element = byte_size(out.dtype);
  int64_t size = element;
  for (uint32_t axis = 0; axis < header->rank; ++axis) {
    const auto dim = cursor.take<int64_t>();
    if (!dim || *dim < 0 || __builtin_mul_overflow(size, *dim, &size)) return invalid();
    out.dims.push_back(*dim);
  }
  if (static_cast<uint64_t>(byte_size(out.dtype, size / element)) != cursor.size())
    return invalid();
  out.bytes = *cursor.take(cursor.size());
  return out;
}

// The checksum of the section table depends on the checksums of all sections.
uint64_t module_digest(std::span<const uint8_t> file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header.section_table_checksum;
}

}  // namespace scopevm::format
