// Files of other versions, further sections and required features: docs/module-format.md#versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/min_reader.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/writer.h"

namespace scopevm::format {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using File = std::vector<uint8_t>;

Result<ModuleContents> read(const File& file) {
  return read_module(aligned_copy(file.data(), file.size()));
}
std::string version_error(const File& file) { return std::string(read(file).status().message()); }
std::string version_error(const ModuleContents& module) {
  return version_error(write_module(module));
}

FileHeader header_of(const File& file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

// The file of dense_module() with a changed header or section table, and correct checksums.
File changed(auto change) {
  File file = write_module(dense_module());
  FileHeader header = header_of(file);
  std::vector<SectionEntry> entries(header.section_count);
  const size_t table_bytes = entries.size() * sizeof(SectionEntry);
  std::memcpy(entries.data(), file.data() + sizeof header, table_bytes);
  change(header, entries);
  header.section_table_checksum = checksum(entries.data(), table_bytes);
  header.header_checksum = checksum(&header, offsetof(FileHeader, header_checksum));
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, entries.data(), table_bytes);
  return file;
}

File with_version(int major, int minor, int min_reader) {
  return changed([&](FileHeader& header, auto&) {
    header.version_major = static_cast<uint16_t>(major);
    header.version_minor = static_cast<uint16_t>(minor);
    header.min_reader = static_cast<uint16_t>(min_reader);
  });
}

std::string error_of_entry(auto change) {
  return version_error(changed([&](FileHeader&, auto& entries) { change(entries); }));
}

constexpr int kNext = kVersionMinor + 1;
const std::string kKnown = kOldestMinor == kVersionMinor
                               ? version_text(kVersionMajor, kVersionMinor)
                               : version_text(kVersionMajor, kOldestMinor) + " to " +
                                     version_text(kVersionMajor, kVersionMinor);

TEST(Version, FileOfALaterMinorVersionLoadsIfItsContentsAreKnown) {
  const Result<ModuleContents> module = read(with_version(kVersionMajor, kNext, kVersionMinor));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(are_equal(*module, dense_module()));
}

TEST(Version, FileForLaterReadersIsRejected) {
  EXPECT_EQ(version_error(with_version(kVersionMajor, kNext, kNext)),
            "the module requires a reader of module format " + version_text(kVersionMajor, kNext) +
                ", and this release reads " + kKnown +
                "; use a later release, or compile the model again with this release");
}

TEST(Version, OtherMajorAndOlderMinorVersionsAreRejected) {
  const std::string expected =
      ", expected " + kKnown + "; compile the model again with this release";
  EXPECT_EQ(version_error(with_version(7, kVersionMinor, 0)),
            "unsupported module format " + version_text(7, kVersionMinor) + expected);
  EXPECT_EQ(
      version_error(with_version(kVersionMajor, kOldestMinor - 1, 0)),
      "unsupported module format " + version_text(kVersionMajor, kOldestMinor - 1) + expected);
}

TEST(Version, WriterPermitsTheOldestReaders) {
  for (const ModuleContents& module : {dense_module(), branching_module(), variant_module(),
                                       string_module(), stack_module(), external_module()}) {
    EXPECT_EQ(min_reader(module), kOldestMinor);
    const FileHeader header = header_of(write_module(module));
    EXPECT_EQ(header.min_reader, kOldestMinor);
    EXPECT_EQ(header.version_minor, kVersionMinor);
  }
}

TEST(Version, InstructionsOfLengthZeroDoNotHangTheWriter) {
  ModuleContents module = dense_module();
  module.functions[0].code = {1, 0, 0xFFFFFFFF};
  EXPECT_EQ(min_reader(module), kOldestMinor);
}

TEST(FurtherSections, UnknownRequiredSectionIsAnErrorThatNamesIt) {
  ModuleContents module = dense_module();
  module.sections[0].is_required = true;
  EXPECT_EQ(version_error(module),
            "section note is required, and this release does not know it; use a later release");
}

TEST(FurtherSections, AreValidatedLikeOthers) {
  File file = write_module(dense_module());
  SectionEntry entry;
  std::memcpy(&entry, file.data() + sizeof(FileHeader) + kSectionCount * sizeof entry,
              sizeof entry);
  ASSERT_EQ(entry.name_text(), "note");
  file[entry.offset] ^= 1;
  EXPECT_EQ(version_error(file), "section note at byte " + std::to_string(entry.offset) +
                                     ": checksum mismatch; the file is damaged");
  EXPECT_EQ(error_of_entry([](auto& entries) { entries[4].size += 1; }),
            "section note at byte " + std::to_string(entry.offset) +
                ": checksum mismatch; the file is damaged");
  EXPECT_THAT(
      error_of_entry([](auto& entries) { entries[5].size += 1; }),
      AllOf(StartsWith("section x-1.b_c at byte "), HasSubstr("1 byte exceed the file of")));
  EXPECT_THAT(error_of_entry([](auto& entries) { entries[5].offset += kAlignment; }),
              StartsWith("section x-1.b_c: expected at byte "));
}

TEST(FurtherSections, AreAligned) {
  const File file = write_module(dense_module());
  const Result<ModuleContents> module = read(file);
  ASSERT_TRUE(module.ok());
  for (const SectionDecl& section : module->sections)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(section.bytes.data) % kAlignment, 0u);
}

TEST(SectionTable, InvalidEntriesAreRejected) {
  const auto rename = [](SectionEntry& entry, std::string_view name) {
    std::memset(entry.name, 0, sizeof entry.name);
    std::memcpy(entry.name, name.data(), name.size());
  };
  EXPECT_EQ(error_of_entry([&](auto& entries) { rename(entries[4], "a b"); }),
            "section table: entry 4 has an invalid name");
  EXPECT_EQ(error_of_entry([&](auto& entries) { rename(entries[4], ""); }),
            "section table: entry 4 has an invalid name");
  EXPECT_EQ(error_of_entry([&](auto& entries) { entries[4].name[10] = 'x'; }),
            "section table: entry 4 has an invalid name");
  EXPECT_EQ(error_of_entry([&](auto& entries) { rename(entries[4], "x-1.b_c"); }),
            "section x-1.b_c: the name is not unique");
  EXPECT_EQ(error_of_entry([&](auto& entries) { rename(entries[5], "code"); }),
            "section code: the name is not unique");
  EXPECT_EQ(error_of_entry([&](auto& entries) { rename(entries[1], "cod"); }),
            "section cod: expected section code");
  EXPECT_EQ(error_of_entry([&](auto& entries) { entries[4].flags = 6; }),
            "section note: unknown flags 6");
  EXPECT_EQ(error_of_entry([&](auto& entries) { entries[0].reserved = 1; }),
            "section tables: reserved bytes are not zero");
}

TEST(SectionTable, NumberOfSectionsIsLimited) {
  for (const uint32_t count : {0u, kSectionCount - 1, kMostSections + 1, 0xFFFFFFFFu})
    EXPECT_EQ(version_error(changed([&](FileHeader& header, auto&) {
                header.section_count = count;
              })).substr(0, 29),
              "header: invalid section table");
}

TEST(RequiredFeatures, UnknownOneIsAnErrorThatNamesIt) {
  ModuleContents module = dense_module();
  module.required_features = {"weights in another file"};
  EXPECT_EQ(version_error(module),
            "section tables: the module requires feature \"weights in another file\", which this "
            "release does not implement; use a later release");
}

}  // namespace
}  // namespace scopevm::format
