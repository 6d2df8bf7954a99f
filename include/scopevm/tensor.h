/// @file
/// Tensor: a typed, compact, row-major view of a storage. It either shares ownership of its bytes
/// or borrows them from the caller. Copying a Tensor copies the view, not the elements.
///
/// A string tensor (DType::kStr) owns its strings and is immutable. It is created by from_strings()
/// or by a call, and read with string_at(). Strings are byte sequences; ops that process characters
/// expect UTF-8.
///
/// Thread-safety: a value type. Distinct objects can be used by distinct threads, even if they
/// share a storage, as long as no thread writes elements that another thread reads.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

#include "scopevm/c/dlpack.h"
#include "scopevm/c/tensor.h"
#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm {

/// Maximum number of dims of a tensor.
inline constexpr int kMaxRank = SCOPEVM_MAX_RANK;

/// A typed, compact, row-major view of a storage: see the comment of this file.
class Tensor {
 public:
  Tensor() = default;  ///< an empty tensor: data() is null
  /// Shares the storage, or borrows the same bytes.
  Tensor(const Tensor& other);
  /// `other` becomes an empty tensor.
  Tensor(Tensor&& other) noexcept;
  /// Like the copy constructor.
  Tensor& operator=(const Tensor& other);
  /// Like the move constructor.
  Tensor& operator=(Tensor&& other) noexcept;
  /// Releases the storage if this is its last owner.
  ~Tensor();

  /// Allocates a tensor with uninitialised, 64-byte aligned elements. Errors: kInvalidArgument
  /// (rank above kMaxRank, negative dim, size overflow, kStr), kOutOfMemory.
  static Result<Tensor> allocate(DType dtype, std::span<const int64_t> dims);
  /// Like the overload above.
  static Result<Tensor> allocate(DType dtype, std::initializer_list<int64_t> dims) {
    return allocate(dtype, std::span(dims.begin(), dims.size()));
  }

  /// Creates a read-only string tensor from copies of `strings`, in row-major order. Errors:
  /// kInvalidArgument (rank above kMaxRank, negative dim, size overflow, or strings.size() is not
  /// the product of `dims`), kOutOfMemory.
  static Result<Tensor> from_strings(std::span<const std::string_view> strings,
                                     std::span<const int64_t> dims);

  /// Creates a view of the caller's bytes, which must stay valid while this tensor or a copy of it
  /// is used. The const overload creates a read-only tensor, which can be an input but not an
  /// output. `data` must be aligned to the element size; it can be null if there are no elements.
  /// Errors: kInvalidArgument (null or misaligned `data`, rank above kMaxRank, negative dim, size
  /// overflow, kStr).
  static Result<Tensor> borrow(void* data, DType dtype, std::span<const int64_t> dims);
  /// Like the overload above; the tensor is read-only.
  static Result<Tensor> borrow(const void* data, DType dtype, std::span<const int64_t> dims);

  /// Like borrow(), but takes ownership: `release` is called once, by the thread that destroys the
  /// last copy. If adopt() fails, `release` is not called.
  static Result<Tensor> adopt(void* data, DType dtype, std::span<const int64_t> dims,
                              std::function<void()> release);

  /// Takes ownership of `managed`. The elements are copied only if they have strides, that is, are
  /// not compact and row-major. The deleter is called after a copy, or when the last copy of this
  /// tensor is destroyed. Errors: kUnsupported for a non-CPU device, lanes other than 1, or an
  /// element type that DType lacks; kInvalidArgument as for borrow(), or if the shape is missing;
  /// kOutOfMemory. On failure the caller keeps ownership.
  static Result<Tensor> from_dlpack(DLManagedTensor* managed);
  /// Like the overload above. The tensor is read-only if the flags say so. Errors: also
  /// kUnsupported, if the major version is not DLPACK_MAJOR_VERSION.
  static Result<Tensor> from_dlpack(DLManagedTensorVersioned* managed);
  /// Returns a managed tensor that shares ownership of the bytes; the receiver calls its deleter.
  /// The bytes of a borrowed tensor remain borrowed. Errors: kOutOfMemory, kUnsupported (kStr).
  Result<DLManagedTensor*> to_dlpack() const;
  /// Like to_dlpack(), in the form with a version, which also tells whether the tensor is
  /// read-only.
  Result<DLManagedTensorVersioned*> to_dlpack_versioned() const;

  /// True if data() is null, as for Tensor(). A tensor with a dim of 0 is not empty: its data() is
  /// not null.
  bool is_empty() const { return c_.data == nullptr; }
  /// True if the tensor cannot be an output.
  bool is_read_only() const { return c_.is_read_only != 0; }
  /// The address of the first element. The elements of a read-only tensor must not be written. For
  /// a string tensor: the strings in an unspecified format.
  void* data() const { return c_.data; }
  /// The elements in row-major order. REQUIRES: dtype() is not kStr and elements_per_byte() of it
  /// is 1; sizeof(T) is the element size.
  template <typename T>
  std::span<T> elements() const {
    return {static_cast<T*>(c_.data), static_cast<size_t>(element_count())};
  }
  /// The string at row-major index `i`, valid as long as the tensor or a copy of it.
  /// REQUIRES: dtype() is kStr, 0 <= i < element_count().
  std::string_view string_at(int64_t i) const;
  /// Element type.
  DType dtype() const { return static_cast<DType>(c_.dtype); }
  /// Number of dims.
  int rank() const { return c_.rank; }
  /// The dims, valid as long as this object.
  std::span<const int64_t> dims() const { return {c_.dims, c_.rank}; }
  /// Product of the dims; 0 for an empty tensor.
  int64_t element_count() const {
    const bool is_counted = dtype() == DType::kStr || elements_per_byte(dtype()) > 1;
    return is_counted ? product_of_dims() : c_.bytes / byte_size(dtype());
  }
  /// Size of the contents in bytes.
  int64_t bytes() const { return c_.bytes; }

  /// The tensor of a struct of the C API, whose reference to the storage it takes over.
  static Tensor take(const scopevm_tensor& tensor) noexcept;
  /// The struct of the C API. It has the address of this object: an array of tensors is an array of
  /// these structs, and vice versa.
  const scopevm_tensor* c_tensor() const { return &c_; }

 private:
  friend struct TensorAccess;
  static Result<Tensor> made(scopevm_status* failure, const scopevm_tensor& tensor) noexcept;
  void forget() noexcept;           // becomes empty without a release of the storage
  int64_t product_of_dims() const;  // 0 for an empty tensor
  scopevm_tensor c_ = {nullptr, nullptr, 0, SCOPEVM_F32, 0, 0, {}, {}};
};
static_assert(sizeof(Tensor) == sizeof(scopevm_tensor));

}  // namespace scopevm

#include "scopevm/layer/tensor.h"  // IWYU pragma: export
