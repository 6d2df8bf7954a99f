// Formatting of numbers as in NumPy, parsing of numbers, case conversion, and string tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/string/case.h"
#include "runtime/string/numbers.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {
namespace {

template <typename T>
std::string formatted(DType dtype, T element) {
  return format_number(dtype, &element);
}

template <typename T>
std::optional<T> parsed(DType dtype, std::string_view text) {
  T element{};
  if (!parse_number(text, dtype, &element)) return std::nullopt;
  return element;
}

std::string cased(std::string_view text, bool to_upper) {
  std::string changed(static_cast<size_t>(case_room(text.size())), '?');
  changed.resize(change_case(text, to_upper, changed.data()));
  return changed;
}

TEST(FormatNumber, FollowsNumPy) {
  EXPECT_EQ(formatted(DType::kF32, 0.47892547f), "0.47892547");
  EXPECT_EQ(formatted(DType::kF32, 100.0f), "100.0");
  EXPECT_EQ(formatted(DType::kF32, -0.0f), "-0.0");
  EXPECT_EQ(formatted(DType::kF32, 1e-4f), "1e-04");  // the float is below 1e-4
  EXPECT_EQ(formatted(DType::kF64, 1e-4), "0.0001");
  EXPECT_EQ(formatted(DType::kF32, 9.9999998e15f), "1e+16");
  EXPECT_EQ(formatted(DType::kF32, 1.5e-5f), "1.5e-05");
  EXPECT_EQ(formatted(DType::kF32, 16777216.0f), "16777216.0");
  EXPECT_EQ(formatted(DType::kF64, 123456.789), "123456.789");
  EXPECT_EQ(formatted(DType::kF64, 9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(formatted(DType::kF64, 1e16), "1e+16");
  EXPECT_EQ(formatted(DType::kF64, -2.5e300), "-2.5e+300");
  EXPECT_EQ(formatted(DType::kF64, std::nan("")), "nan");
  EXPECT_EQ(formatted(DType::kF32, -INFINITY), "-inf");
  EXPECT_EQ(formatted(DType::kF16, uint16_t{0x2e66}), "0.1");
  EXPECT_EQ(formatted(DType::kF16, uint16_t{0x7bff}), "65500.0");
  EXPECT_EQ(formatted(DType::kF16, uint16_t{0x2400}), "0.01563");
  EXPECT_EQ(formatted(DType::kF16, uint16_t{0x0001}), "6e-08");
  EXPECT_EQ(formatted(DType::kF16, uint16_t{0xfc00}), "-inf");
  EXPECT_EQ(formatted(DType::kBF16, uint16_t{0x3dcd}), "0.1");
  EXPECT_EQ(formatted(DType::kBool, uint8_t{1}), "True");
  EXPECT_EQ(formatted(DType::kI8, int8_t{-128}), "-128");
  EXPECT_EQ(formatted(DType::kU64, std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(ParseNumber, AcceptsOnlyFloatSyntax) {
  EXPECT_EQ(parsed<float>(DType::kF32, "0.47892547"), 0.47892547f);
  EXPECT_EQ(parsed<float>(DType::kF32, " +1E8\n"), 1e8f);
  EXPECT_EQ(parsed<double>(DType::kF64, "-.5"), -0.5);
  EXPECT_EQ(parsed<float>(DType::kF32, "1e999"), INFINITY);
  EXPECT_EQ(parsed<double>(DType::kF64, "-INF"), -INFINITY);
  EXPECT_TRUE(std::isnan(*parsed<float>(DType::kF32, "NaN")));
  for (const char* none : {"", " ", "1,5", "0.5 0.5", "1.5x", "e5", "--1"})
    EXPECT_FALSE(parsed<float>(DType::kF32, none)) << none;
  EXPECT_FALSE(parsed<float>(DType::kF32, std::string_view("1\0", 2)));
}

TEST(ParseNumber, NarrowFloatsRoundOnce) {
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "0.1"), 0x2e66);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "65504"), 0x7bff);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "65519.99"), 0x7bff);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "65520"), 0x7c00);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "6e-08"), 0x0001);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "-0"), 0x8000);
  EXPECT_EQ(parsed<uint16_t>(DType::kBF16, "0.1"), 0x3dcd);
  // 1.00048828125 is the midpoint of two values and rounds to even. A slightly larger number rounds
  // up.
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "1.00048828125"), 0x3c00);
  EXPECT_EQ(parsed<uint16_t>(DType::kF16, "1.00048828126"), 0x3c01);
}

