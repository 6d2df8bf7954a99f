// Archives of arrays, and damaged ones.
#include "tools/tensors/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define ZLIB_CONST
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace scopevm::tool {
namespace {

using ::testing::HasSubstr;

std::string deflated(const std::string& data) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string bytes(deflateBound(&stream, data.size()), 0);
  stream.next_in = reinterpret_cast<const Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

// numpy.savez() or numpy.savez_compressed() of a = float32 [1, 2] and b = int64 scalar 7.
std::string archive(bool is_compressed = false) {
  const auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const auto npy = [&](const std::string& type, const std::string& shape, const std::string& data) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00", 8) + number(header.size() + 1, 2) + header + "\n" +
           data;
  };
  std::string file, directory;
  const auto add = [&](const std::string& name, const std::string& array) {
    const std::string data = is_compressed ? deflated(array) : array;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(array.data()), static_cast<uInt>(array.size()));
    // After the signature and the version: flags, method, time and date, checksum, sizes.
    const std::string common = number(0, 2) + number(is_compressed ? 8 : 0, 2) + number(0, 4) +
                               number(crc, 4) + number(data.size(), 4) + number(array.size(), 4) +
                               number(name.size(), 2) + number(0, 2);
    directory += number(0x02014b50, 4) + number(20, 2) + number(20, 2) + common + number(0, 2) +
                 number(0, 2) + number(0, 2) + number(0, 4) + number(file.size(), 4) + name;
    file += number(0x04034b50, 4) + number(20, 2) + common + name + data;
  };
  add("a.npy", npy("<f4", "(2,)", number(0x3f800000, 4) + number(0x40000000, 4)));
  add("b.npy", npy("<i8", "()", number(7, 8)));
  return file + directory + number(0x06054b50, 4) + number(0, 4) + number(2, 2) + number(2, 2) +
         number(directory.size(), 4) + number(file.size(), 4) + number(0, 2);
}

Result<std::vector<NamedValue>> read(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/archive_" + std::to_string(getpid()) + ".npz";
  std::ofstream(path, std::ios::binary) << bytes;
  Result<std::vector<NamedValue>> values = read_npz(path);
  std::filesystem::remove(path);
  return values;
}

// The places of fields in the entry of the directory.
constexpr size_t kMethod = 10, kCrc = 16, kSize = 20;

TEST(Npz, HasTheArrays) {
  for (const bool is_compressed : {false, true}) {
    const auto values = read(archive(is_compressed));
    ASSERT_TRUE(values.ok()) << values.status().message();
    ASSERT_EQ(values->size(), 2U);
    EXPECT_EQ((*values)[0].name, "a");
    EXPECT_EQ((*values)[0].elements[0].elements<float>()[1], 2.0f);
    EXPECT_EQ((*values)[1].name, "b");
    EXPECT_EQ((*values)[1].elements[0].elements<int64_t>()[0], 7);
  }
}

TEST(Npz, DamagedArchivesAreErrorsOrArrays) {
  for (const std::string& good : {archive(false), archive(true)}) {
    for (size_t size = 0; size < good.size(); size += 5)
      EXPECT_FALSE(read(good.substr(0, size)).ok()) << size;
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
      std::string damaged = good;
      for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
      (void)read(damaged).ok();
    }
  }
}

TEST(Npz, ArraysHaveChecksums) {
  for (const bool is_compressed : {false, true}) {
    std::string damaged = archive(is_compressed);
    damaged[damaged.find("PK\x01\x02") + kCrc] ^= 1;
    EXPECT_THAT(std::string(read(damaged).status().message()),
                HasSubstr("a.npy: checksum mismatch; the file is damaged"));
  }
  std::string inflated = archive(true);
  inflated[inflated.find("PK\x01\x02") + kSize + 7] = 0x7f;  // nearly 2 GiB
  EXPECT_THAT(std::string(read(inflated).status().message()),
              HasSubstr("a.npy: checksum mismatch; the file is damaged"));
}

TEST(Npz, UnsupportedArchives) {
  std::string other = archive();
  const size_t entry = other.find("PK\x01\x02");
  other[entry + kMethod] = 12;
  EXPECT_THAT(std::string(read(other).status().message()),
              HasSubstr("\"a.npy\" has compression method 12, which is not supported"));
  std::string large = archive();
  large.replace(entry + kSize, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(std::string(read(large).status().message()),
              HasSubstr("archives above 4 GiB are not supported"));
}

}  // namespace
}  // namespace scopevm::tool
