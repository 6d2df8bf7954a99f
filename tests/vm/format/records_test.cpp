// Files of records: round trips, damaged and truncated files, files of other kinds and versions.
#include "vm/format/records/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "vm/format/binary/checksum.h"

namespace scopevm::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kModule = 0x1234;

std::vector<uint8_t> sample() {
  RecordWriter writer("sample", kModule);
  writer.add_number("steps", 7);
  const int64_t dims[] = {1, 3};
  const uint8_t elements[] = {4, 5, 6};
  writer.add_tensor("h=hn", DType::kU8, dims, elements);
  writer.add("", {});
  return std::move(writer).finish();
}

// Replaces the checksum by that of the changed bytes.
void seal(std::vector<uint8_t>& file) {
  const uint64_t sum = checksum(file.data(), file.size() - sizeof(uint64_t));
  std::memcpy(file.data() + file.size() - sizeof sum, &sum, sizeof sum);
}

std::string records_error(const std::vector<uint8_t>& file) {
  const Result<Records> read = read_records(file, "sample");
  return read.ok() ? "ok" : std::string(read.status().message());
}

TEST(Records, RoundTrip) {
  const std::vector<uint8_t> file = sample();
  EXPECT_EQ(file.size() % 8, 0U);
  const Result<Records> read = read_records(file, "sample");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->module, kModule);
  ASSERT_EQ(read->records.size(), 3U);
  EXPECT_EQ(*read_number(*read->find("steps")), 7);
  const Result<TensorRecord> tensor = read_tensor(*read->find("h=hn"));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dtype, DType::kU8);
  EXPECT_THAT(tensor->dims, ElementsAre(1, 3));
  EXPECT_THAT(std::vector<uint8_t>(tensor->bytes.begin(), tensor->bytes.end()),
              ElementsAre(4, 5, 6));
  EXPECT_EQ(read->find("c=cn"), nullptr);
  EXPECT_TRUE(read->find("")->bytes.empty());
}

TEST(Records, RecordsOfOtherTypesAreErrors) {
  const std::vector<uint8_t> file = sample();
  const Result<Records> read = read_records(file, "sample");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read_number(*read->find("h=hn")).status().message(), "record \"h=hn\" is not a number");
  EXPECT_EQ(read_tensor(*read->find("steps")).status().message(),
            "record \"steps\" is not a tensor");
  const uint32_t overflow[] = {0, 2, 0, 1U << 31, 0, 1U << 31};
  const Record record = {"large", {reinterpret_cast<const uint8_t*>(overflow), sizeof overflow}};
  EXPECT_FALSE(read_tensor(record).ok());
}

TEST(Records, EachChangedByteIsAnError) {
  const std::vector<uint8_t> file = sample();
  for (size_t at = 0; at < file.size(); ++at) {
    std::vector<uint8_t> changed = file;
    changed[at] ^= 0x10;
    EXPECT_NE(records_error(changed), "ok") << "byte " << at;
  }
}

TEST(Records, EachTruncationIsAnError) {
  const std::vector<uint8_t> file = sample();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(records_error({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)}), "ok")
        << size;
  std::vector<uint8_t> longer = file;
  longer.push_back(0);
  EXPECT_EQ(records_error(longer), "the file has 1 bytes after its end");
  EXPECT_EQ(records_error({file.begin(), file.end() - 8}),
            "the file is truncated: it has " + std::to_string(file.size() - 8) +
                " bytes, expected " + std::to_string(file.size()));
  EXPECT_EQ(records_error({file.begin(), file.begin() + 20}),
            "the file is truncated: it has 20 bytes");
}

// With a valid checksum, the structure must still be checked: no read outside of the file.
TEST(Records, EachChangedByteWithAValidChecksumIsSafe) {
  const std::vector<uint8_t> file = sample();
  for (size_t at = 8; at + 8 < file.size(); ++at)
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> changed = file;
      changed[at] ^= mask;
      seal(changed);
      const Result<Records> read = read_records(changed, "sample");
      if (!read.ok()) continue;
      for (const Record& record : read->records) {
        (void)read_tensor(record);
        (void)read_number(record);
      }
    }
}

TEST(Records, MessagesNameTheCause) {
  std::vector<uint8_t> file = sample();
  EXPECT_EQ(records_error({}), "not a file of kind \"sample\": its first bytes differ");
  EXPECT_EQ(read_records(file, "state").status().message(),
            "not a file of kind \"state\": its kind is \"sample\"");
  std::vector<uint8_t> other = file;
  other[8] = 9;
  EXPECT_EQ(read_records(other, "sample").status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(records_error(other), "the file has version 9, expected 1");
  other = file;
  other[60] ^= 1;
  EXPECT_EQ(records_error(other), "checksum mismatch; the file is damaged");
  other = file;
  other[52] = 1;  // RecordEntry::reserved of the first record
  seal(other);
  EXPECT_EQ(records_error(other), "record 0 is invalid");
  other = file;
  other[12] = 2;  // RecordsHeader::record_count
  seal(other);
  EXPECT_THAT(records_error(other), HasSubstr("bytes follow the last record"));
}

}  // namespace
}  // namespace scopevm::format
