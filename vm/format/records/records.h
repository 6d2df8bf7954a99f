// A file of named records that belongs to a module, such as the state of calls. docs/state.md
// describes the format:
//   header    magic, version, kind of the file, digest of the module, size (RecordsHeader)
//   records   for each: sizes of its name and bytes (RecordEntry), name, bytes; both padded with
//             zeros to a multiple of 8 bytes
//   checksum  XXH3, 64 bits, of all bytes before it
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::format {

inline constexpr uint8_t kRecordsMagic[8] = {'S', 'V', 'R', 0x8B, '\r', '\n', 0x1A, '\n'};
inline constexpr uint32_t kRecordsVersion = 1;

// Integers are little-endian.
struct RecordsHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t record_count;
  char kind[16];    // "state", padded with zeros
  uint64_t module;  // digest of the module: module_digest()
  uint64_t size;    // of the file in bytes, the checksum included
};
static_assert(sizeof(RecordsHeader) == 48);

struct RecordEntry {
  uint32_t name_size;
  uint32_t reserved;  // zero
  uint64_t size;
};
static_assert(sizeof(RecordEntry) == 16);

// A named sequence of bytes.
struct Record {
  std::string_view name;
  std::span<const uint8_t> bytes;
};

// Writes a file into memory. May throw std::bad_alloc.
class RecordWriter {
 public:
  // `kind`: at most 16 characters.
  RecordWriter(std::string_view kind, uint64_t module);
  // Adds a record with the concatenation of `pieces`.
  void add(std::string_view name, std::initializer_list<std::span<const uint8_t>> pieces);
  void add_number(std::string_view name, int64_t value);
  // Adds a tensor. `bytes` are the elements in row-major order. REQUIRES: `dtype` is not kStr.
  void add_tensor(std::string_view name, DType dtype, std::span<const int64_t> dims,
                  std::span<const uint8_t> bytes);
  // The bytes of the file.
  std::vector<uint8_t> finish() &&;

 private:
  RecordsHeader header_{};
  std::vector<uint8_t> bytes_;
};

// The contents of a file. Names and bytes are in the bytes that were read.
struct Records {
  uint64_t module = 0;
  std::vector<Record> records;

  // The first record with this name; null if there is none.
  const Record* find(std::string_view name) const;
};

// Reads a file of this kind. Every byte is covered by the checksum. Errors: kInvalidArgument (the
// file is no such file, damaged or truncated), kUnsupported (another version).
Result<Records> read_records(std::span<const uint8_t> bytes, std::string_view kind);

// The value of add_number(). Errors: kInvalidArgument.
Result<int64_t> read_number(const Record& record);

// The value of add_tensor().
struct TensorRecord {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::span<const uint8_t> bytes;
};
// Errors: kInvalidArgument (an invalid element type or rank, or another number of bytes than the
// dims need).
Result<TensorRecord> read_tensor(const Record& record);

// A number that identifies the contents of a module file. REQUIRES: read_module() accepted `file`.
uint64_t module_digest(std::span<const uint8_t> file);

}  // namespace scopevm::format
