// Modules whose constants are in a file of weights: round trips, errors, and damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

using ::testing::HasSubstr;

using File = std::vector<uint8_t>;

File weights_bytes(const ModuleContents& module) {
  File bytes;
  for (const std::span<const uint8_t> piece : weights_of(module))
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

// The file of weights of a module, called "w.bin".
WeightsFile describe(const ModuleContents& module) {
  const File bytes = weights_bytes(module);
  WeightsFile file = {"w.bin", bytes.size(), checksum(bytes.data(), bytes.size())};
  file.digest.fill(0xA5);
  return file;
}

File separate_module(const ModuleContents& module) {
  const WeightsFile file = describe(module);
  return write_module(module, {&file, 1});
}

Result<ModuleContents> read_with(const File& module, const Bytes& weights, bool check = true) {
  return read_module(aligned_copy(module.data(), module.size()),
                     {.check_constants = check, .find_weights = [&](const WeightsFile& file) {
                        EXPECT_EQ(file.name, "w.bin");
                        return Result<std::optional<Bytes>>(weights);
                      }});
}

std::string error_with(const File& module, const File& weights) {
  return std::string(
      read_with(module, aligned_copy(weights.data(), weights.size())).status().message());
}

TEST(Weights, RoundTripKeepsEveryField) {
  for (const ModuleContents& module :
       {dense_module(), branching_module(), string_module(), external_module(), ModuleContents()}) {
    const File weights = weights_bytes(module);
    const Result<ModuleContents> read =
        read_with(separate_module(module), aligned_copy(weights.data(), weights.size()));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(are_equal(module, *read));
    // The contents do not depend on where the constants are stored.
    EXPECT_EQ(write_module(*read), write_module(module));
    EXPECT_EQ(separate_module(*read), separate_module(module));
  }
}

TEST(Weights, AreUsedInPlace) {
  const ModuleContents module = dense_module();
  const File bytes = weights_bytes(module);
  const Bytes weights = aligned_copy(bytes.data(), bytes.size());
  const Result<ModuleContents> read = read_with(separate_module(module), weights);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->constants[0].bytes.data, weights.data);
  EXPECT_EQ(read->constants[0].bytes.owner, weights.owner);
}

TEST(Weights, ModuleDoesNotContainThem) {
  ModuleContents module = dense_module();
  const File one = separate_module(module);
  const std::string marker(module.constants[0].bytes.size, 'W');
  module.constants[0].bytes = bytes_of(marker);
  const File other = separate_module(module);
  EXPECT_EQ(one.size(), other.size());
  EXPECT_EQ(std::string(other.begin(), other.end()).find(marker), std::string::npos);
}

TEST(Weights, AssemblyContainsThem) {
  const ModuleContents module = dense_module();
  const File weights = weights_bytes(module);
  const Result<ModuleContents> read =
      read_with(separate_module(module), aligned_copy(weights.data(), weights.size()));
  ASSERT_TRUE(read.ok());
  const Result<ModuleContents> again = assemble(disassemble(*read, {}), "module.sva");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(write_module(*again), write_module(module));
}

TEST(Weights, SectionIsReservedInAssembly) {
  const std::string text =
      disassemble(dense_module(), {}) + "section \"weights\" required bytes 0 {}\n";
  EXPECT_THAT(std::string(assemble(text, "module.sva").status().message()),
              HasSubstr("section \"weights\" is reserved; option --weights of asm writes it"));
}