TEST(ParseNumber, EveryNarrowFloatRoundTrips) {
  for (const DType dtype : {DType::kF16, DType::kBF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      const std::string text = formatted(dtype, element);
      if (text == "nan") continue;
      ASSERT_EQ(parsed<uint16_t>(dtype, text), element) << text;
    }
}

TEST(ParseNumber, AcceptsOnlyIntegersInRangeAndBools) {
  EXPECT_EQ(parsed<int8_t>(DType::kI8, "-128"), -128);
  EXPECT_EQ(parsed<int64_t>(DType::kI64, " +9223372036854775807 "), INT64_MAX);
  EXPECT_EQ(parsed<uint8_t>(DType::kU8, "255"), 255);
  EXPECT_EQ(parsed<uint8_t>(DType::kBool, "True"), 1);
  EXPECT_EQ(parsed<uint8_t>(DType::kBool, "0"), 0);
  for (const char* none : {"", "+", "128", "1.0", "0x1", "1 2", "+-1", "++1"})
    EXPECT_FALSE(parsed<int8_t>(DType::kI8, none)) << none;
  EXPECT_FALSE(parsed<uint8_t>(DType::kU8, "-1"));
  EXPECT_FALSE(parsed<uint8_t>(DType::kBool, "yes"));
}

TEST(ChangeCase, ConvertsAsciiAndCopiesInvalidUtf8) {
  EXPECT_EQ(cased("Monday, 12:30 [AZ]", false), "monday, 12:30 [az]");
  EXPECT_EQ(cased("Monday {az}", true), "MONDAY {AZ}");
  EXPECT_EQ(cased("", true), "");
  // Invalid UTF-8: truncated, overlong, a surrogate, a stray byte.
  for (const std::string bytes : {"\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xff"})
    EXPECT_EQ(cased("a" + bytes + "b", true), "A" + bytes + "B");
  const std::string zero("a\0b", 3);
  EXPECT_EQ(cased(zero, true), std::string("A\0B", 3));
}

TEST(StringTensor, CopiesTheStrings) {
  std::string word = "first";
  const std::vector<std::string_view> views = {word, "", "third one"};
  const Tensor tensor = *Tensor::from_strings(views, std::vector<int64_t>{3, 1});
  word = "other";
  EXPECT_EQ(tensor.dtype(), DType::kStr);
  EXPECT_EQ(tensor.element_count(), 3);
  EXPECT_TRUE(tensor.is_read_only());
  EXPECT_EQ(tensor.string_at(0), "first");
  EXPECT_EQ(tensor.string_at(1), "");
  EXPECT_EQ(tensor.string_at(2), "third one");
  const Tensor none = *Tensor::from_strings({}, std::vector<int64_t>{0, 5});
  EXPECT_EQ(none.element_count(), 0);
  EXPECT_FALSE(none.is_empty());
}

TEST(StringTensor, RejectsWrongCountsAndRawBytes) {
  const std::vector<std::string_view> two = {"a", "b"};
  EXPECT_THAT(std::string(Tensor::from_strings(two, std::vector<int64_t>{3}).status().message()),
              testing::HasSubstr("tensor of shape [3]: expected 3 strings, given 2"));
  EXPECT_FALSE(Tensor::from_strings(two, std::vector<int64_t>{-2}).ok());
  EXPECT_THAT(std::string(Tensor::allocate(DType::kStr, {2}).status().message()),
              testing::HasSubstr("use Tensor::from_strings"));
  int32_t ids[2] = {0, 1};
  EXPECT_FALSE(Tensor::borrow(ids, DType::kStr, std::vector<int64_t>{2}).ok());
  const Tensor tensor = *Tensor::from_strings(two, std::vector<int64_t>{2});
  EXPECT_EQ(tensor.to_dlpack().status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace scopevm::runtime
