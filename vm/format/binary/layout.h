// The binary layout of a module file: header, section table, alignment. docs/module-format.md
// describes it. Integers are little-endian. The structs are copied to and from the file without
// conversion.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

static_assert(std::endian::native == std::endian::little, "module.bc is little-endian");

// "SVM", a non-ASCII byte, CR LF, SUB and LF. A transfer in text mode changes these bytes and is
// thereby detected, as with the PNG signature.
inline constexpr uint8_t kMagic[8] = {'S', 'V', 'M', 0x8B, '\r', '\n', 0x1A, '\n'};

// The version that this release writes. It reads every file of this major version whose minor
// version is at least kOldestMinor and whose `min_reader` is at most kVersionMinor.
inline constexpr uint16_t kVersionMajor = 0;
inline constexpr uint16_t kVersionMinor = 15;
inline constexpr uint16_t kOldestMinor = 15;

// "0.15"
inline std::string version_text(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

struct FileHeader {
  uint8_t magic[8];
  uint16_t version_major;
  uint16_t version_minor;  // of the writer
  uint32_t section_count;
  uint64_t file_size;
  uint64_t section_table_offset;
  uint64_t section_table_checksum;
  uint16_t min_reader;       // the least minor version of a reader that can read the file
  uint8_t reserved[14];      // zero
  uint64_t header_checksum;  // of the bytes before it
};
static_assert(sizeof(FileHeader) == 64);

// The sections that every file has, in the order of the file.
enum class SectionKind : uint32_t { kTables = 0, kCode = 1, kConstants = 2, kImages = 3 };
inline constexpr uint32_t kSectionCount = 4;
inline constexpr const char* kSectionNames[kSectionCount] = {"tables", "code", "constants",
                                                             "images"};
// Further sections follow these. A reader skips those that it does not know, unless they are
// required.
inline constexpr uint32_t kMostSections = 64;
inline constexpr std::array<std::string_view, 0> kKnownSections = {};  // further sections

// The values of ModuleContents::required_features that this release implements.
inline constexpr std::array kKnownFeatures = {kRanksFeature};

// The entries are in the order of the sections in the file.
struct SectionEntry {
  char name[16];      // letters, digits, '_', '-' and '.'; padded with zeros
  uint32_t flags;     // kRequiredSection
  uint32_t reserved;  // zero
  uint64_t offset;    // from the start of the file; a multiple of kAlignment
  uint64_t size;
  uint64_t checksum;  // XXH3, 64 bits

  std::string_view name_text() const {
    return {name, static_cast<size_t>(std::ranges::find(name, '\0') - name)};
  }
};
static_assert(sizeof(SectionEntry) == 48);

// The start of section `weights`, and of each element of section `weights.ranks`. The name of the
// file follows, without a terminator; in `weights.ranks`, after a RankWeightsEntry.
struct WeightsEntry {
  uint64_t size;       // of the file of weights
  uint64_t checksum;   // XXH3, 64 bits
  uint8_t digest[32];  // BLAKE2b, 256 bits
};
static_assert(sizeof(WeightsEntry) == 48);

struct RankWeightsEntry {
  uint32_t rank;
  uint32_t name_bytes;  // of the name
};
static_assert(sizeof(RankWeightsEntry) == 8);

// A reader that does not know the section must refuse the file.
inline constexpr uint32_t kRequiredSection = 1;

// Whether a section can have this name.
constexpr bool is_section_name(std::string_view name) {
  return !name.empty() && name.size() <= sizeof(SectionEntry::name) &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

// REQUIRES: is_section_name(name).
inline SectionEntry section_entry(std::string_view name, bool is_required, uint64_t offset,
                                  uint64_t size, uint64_t checksum) {
  SectionEntry entry = {};
  std::ranges::copy(name, entry.name);
  entry.flags = is_required ? kRequiredSection : 0;
  entry.offset = offset;
  entry.size = size;
  entry.checksum = checksum;
  return entry;
}

// REQUIRES: value <= 2^64 - kAlignment.
constexpr uint64_t align_up(uint64_t value) { return (value + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace scopevm::format