TEST(Weights, MessagesNameFileAndDifference) {
  const File module = separate_module(dense_module());
  const File good = weights_bytes(dense_module());
  const std::string size = std::to_string(good.size());
  const Result<ModuleContents> missing = read_module(aligned_copy(module.data(), module.size()));
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  std::string digest;
  for (size_t i = 0; i < sizeof(WeightsDigest); ++i) digest += "a5";
  EXPECT_EQ(missing.status().message(), "the weights are in the file w.bin (BLAKE2b digest " +
                                            digest + "), which is not given");
  EXPECT_EQ(error_with(module, File(good.begin(), good.end() - 1)),
            "weights w.bin: " + std::to_string(good.size() - 1) + " bytes, expected " + size +
                "; the file is truncated or belongs to another module");
  File longer = good;
  longer.push_back(0);
  EXPECT_EQ(error_with(module, longer), "weights w.bin: " + std::to_string(longer.size()) +
                                            " bytes, expected " + size +
                                            "; the file belongs to another module");
  File changed = good;
  changed[5] ^= 1;
  EXPECT_THAT(
      error_with(module, changed),
      ::testing::MatchesRegex("weights w.bin: checksum [0-9a-f]{16}, expected [0-9a-f]{16}; the "
                              "file is damaged or belongs to another module"));
  const Bytes copy = aligned_copy(changed.data(), changed.size());
  EXPECT_TRUE(read_with(module, copy, /*check=*/false).ok());
  File shifted(8);
  shifted.insert(shifted.end(), good.begin(), good.end());
  const Bytes aligned = aligned_copy(shifted.data(), shifted.size());
  const Status status = read_with(module, {aligned.owner, aligned.data + 8, good.size()}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "weights w.bin: the memory is not aligned to 64 bytes");
}

TEST(Weights, RandomDamageIsDetected) {
  std::mt19937_64 random(15);
  for (const ModuleContents& module : {dense_module(), string_module()}) {
    const File file = separate_module(module);
    const File good = weights_bytes(module);
    ASSERT_EQ(error_with(file, good), "");
    for (int i = 0; i < 2000; ++i) {
      File damaged = good;
      if (i % 4 == 0)
        damaged.resize(random() % good.size());
      else
        damaged[random() % good.size()] ^= static_cast<uint8_t>(1 + random() % 255);
      ASSERT_NE(error_with(file, damaged), "") << i;
    }
  }
}

TEST(Weights, RandomDamageOfTheModuleIsDetected) {
  std::mt19937_64 random(16);
  const File good = separate_module(dense_module());
  const File weights = weights_bytes(dense_module());
  for (int i = 0; i < 2000; ++i) {
    File damaged = good;
    damaged[random() % good.size()] ^= static_cast<uint8_t>(1 + random() % 255);
    ASSERT_NE(error_with(damaged, weights), "") << i;
  }
}

// The file of a module with a section `weights` that has these contents.
File with_section(const std::string& contents, bool is_required, bool keeps_constants = false) {
  ModuleContents module = dense_module();
  module.sections.push_back({"weights", is_required, bytes_of(contents)});
  if (!keeps_constants) module.constants.clear();
  return write_module(module);
}

TEST(Weights, MalformedSectionIsRejected) {
  const std::string entry(sizeof(WeightsEntry), '\0');
  const auto error = [](const File& file) { return error_with(file, {}); };
  const std::string malformed = "section weights: malformed name of a file";
  EXPECT_EQ(error(with_section("", true)), malformed);
  EXPECT_EQ(error(with_section(entry.substr(1), true)), malformed);
  for (const char* name : {"", ".", "..", "/w.bin", "../w.bin", "folder/w.bin"})
    EXPECT_EQ(error(with_section(entry + name, true)), malformed) << name;
  EXPECT_EQ(error(with_section(entry + std::string("w\0bin", 5), true)), malformed);
  EXPECT_EQ(error(with_section(entry + "w.bin", false)),
            "section weights: expected a required section");
  EXPECT_EQ(error(with_section(entry + "w.bin", true, /*keeps_constants=*/true)),
            "section weights: section constants is not empty");
}

// A module of two ranks with a constant for each, and its files.
struct RankModule {
  ModuleContents module = dense_module();
  std::vector<WeightsFile> files;

