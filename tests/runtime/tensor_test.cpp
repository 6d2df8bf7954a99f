// Tensors: shapes, ownership, and conversion to and from DLPack.
#include "scopevm/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace scopevm {
namespace {

TEST(Tensor, AllocatesCompactElements) {
  const Result<Tensor> tensor = Tensor::allocate(DType::kI16, {2, 3});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->bytes(), 12);
  EXPECT_EQ(tensor->element_count(), 6);
  EXPECT_THAT(tensor->dims(), ::testing::ElementsAre(2, 3));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0U);
}

TEST(Tensor, CountsElementsOfScalarsAndEmptyShapes) {
  EXPECT_EQ(Tensor::allocate(DType::kF64, std::vector<int64_t>{})->element_count(), 1);
  const int64_t none[] = {3, 0};
  const Result<Tensor> empty = Tensor::borrow(static_cast<void*>(nullptr), DType::kF32, none);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->element_count(), 0);
  EXPECT_FALSE(empty->is_empty());
}

TEST(Tensor, RejectsImpossibleShapes) {
  EXPECT_EQ(Tensor::allocate(DType::kF32, {-1}).status().message(), "shape [-1]: negative dim");
  EXPECT_FALSE(Tensor::allocate(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_FALSE(Tensor::allocate(DType::kF32, std::vector<int64_t>(17, 1)).ok());
  EXPECT_EQ(Tensor::allocate(DType::kU8, {int64_t{1} << 58}).status().code(),
            StatusCode::kOutOfMemory);
  float number = 0;
  const int64_t one[] = {1};
  EXPECT_FALSE(
      Tensor::borrow(static_cast<void*>(reinterpret_cast<char*>(&number) + 1), DType::kF32, one)
          .ok());
  EXPECT_FALSE(Tensor::borrow(static_cast<void*>(nullptr), DType::kF32, one).ok());
}

TEST(Tensor, AdoptedBytesAreReleasedOnceWithTheLastCopy) {
  std::vector<float> bytes(4);
  int released = 0;
  const int64_t dims[] = {4};
  {
    Tensor a = *Tensor::adopt(bytes.data(), DType::kF32, dims, [&] { ++released; });
    Tensor b = a;
    Tensor c = std::move(a);
    b = c;
    c = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(b.data(), bytes.data());
  }
  EXPECT_EQ(released, 1);
}

// A DLPack tensor whose elements are in a vector. Its deleter counts its calls in `deleted`.
struct Foreign {
  std::vector<float> elements = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> strides = {3, 1};
  int deleted = 0;
  DLManagedTensor managed{};

  Foreign() {
    managed.dl_tensor = {elements.data(), {kDLCPU, 0},    2, {kDLFloat, 32, 1},
                         shape.data(),    strides.data(), 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
};

TEST(DLPack, ImportsATensorWithoutCopying) {
  Foreign foreign;
  {
    const Result<Tensor> tensor = Tensor::from_dlpack(&foreign.managed);
    ASSERT_TRUE(tensor.ok()) << tensor.status().message();
    EXPECT_EQ(tensor->data(), foreign.elements.data());
    EXPECT_EQ(tensor->elements<float>()[5], 6);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, RejectsUnsupportedTensors) {
  const auto expect_refused = [](auto&& change, const std::string& message) {
    Foreign foreign;
    change(foreign);
    const Result<Tensor> tensor = Tensor::from_dlpack(&foreign.managed);
    EXPECT_FALSE(tensor.ok());
    EXPECT_THAT(std::string(tensor.status().message()), ::testing::HasSubstr(message));
    EXPECT_EQ(foreign.deleted, 0);
  };
  expect_refused([](Foreign& f) { f.managed.dl_tensor.device.device_type = kDLCUDA; }, "device");
  expect_refused([](Foreign& f) { f.managed.dl_tensor.dtype = {kDLComplex, 64, 1}; }, "code 5");
  expect_refused([](Foreign& f) { f.managed.dl_tensor.dtype.lanes = 4; }, "lanes 4");
}

TEST(DLPack, CopiesElementsWithStrides) {
  Foreign foreign;  // the elements 1 to 6
  foreign.strides = {1, 2};
  const Result<Tensor> columns = Tensor::from_dlpack(&foreign.managed);
  ASSERT_TRUE(columns.ok()) << columns.status().message();
  EXPECT_EQ(foreign.deleted, 1);  // the copy does not need the elements
  EXPECT_THAT(columns->elements<float>(), ::testing::ElementsAre(1, 3, 5, 2, 4, 6));
  foreign.strides = {-3, -1};
  foreign.managed.dl_tensor.data = &foreign.elements.back();
  EXPECT_THAT(Tensor::from_dlpack(&foreign.managed)->elements<float>(),
              ::testing::ElementsAre(6, 5, 4, 3, 2, 1));
  foreign.strides = {0, 0};  // one element in all places
  EXPECT_THAT(Tensor::from_dlpack(&foreign.managed)->elements<float>(),
              ::testing::ElementsAre(6, 6, 6, 6, 6, 6));
}

TEST(DLPack, VersionedTensors) {
  Tensor tensor = *Tensor::allocate(DType::kI16, {2, 3});
  DLManagedTensorVersioned* managed = *tensor.to_dlpack_versioned();
  EXPECT_EQ(managed->version.major, DLPACK_MAJOR_VERSION);
  EXPECT_EQ(managed->flags, 0U);
  managed->version.major = 99;
  EXPECT_EQ(Tensor::from_dlpack(managed).status().code(), StatusCode::kUnsupported);
  managed->version.major = DLPACK_MAJOR_VERSION;
  managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  const Result<Tensor> back = Tensor::from_dlpack(managed);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->data(), tensor.data());
  EXPECT_TRUE(back->is_read_only());
  managed = *back->to_dlpack_versioned();
  EXPECT_EQ(managed->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  managed->deleter(managed);
}

TEST(DLPack, ElementsThatShareBytesArePacked) {
  Tensor tensor = *Tensor::allocate(DType::kI4, {2, 3});
  EXPECT_EQ(tensor.bytes(), 3);
  EXPECT_EQ(tensor.element_count(), 6);
  DLManagedTensorVersioned* managed = *tensor.to_dlpack_versioned();
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 4);
  managed->flags = 1u << 2;  // padded
  EXPECT_EQ(Tensor::from_dlpack(managed).status().message(),
            "DLPack tensor with one element of 4 bits in each byte; expected packed elements");
  managed->flags = 0;
  std::swap(managed->dl_tensor.strides[0], managed->dl_tensor.strides[1]);
  EXPECT_EQ(Tensor::from_dlpack(managed).status().message(),
            "DLPack tensor of type i4 has strides; expected a compact row-major tensor");
  managed->deleter(managed);
}

TEST(DLPack, StridesOfUnitAxesAreIgnored) {
  Foreign foreign;
  foreign.shape = {1, 6};
  foreign.strides = {77, 1};
  EXPECT_TRUE(Tensor::from_dlpack(&foreign.managed).ok());
}

TEST(DLPack, RoundTripSharesTheBytes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (static_cast<DType>(i) == DType::kStr) continue;
    Tensor tensor = *Tensor::allocate(static_cast<DType>(i), {3, 5});
    void* data = tensor.data();
    DLManagedTensor* managed = *tensor.to_dlpack();
    tensor = Tensor();
    const Result<Tensor> back = Tensor::from_dlpack(managed);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->data(), data);
    EXPECT_EQ(back->dtype(), static_cast<DType>(i));
    EXPECT_THAT(back->dims(), ::testing::ElementsAre(3, 5));
  }
}

}  // namespace
}  // namespace scopevm
