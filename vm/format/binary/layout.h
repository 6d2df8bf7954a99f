// The binary layout of a module file: header, section table, alignment. docs/module-format.md
// describes it. Integers are little-endian. The structs are copied to and from the file without
// conversion.
#pragma once

#include <bit>
#include <cstdint>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

static_assert(std::endian::native == std::endian::little, "module.bc is little-endian");

// "SVM", a non-ASCII byte, CR LF, SUB and LF. A transfer in text mode changes these bytes and is
// thereby detected, as with the PNG signature.
inline constexpr uint8_t kMagic[8] = {'S', 'V', 'M', 0x8B, '\r', '\n', 0x1A, '\n'};
inline constexpr uint16_t kVersionMajor = 0;
inline constexpr uint16_t kVersionMinor = 14;

struct FileHeader {
  uint8_t magic[8];
  uint16_t version_major;
  uint16_t version_minor;
  uint32_t section_count;
  uint64_t file_size;
  uint64_t section_table_offset;
  uint64_t section_table_checksum;
  uint64_t reserved[2];      // zero
  uint64_t header_checksum;  // of the bytes before it
};
static_assert(sizeof(FileHeader) == 64);

enum class SectionKind : uint32_t { kTables = 0, kCode = 1, kConstants = 2, kImages = 3 };
inline constexpr uint32_t kSectionCount = 4;
inline constexpr const char* kSectionNames[kSectionCount] = {"tables", "code", "constants",
                                                             "images"};

// The entries are sorted by kind, and so are the sections in the file.
struct SectionEntry {
  uint32_t kind;
  uint32_t reserved;  // zero
  uint64_t offset;    // from the start of the file; a multiple of kAlignment
  uint64_t size;
  uint64_t checksum;  // XXH3, 64 bits
};
static_assert(sizeof(SectionEntry) == 32);

// REQUIRES: value <= 2^64 - kAlignment.
constexpr uint64_t align_up(uint64_t value) { return (value + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace scopevm::format
