// The functions of Tensor (scopevm/tensor.h), by those of scopevm/c/tensor.h.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "scopevm/layer/status.h"
#include "scopevm/tensor.h"

namespace scopevm {

inline Tensor::Tensor(const Tensor& other) : c_(other.c_) {
  if (c_.storage != nullptr) scopevm_storage_retain(c_.storage);
}

inline Tensor::Tensor(Tensor&& other) noexcept : c_(other.c_) { other.forget(); }

inline Tensor& Tensor::operator=(const Tensor& other) {
  if (this == &other) return *this;
  // Retains first, so that a storage shared by both tensors is not released in between.
  if (other.c_.storage != nullptr) scopevm_storage_retain(other.c_.storage);
  if (c_.storage != nullptr) scopevm_storage_release(c_.storage);
  c_ = other.c_;
  return *this;
}

inline Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  if (c_.storage != nullptr) scopevm_storage_release(c_.storage);
  c_ = other.c_;
  other.forget();
  return *this;
}

inline Tensor::~Tensor() {
  if (c_.storage != nullptr) scopevm_storage_release(c_.storage);
}

inline void Tensor::forget() noexcept {
  c_.data = nullptr;
  c_.storage = nullptr;
  c_.bytes = 0;
  c_.rank = 0;
}

inline Result<Tensor> Tensor::made(scopevm_status* failure, const scopevm_tensor& tensor) noexcept {
  if (failure != nullptr) return layer::take(failure);
  return take(tensor);
}

inline Tensor Tensor::take(const scopevm_tensor& tensor) noexcept {
  Tensor taken;
  taken.c_ = tensor;
  return taken;
}

inline Result<Tensor> Tensor::allocate(DType dtype, std::span<const int64_t> dims) {
  scopevm_tensor tensor{};
  scopevm_status* const failure =
      scopevm_tensor_allocate(static_cast<int>(dtype), dims.data(), dims.size(), &tensor);
  return made(failure, tensor);
}

inline Result<Tensor> Tensor::borrow(void* data, DType dtype, std::span<const int64_t> dims) {
  scopevm_tensor tensor{};
  scopevm_status* const failure =
      scopevm_tensor_borrow(data, static_cast<int>(dtype), dims.data(), dims.size(), 0, &tensor);
  return made(failure, tensor);
}

inline Result<Tensor> Tensor::borrow(const void* data, DType dtype, std::span<const int64_t> dims) {
  scopevm_tensor tensor{};
  // The const_cast is safe: a read-only tensor cannot be an output.
  scopevm_status* const failure = scopevm_tensor_borrow(
      const_cast<void*>(data), static_cast<int>(dtype), dims.data(), dims.size(), 1, &tensor);
  return made(failure, tensor);
}

inline Result<Tensor> Tensor::adopt(void* data, DType dtype, std::span<const int64_t> dims,
                                    std::function<void()> release) {
  return layer::guarded([&]() -> Result<Tensor> {
    auto owner = std::make_unique<std::function<void()>>(std::move(release));
    const auto call = [](void* context) {
      const std::unique_ptr<std::function<void()>> owned(
          static_cast<std::function<void()>*>(context));
      if (*owned) (*owned)();
    };
    scopevm_tensor tensor{};
    Result<Tensor> adopted = made(scopevm_tensor_adopt(data, static_cast<int>(dtype), dims.data(),
                                                       dims.size(), call, owner.get(), &tensor),
                                  tensor);
    if (!adopted.ok()) return adopted;
    (void)owner.release();
    return adopted;
  });
}

inline Result<Tensor> Tensor::from_strings(std::span<const std::string_view> strings,
                                           std::span<const int64_t> dims) {
  return layer::guarded([&]() -> Result<Tensor> {
    std::vector<const char*> texts;
    std::vector<size_t> sizes;
    texts.reserve(strings.size());
    sizes.reserve(strings.size());
    for (const std::string_view text : strings) {
      texts.push_back(text.data() == nullptr ? "" : text.data());
      sizes.push_back(text.size());
    }
    const scopevm_strings given = {texts.data(), sizes.data(), dims.data(), dims.size()};
    scopevm_tensor tensor{};
    scopevm_status* const failure = scopevm_tensor_from_strings(&given, strings.size(), &tensor);
    return made(failure, tensor);
  });
}

inline Result<Tensor> Tensor::from_dlpack(DLManagedTensor* managed) {
  scopevm_tensor tensor{};
  scopevm_status* const failure = scopevm_tensor_from_dlpack(managed, &tensor);
  return made(failure, tensor);
}

inline Result<Tensor> Tensor::from_dlpack(DLManagedTensorVersioned* managed) {
  scopevm_tensor tensor{};
  scopevm_status* const failure = scopevm_tensor_from_dlpack_versioned(managed, &tensor);
  return made(failure, tensor);
}

inline Result<DLManagedTensor*> Tensor::to_dlpack() const {
  DLManagedTensor* managed = nullptr;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_tensor_to_dlpack(&c_, &managed)));
  return managed;
}

inline Result<DLManagedTensorVersioned*> Tensor::to_dlpack_versioned() const {
  DLManagedTensorVersioned* managed = nullptr;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_tensor_to_dlpack_versioned(&c_, &managed)));
  return managed;
}

inline std::string_view Tensor::string_at(int64_t i) const {
  const char* text = nullptr;
  size_t size = 0;
  // Succeeds: `i` is the index of a string.
  scopevm_status_free(scopevm_tensor_string(&c_, static_cast<size_t>(i), &text, &size));
  return {text, size};
}

inline int64_t Tensor::product_of_dims() const {
  int64_t count = is_empty() ? 0 : 1;
  for (const int64_t dim : dims()) count *= dim;
  return count;
}

}  // namespace scopevm
