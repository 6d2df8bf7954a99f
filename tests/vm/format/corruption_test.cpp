// Tests of the reader with corrupted files. It rejects each file that fails a checksum or a check
// of its structure. It never crashes, even if the checksums are correct.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/tables.h"
#include "vm/format/binary/writer.h"
#include "vm/format/schema/module_generated.h"

namespace scopevm::format {
namespace {

using File = std::vector<uint8_t>;

// The files of four sample modules, and the files whose paths the environment variable
// SCOPEVM_TEST_MODULES contains, separated by colons.
std::vector<File> files() {
  std::vector<File> result = {write_module(dense_module()), write_module(branching_module()),
                              write_module(string_module()), write_module(external_module())};
  const char* paths = std::getenv("SCOPEVM_TEST_MODULES");
  std::string_view rest = paths ? paths : "";
  while (!rest.empty()) {
    std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in) << path;
    result.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return result;
}

std::string corruption_error(const File& file) {
  return std::string(read_module(aligned_copy(file.data(), file.size())).status().message());
}

TEST(Corruption, EverySeededByteChangeIsRejected) {
  constexpr int kChanges = 10000;
  std::mt19937_64 random(2026);
  for (const File& file : files()) {
    Bytes memory = aligned_copy(file.data(), file.size());
    ASSERT_TRUE(read_module(memory).ok());
    auto* bytes = const_cast<uint8_t*>(memory.data);
    for (int i = 0; i < kChanges; ++i) {
      uint64_t at = random() % file.size();
      auto change = static_cast<uint8_t>(1 + random() % 255);
      bytes[at] ^= change;
      Result<ModuleContents> read = read_module(memory);
      ASSERT_FALSE(read.ok()) << "byte " << at << " changed by " << int{change};
      ASSERT_FALSE(read.status().message().empty());
      bytes[at] ^= change;
    }
  }
}

TEST(Corruption, EveryTruncationIsRejected) {
  constexpr size_t kMostLengths = 10000;
  for (const File& file : files()) {
    Bytes memory = aligned_copy(file.data(), file.size());
    size_t step = std::max<size_t>(1, file.size() / kMostLengths);
    for (size_t size = 0; size < file.size(); size += step)
      ASSERT_FALSE(read_module({memory.owner, memory.data, size}).ok()) << size;
    EXPECT_FALSE(read_module({memory.owner, memory.data, file.size() - 1}).ok());
  }
}

TEST(Corruption, MessagesContainErrorAndLocation) {
  File good = write_module(dense_module());
  auto changed = [&](size_t at) {
    File file = good;
    file[at] ^= 1;
    return corruption_error(file);
  };
  EXPECT_EQ(corruption_error({}), "not a scopevm module: empty file");
  EXPECT_EQ(changed(0), "not a scopevm module: bad magic number");
  EXPECT_EQ(changed(8), "header: checksum mismatch; the file is damaged");
  EXPECT_EQ(changed(70), "section table at byte 64: checksum mismatch; the file is damaged");
  EXPECT_EQ(changed(400), "section tables at byte 384: checksum mismatch; the file is damaged");
  File longer = good;
  longer.push_back(0);
  EXPECT_EQ(corruption_error(longer),
            "trailing data: 1 byte after the end at byte " + std::to_string(good.size()));
  File shorter(good.begin(), good.end() - 1);
  EXPECT_EQ(corruption_error(shorter), "truncated: " + std::to_string(shorter.size()) +
                                           " bytes, expected " + std::to_string(good.size()) +
                                           " according to the header");
}

// Recomputes the checksums of a file with changed tables, section table or header.
void update_checksums(File& file) {
  SectionEntry tables;
  std::memcpy(&tables, file.data() + sizeof(FileHeader), sizeof(tables));
  tables.checksum = checksum(file.data() + tables.offset, tables.size);
  std::memcpy(file.data() + sizeof(FileHeader), &tables, sizeof(tables));
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.section_table_checksum =
      checksum(file.data() + sizeof(FileHeader), header.section_count * sizeof(SectionEntry));
  header.header_checksum = checksum(&header, offsetof(FileHeader, header_checksum));
  std::memcpy(file.data(), &header, sizeof(header));
}

TEST(Corruption, ReservedBytesMustBeZero) {
  const auto error_at = [](size_t at) {
    File file = write_module(dense_module());
    file[at] = 1;
    update_checksums(file);
    return corruption_error(file);
  };
  for (size_t i = 0; i < sizeof(FileHeader::reserved); ++i)
    EXPECT_EQ(error_at(offsetof(FileHeader, reserved) + i), "header: reserved bytes are not zero");
  EXPECT_EQ(error_at(sizeof(FileHeader) + offsetof(SectionEntry, reserved)),
            "section tables: reserved bytes are not zero");
  EXPECT_EQ(error_at(sizeof(FileHeader) + sizeof(SectionEntry) + offsetof(SectionEntry, reserved)),
            "section code: reserved bytes are not zero");
}

// Tables that share a vector would be much larger in memory than in the file.
TEST(Corruption, SharedSlotsAreRejected) {
  constexpr size_t kSlots = 10000, kChecks = 1000;
  flatbuffers::FlatBufferBuilder b;
  const auto message = b.CreateString("");
  const auto slots = b.CreateVector(std::vector<uint32_t>(kSlots));
  std::vector<flatbuffers::Offset<fb::Check>> checks;
  for (size_t i = 0; i < kChecks; ++i) checks.push_back(fb::CreateCheck(b, message, 0, 0, slots));
  const std::vector shape_functions = {fb::CreateShapeFunctionDirect(b, "f", 1, 0, &checks)};
  const std::vector<flatbuffers::Offset<fb::Device>> devices;
  const std::vector<flatbuffers::Offset<fb::Pool>> pools;
  const std::vector<flatbuffers::Offset<fb::Function>> functions;
  const std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
  const std::vector<flatbuffers::Offset<fb::Constant>> constants;
  const std::vector<flatbuffers::Offset<fb::Image>> images;
  const std::vector<flatbuffers::Offset<fb::Variant>> variants;
  const std::vector<flatbuffers::Offset<flatbuffers::String>> strings;
  const std::vector<flatbuffers::Offset<fb::Launch>> launches;
  b.Finish(fb::CreateModuleDirect(b, "", &devices, &pools, &functions, &shape_functions, &kernels,
                                  &constants, &images, &strings, &variants, &strings, &launches));
  const Result<Tables> tables = read_tables({b.GetBufferPointer(), b.GetSize()});
  EXPECT_EQ(tables.status().message(), "tables or strings overlap");
}

// If the reader ignores the checksum of the constants, it still detects all other corruption.
TEST(Corruption, UncheckedConstantsAreTheOnlyException) {
  ModuleContents module = dense_module();
  File file = write_module(module);
  ReadOptions options;
  options.check_constants = false;
  Bytes memory = aligned_copy(file.data(), file.size());
  Result<ModuleContents> read = read_module(memory);
  ASSERT_TRUE(read.ok());
  *const_cast<uint8_t*>(read->constants[0].bytes.data) ^= 1;
  EXPECT_FALSE(read_module(memory).ok());
  EXPECT_TRUE(read_module(memory, options).ok());
  *const_cast<uint8_t*>(read->images[0].bytes.data) ^= 1;
  EXPECT_FALSE(read_module(memory, options).ok());
}

// A copy of `good` in which `to` replaces the number `from` of its tables. Its checksums are
// correct.
File replaced(const File& good, double from, double to) {
  File file = good;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&from);
  const auto at = std::search(file.begin(), file.end(), bytes, bytes + sizeof from);
  EXPECT_NE(at, file.end());
  if (at != file.end()) std::memcpy(&*at, &to, sizeof to);
  update_checksums(file);
  return file;
}

TEST(Corruption, ImpossibleSpeedsAreRejected) {
  constexpr double kRead = 12345e6, kWrite = 12346e6, kLatency = 12345e-9;
  ModuleContents module = dense_module();
  module.pools[1].speed = {kRead, kWrite, kLatency, 64};
  const File good = write_module(module);
  EXPECT_EQ(corruption_error(replaced(good, kRead, 1)), "");
  EXPECT_EQ(corruption_error(replaced(good, kWrite, 0)), "");
  EXPECT_EQ(corruption_error(replaced(good, kLatency, 3600)), "");
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (double bad : {-0.0, -1.0, nan, -nan, infinity, -infinity, 1e-310, 5e-324, 0.5, 1e300}) {
    EXPECT_EQ(corruption_error(replaced(good, kRead, bad)),
              "section tables: read_bytes_per_second of a pool is out of range")
        << bad;
    EXPECT_EQ(corruption_error(replaced(good, kWrite, bad)),
              "section tables: write_bytes_per_second of a pool is out of range")
        << bad;
  }
  for (double bad : {-0.0, -1e-6, nan, infinity, -infinity, 1e-310, 3601.0})
    EXPECT_EQ(corruption_error(replaced(good, kLatency, bad)),
              "section tables: latency_seconds of a pool is out of range")
        << bad;
}

// Corrupted tables with correct checksums, as in a malicious file: the reader rejects or accepts
// them without a crash.
TEST(Corruption, RandomTablesWithValidChecksumsDoNotCrash) {
  std::mt19937_64 random(7);
  File good = write_module(dense_module());
  for (int round = 0; round < 20000; ++round) {
    File file = good;
    SectionEntry tables;
    std::memcpy(&tables, file.data() + sizeof(FileHeader), sizeof(tables));
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      file[tables.offset + random() % tables.size] = static_cast<uint8_t>(random());
    update_checksums(file);
    Result<ModuleContents> read = read_module(aligned_copy(file.data(), file.size()));
    if (!read.ok()) {
      ASSERT_FALSE(read.status().message().empty());
    }
  }
}

}  // namespace
}  // namespace scopevm::format