  RankModule() {
    module.required_features = {std::string(kRanksFeature)};
    module.devices.push_back(module.devices[0]);
    module.devices[1].name = "one";
    module.devices[1].rank = 1;
    module.pools.push_back(module.pools[2]);
    module.pools.back().device = 1;
    module.constants[1].pool = static_cast<uint32_t>(module.pools.size()) - 1;
    module.strings = {"", "text"};
    module.constants.push_back(
        {"text", DType::kStr, {2}, 2, bytes_of(std::string("\0\0\0\0\1\0\0\0", 8))});
    for (const uint32_t rank : {0u, 1u}) {
      const File bytes = bytes_of_rank(rank);
      files.push_back({"w.bin" + std::to_string(rank),
                       bytes.size(),
                       checksum(bytes.data(), bytes.size()),
                       {},
                       rank});
    }
  }
  File bytes_of_rank(uint32_t rank) const {
    File bytes;
    for (const std::span<const uint8_t> piece : weights_of(module, rank))
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    return bytes;
  }
  // Reads the module without the file of rank `without`.
  Result<ModuleContents> read(std::span<const WeightsFile> named, int without = -1) const {
    const File file = write_module(module, named);
    const auto find = [&](const WeightsFile& weights) -> Result<std::optional<Bytes>> {
      if (std::cmp_equal(*weights.rank, without)) return std::optional<Bytes>();
      const File bytes = bytes_of_rank(*weights.rank);
      return std::optional(aligned_copy(bytes.data(), bytes.size()));
    };
    return read_module(aligned_copy(file.data(), file.size()), {.find_weights = find});
  }
};

TEST(RankWeights, AreInFilesOfTheirOwn) {
  const RankModule ranks;
  const Result<ModuleContents> all = ranks.read(ranks.files);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_TRUE(are_equal(ranks.module, *all));
  const Result<ModuleContents> one = ranks.read(ranks.files, /*without=*/0);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->constants[0].bytes.data, nullptr);
  EXPECT_TRUE(verify(*one).ok()) << verify(*one).message();
  EXPECT_EQ(one->constants[0].bytes.size, ranks.module.constants[0].bytes.size);
  EXPECT_EQ(std::memcmp(one->constants[1].bytes.data, ranks.module.constants[1].bytes.data, 12), 0);
}

TEST(RankWeights, MessagesNameTheError) {
  const RankModule ranks;
  const auto error = [&](std::vector<WeightsFile> files) {
    return std::string(ranks.read(files).status().message());
  };
  EXPECT_EQ(error({ranks.files[0]}), "section weights.ranks: constant \"fc.scale\" is in no file");
  EXPECT_EQ(error({ranks.files[1], ranks.files[0]}),
            "section weights.ranks: the ranks are not in order");
  WeightsFile other = ranks.files[1];
  other.rank = 2;
  EXPECT_EQ(error({ranks.files[0], ranks.files[1], other}),
            "section weights.ranks: the module has no rank 2");
  EXPECT_THAT(error({ranks.files[0], {"w", 12, 0, {}, 1}}), HasSubstr("weights w: checksum "));
  ModuleContents both = ranks.module;
  both.constants.clear();
  for (const char* name : {"weights.ranks", "weights"})
    both.sections.push_back({name, true, bytes_of("junk")});
  EXPECT_EQ(error_with(write_module(both), {}),
            "section weights.ranks: expected one section of weights");
}

TEST(RankWeights, RandomSectionsAreErrorsOrRead) {
  const RankModule ranks;
  std::mt19937_64 random(17);
  const std::vector<uint8_t> good = encode(ranks.files);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> bytes = good;
    for (size_t changes = random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random() % 4 == 0 ? random() : 0);
    bytes.resize(random() % 2 == 0 ? bytes.size() : random() % (bytes.size() + 1));
    const auto files = decode_weights(bytes, kRankWeightsSection);
    if (!files.ok()) continue;
    EXPECT_EQ(encode(*files), bytes);
  }
}

TEST(Weights, OfOtherTablesAreRejected) {
  ModuleContents module = dense_module();
  const WeightsFile file = describe(module);
  const File weights = weights_bytes(module);
  module.constants.push_back(module.constants[0]);
  EXPECT_THAT(error_with(write_module(module, {&file, 1}), weights),
              HasSubstr("weights w.bin: 192 bytes are fewer than the tables require"));
  module.constants.clear();
  EXPECT_THAT(error_with(write_module(module, {&file, 1}), weights),
              HasSubstr("weights w.bin: expected 0 bytes according to the tables, given 192"));
}

}  // namespace
}  // namespace scopevm::format
