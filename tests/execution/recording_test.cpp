// Recordings: written and read again they are equal, and damaged bytes are errors.
#include "tools/execution/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tools/tensors/difference.h"
#include "vm/format/records/records.h"

namespace scopevm::tool {
namespace {

Tensor random_numbers(DType dtype, std::vector<int64_t> dims, std::mt19937& random) {
  Tensor tensor = *Tensor::allocate(dtype, dims);
  auto* const bytes = static_cast<uint8_t*>(tensor.data());
  for (int64_t i = 0; i < tensor.bytes(); ++i) bytes[i] = static_cast<uint8_t>(random());
  return tensor;
}

Recording sample(uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<std::string_view> strings = {"", "a b", std::string_view("\0x", 2)};
  const Tensor text = *Tensor::from_strings(strings, std::vector<int64_t>{3});
  Recording recording;
  recording.module_digest = random();
  recording.module = "model.bc";
  recording.producer = "scopevm";
  recording.threads = 3;
  recording.devices = {{"gpu", "opencl", 1}};
  recording.external_libraries = {"dnnl"};
  recording.error = seed % 2 == 0 ? "" : "it failed";
  recording.inputs = {
      {"x", ValueKind::kTensor, true, {random_numbers(DType::kF32, {2, 3}, random)}},
      {"s", ValueKind::kSequence, true, {text, text}},
      {"o", ValueKind::kOptional, false, {}}};
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor output = random_numbers(DType::kI64, {i * 100}, random);
    recording.launches.push_back(
        {i * 2, "main", 36, "matmul", "dense", {tensor_digest(output)}, {}});
    if (i == 1) recording.launches.back().tensors = {output};
  }
  recording.results = {{"y", ValueKind::kTensor, true, {text}}};
  return recording;
}

TEST(Recording, IsReadAsItWasWritten) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const Recording recording = sample(seed);
    const std::vector<uint8_t> bytes = write_recording(recording);
    const Result<Recording> read = read_recording(bytes);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->module_digest, recording.module_digest);
    EXPECT_EQ(read->threads, 3);
    EXPECT_EQ(read->error, recording.error);
    EXPECT_EQ(read->devices.at(0).kind, "opencl");
    EXPECT_EQ(
        first_unequal_element(read->inputs.at(0).elements.at(0), recording.inputs[0].elements[0]),
        std::nullopt);
    EXPECT_EQ(read->inputs.at(1).elements.at(1).string_at(2), std::string_view("\0x", 2));
    EXPECT_FALSE(read->inputs.at(2).has_value);
    EXPECT_EQ(read->launches.at(2).outputs, recording.launches[2].outputs);
    EXPECT_EQ(read->launches.at(1).tensors.size(), 1U);
    EXPECT_EQ(write_recording(*read), bytes);
  }
}

TEST(Recording, EveryDamagedByteIsAnError) {
  const std::vector<uint8_t> bytes = write_recording(sample(0));
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_FALSE(read_recording(damaged).ok()) << i;
  }
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_FALSE(read_recording(std::span(bytes).first(size)).ok()) << size;
}

TEST(Recording, MissingRecordsAreErrors) {
  format::RecordWriter empty("recording", 1);
  EXPECT_EQ(std::string(read_recording(std::move(empty).finish()).status().message()),
            R"(the record "run" is missing)");
  format::RecordWriter invalid("recording", 1);
  const uint8_t byte[] = {1};
  invalid.add("run", {byte});
  EXPECT_EQ(std::string(read_recording(std::move(invalid).finish()).status().message()),
            R"(the record "run" is invalid)");
}

// Records with a valid checksum and random contents: a reader neither crashes nor allocates more
// than the file has.
TEST(Recording, InvalidContentsAreErrors) {
  const std::vector<uint8_t> bytes = write_recording(sample(0));
  const Result<format::Records> records = format::read_records(bytes, "recording");
  ASSERT_TRUE(records.ok());
  std::mt19937 random(1);
  int errors = 0;
  for (int round = 0; round < 2000; ++round) {
    format::RecordWriter out("recording", 1);
    for (const format::Record& record : records->records) {
      std::vector<uint8_t> contents(record.bytes.begin(), record.bytes.end());
      if (!contents.empty())
        contents[random() % contents.size()] =
            static_cast<uint8_t>(random() % 3 == 0 ? 255 : random());
      if (random() % 8 == 0) contents.resize(random() % (contents.size() + 1));
      out.add(record.name, {contents});
    }
    const Result<Recording> read = read_recording(std::move(out).finish());
    if (!read.ok()) ++errors;
  }
  EXPECT_GT(errors, 100);
}

TEST(TensorDigest, LocatesTheFirstDifference) {
  std::mt19937 random(2);
  const Tensor tensor = random_numbers(DType::kF32, {40, 50}, random);
  const TensorDigest digest = tensor_digest(tensor);
  EXPECT_EQ(first_difference(digest, tensor_digest(tensor)), std::nullopt);
  for (const int64_t element : {0, 255, 256, 1999}) {
    Tensor other = *Tensor::allocate(DType::kF32, tensor.dims());
    std::ranges::copy(tensor.elements<uint32_t>(), other.elements<uint32_t>().begin());
    other.elements<uint32_t>()[static_cast<size_t>(element)] ^= 1;
    const auto range = first_difference(digest, tensor_digest(other));
    ASSERT_TRUE(range.has_value());
    EXPECT_LE(range->first, element);
    EXPECT_GT(range->second, element);
    EXPECT_LE(range->second, 2000);
    EXPECT_EQ(first_unequal_element(tensor, other), element);
  }
}

}  // namespace
}  // namespace scopevm::tool
