// Tensor: a typed, compact, row-major view of a storage. It either shares ownership of its bytes or
// borrows them from the caller.
//
// Elements that are texts (kStr) are no fixed-size bytes: such a tensor owns its texts, is made by
// from_texts or by a call, never changes, and is read by text_at. Texts are bytes, UTF-8 where
// their characters matter.
//
// Copying a Tensor copies the view, not the elements. Thread-safety: a value; distinct objects may
// be used from distinct threads, also when they share a storage, as long as nobody writes elements
// that another reads.
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
  Tensor() = default;  // empty: data() is null
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  // New bytes, 64-byte aligned and uninitialised. Errors: kInvalidArgument (rank above kMaxRank,
  // negative dim, size overflow, texts), kOutOfMemory.
  static Result<Tensor> allocate(DType dtype, std::span<const int64_t> dims);
  static Result<Tensor> allocate(DType dtype, std::initializer_list<int64_t> dims) {
    return allocate(dtype, std::span(dims.begin(), dims.size()));
  }

  // A tensor of copies of the texts, in row-major order; read-only. Errors: kInvalidArgument (rank,
  // negative dim, a count that is not the dims'), kOutOfMemory.
  static Result<Tensor> from_texts(std::span<const std::string_view> texts,
                                   std::span<const int64_t> dims);

  // A view of the caller's bytes, which must stay valid while this tensor or a copy of it is used.
  // The const form is read-only: it is accepted as an input, not as an output. `data` must be
  // aligned to the element size and may be null only when there are no elements.
  static Result<Tensor> borrow(void* data, DType dtype, std::span<const int64_t> dims);
  static Result<Tensor> borrow(const void* data, DType dtype, std::span<const int64_t> dims);

  // As borrow, and `release` runs once, when the last copy is gone, on that thread. When this fails
  // `release` has not run.
  static Result<Tensor> adopt(void* data, DType dtype, std::span<const int64_t> dims,
                              std::function<void()> release);

  // Takes over `managed`: its deleter runs when the last copy is gone. Zero copy. Errors, with
  // `managed` untouched: kUnsupported for a device other than the CPU, lanes other than 1, an
  // element type without DType, or strides that are not compact and row-major.
  static Result<Tensor> from_dlpack(DLManagedTensor* managed);
  // A managed tensor that shares ownership of the bytes; the receiver calls its deleter. A borrowed
  // tensor stays borrowed. Errors: kOutOfMemory, kUnsupported (texts).
  Result<DLManagedTensor*> to_dlpack() const;

  bool is_empty() const { return data_ == nullptr; }
  bool is_read_only() const { return is_read_only_; }
  void* data() const { return data_; }
  // REQUIRES: sizeof(T) is the element size.
  template <typename T>
  std::span<T> elements() const {
    return {static_cast<T*>(data_), static_cast<size_t>(element_count())};
  }
  // Valid as long as the tensor or a copy of it. REQUIRES: dtype() is kStr, 0 <= i <
  // element_count().
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
  runtime::Storage* storage_ = nullptr;  // null: borrowed
  int64_t bytes_ = 0;
  DType dtype_ = DType::kF32;
  bool is_read_only_ = false;
  uint8_t rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
};

}  // namespace scopevm
