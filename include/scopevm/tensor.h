// Tensor: a typed, compact, row-major view of a storage. It either shares ownership of its bytes or
// borrows them from the caller. Copying a Tensor copies the view, not the elements.
//
// A string tensor (DType::kStr) owns its strings and is immutable. It is created by from_texts() or
// by a call, and read with text_at(). Strings are byte sequences; ops that process characters
// expect UTF-8.
//
// Thread-safety: a value type. Distinct objects can be used by distinct threads, even if they share
// a storage, as long as no thread writes elements that another thread reads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

#include "scopevm/dlpack.h"
#include "scopevm/dtype.h"
#include "scopevm/export.h"
#include "scopevm/status.h"

namespace scopevm {

inline constexpr int kMaxRank = 16;

namespace runtime {
class Storage;
}

class SCOPEVM_API Tensor {
 public:
  Tensor() = default;  // an empty tensor: data() is null
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  // Allocates a tensor with uninitialised, 64-byte aligned elements. Errors: kInvalidArgument (rank
  // above kMaxRank, negative dim, size overflow, kStr), kOutOfMemory.
  static Result<Tensor> allocate(DType dtype, std::span<const int64_t> dims);
  static Result<Tensor> allocate(DType dtype, std::initializer_list<int64_t> dims) {
    return allocate(dtype, std::span(dims.begin(), dims.size()));
  }

  // Creates a read-only string tensor from copies of `texts`, in row-major order. Errors:
  // kInvalidArgument (rank above kMaxRank, negative dim, or texts.size() is not the product of
  // `dims`), kOutOfMemory.
  static Result<Tensor> from_texts(std::span<const std::string_view> texts,
                                   std::span<const int64_t> dims);

  // Creates a view of the caller's bytes, which must stay valid while this tensor or a copy of it
  // is used. The const overload creates a read-only tensor, which can be an input but not an
  // output. `data` must be aligned to the element size; it can be null if there are no elements.
  static Result<Tensor> borrow(void* data, DType dtype, std::span<const int64_t> dims);
  static Result<Tensor> borrow(const void* data, DType dtype, std::span<const int64_t> dims);

  // Like borrow(), but takes ownership: `release` is called once, by the thread that destroys the
  // last copy. If adopt() fails, `release` is not called.
  static Result<Tensor> adopt(void* data, DType dtype, std::span<const int64_t> dims,
                              std::function<void()> release);

  // Takes ownership of `managed` without copying the elements. Its deleter is called when the last
  // copy is destroyed. Errors: kUnsupported for a non-CPU device, lanes other than 1, an element
  // type that DType lacks, or strides that are not compact and row-major. On failure the caller
  // keeps ownership.
  static Result<Tensor> from_dlpack(DLManagedTensor* managed);
  // Returns a managed tensor that shares ownership of the bytes; the receiver calls its deleter.
  // The bytes of a borrowed tensor remain borrowed. Errors: kOutOfMemory, kUnsupported (kStr).
  Result<DLManagedTensor*> to_dlpack() const;

  bool is_empty() const { return data_ == nullptr; }
  bool is_read_only() const { return is_read_only_; }
  void* data() const { return data_; }
  // REQUIRES: sizeof(T) is the element size.
  template <typename T>
  std::span<T> elements() const {
    return {static_cast<T*>(data_), static_cast<size_t>(element_count())};
  }
  // The string at row-major index `i`, valid as long as the tensor or a copy of it.
  // REQUIRES: dtype() is kStr, 0 <= i < element_count().
  std::string_view text_at(int64_t i) const;
  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  int64_t element_count() const {
    return dtype_ == DType::kStr ? text_count() : bytes_ / byte_size(dtype_);
  }
  int64_t bytes() const { return bytes_; }

 private:
  friend struct TensorAccess;
  int64_t text_count() const;
  void* data_ = nullptr;
  runtime::Storage* storage_ = nullptr;  // null if the bytes are borrowed
  int64_t bytes_ = 0;
  DType dtype_ = DType::kF32;
  bool is_read_only_ = false;
  uint8_t rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
};

}  // namespace scopevm
