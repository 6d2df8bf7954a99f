// The numbers of the small types, and tensors of them.
#include "runtime/tensor/small_type.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

using runtime::SmallType;

std::vector<const SmallType*> all_types() {
  std::vector<const SmallType*> types;
  for (int i = 0; i < kDTypeCount; ++i)
    if (const SmallType* type = runtime::small_type(static_cast<DType>(i))) types.push_back(type);
  return types;
}

TEST(SmallType, HasEachTypeThatIsSmall) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(runtime::small_type(dtype) != nullptr, is_small(dtype)) << name(dtype);
  }
  for (const SmallType* type : all_types())
    EXPECT_EQ(type->bits, 8 / elements_per_byte(type->dtype)) << name(type->dtype);
}

// Of docs/docsgen/source/technical of ONNX, and of the OCP specifications.
TEST(SmallType, HasTheNumbersOfItsFormat) {
  struct Element {
    DType dtype;
    unsigned pattern;
    double value;
  };
  const double nan = std::nan("");
  const Element elements[] = {
      {DType::kI4, 0xf, -1},
      {DType::kI4, 0x8, -8},
      {DType::kU4, 0xf, 15},
      {DType::kI2, 0x2, -2},
      {DType::kU2, 0x3, 3},
      {DType::kF4E2M1Fn, 0x1, 0.5},
      {DType::kF4E2M1Fn, 0xf, -6},
      {DType::kF8E4M3Fn, 0x7e, 448},
      {DType::kF8E4M3Fn, 0x01, 0x1p-9},
      {DType::kF8E4M3Fn, 0x7f, nan},
      {DType::kF8E4M3Fnuz, 0x7f, 240},
      {DType::kF8E4M3Fnuz, 0x80, nan},
      {DType::kF8E5M2, 0x7b, 57344},
      {DType::kF8E5M2, 0x7c, INFINITY},
      {DType::kF8E5M2, 0x01, 0x1p-16},
      {DType::kF8E5M2Fnuz, 0x01, 0x1p-17},
      {DType::kF8E8M0Fnu, 0, 0x1p-127},
      {DType::kF8E8M0Fnu, 255, nan},
  };
  for (const auto& [dtype, pattern, value] : elements) {
    const double given = runtime::small_type(dtype)->value_of(pattern);
    EXPECT_TRUE(given == value || (std::isnan(given) && std::isnan(value)))
        << name(dtype) << " " << pattern << ": " << given;
  }
}

TEST(SmallType, PatternsAndValuesAreInverse) {
  for (const SmallType* type : all_types())
    for (unsigned pattern = 0; pattern < 1u << type->bits; ++pattern) {
      const double value = type->value_of(pattern);
      const std::optional<unsigned> back = type->pattern_of(value);
      ASSERT_TRUE(back) << name(type->dtype) << " " << pattern;
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(type->value_of(*back)));
      else
        EXPECT_EQ(*back, pattern) << name(type->dtype);
    }
  EXPECT_FALSE(runtime::small_type(DType::kI4)->pattern_of(8));
  EXPECT_FALSE(runtime::small_type(DType::kF4E2M1Fn)->pattern_of(5));
  EXPECT_EQ(runtime::small_type(DType::kU4)->pattern_of(-0.0), 0u);
}

// All elements of the type, with a number that leaves unused bits.
Tensor all_but_one(const SmallType& type) {
  std::vector<unsigned> patterns;
  for (unsigned pattern = 1; pattern < 1u << type.bits; ++pattern)
    if (!std::isnan(type.value_of(pattern))) patterns.push_back(pattern);
  return *small_tensor(type.dtype, std::array{std::ssize(patterns)}, patterns);
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.element_count(), b.element_count());
  for (int64_t i = 0; i < a.element_count(); ++i)
    EXPECT_EQ(small_element(a, i), small_element(b, i)) << name(a.dtype()) << " " << i;
}

TEST(SmallTensor, ConvertsWithoutLoss) {
  for (const SmallType* type : all_types()) {
    const Tensor tensor = all_but_one(*type);
    EXPECT_EQ(tensor.bytes(), byte_size(type->dtype, tensor.element_count()));
    const Tensor wide = *widened(tensor);
    EXPECT_EQ(wide.dtype(), type->carrier);
    expect_equal(*to_small(wide, type->dtype), tensor);
    expect_equal(*to_small(*small_to_bytes(tensor), type->dtype), tensor);
    const std::vector<uint8_t> packed =
        *runtime::narrowed(*type, wide.data(), wide.element_count());
    EXPECT_EQ(std::string(packed.begin(), packed.end()),
              std::string(static_cast<const char*>(tensor.data()), packed.size()));
  }
}

TEST(SmallTensor, RefusesOtherElements) {
  const Tensor bytes = *Tensor::allocate(DType::kU8, {3});
  bytes.elements<uint8_t>()[0] = 1;
  bytes.elements<uint8_t>()[1] = 16;
  bytes.elements<uint8_t>()[2] = 0;
  EXPECT_EQ(to_small(bytes, DType::kU4).status().message(),
            "element 1 is 16, which is not an element of type u4");
  EXPECT_EQ(to_small(bytes, DType::kF4E2M1Fn).status().message(),
            "element 1 is 16, which is not an element of type f4e2m1fn");
  EXPECT_TRUE(to_small(bytes, DType::kF8E5M2).ok());
  EXPECT_EQ(small_tensor(DType::kU4, std::array<int64_t, 1>{2}, std::array{1u}).status().message(),
            "1 element, expected 2");
}

}  // namespace
}  // namespace scopevm::tool
