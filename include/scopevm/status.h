/// @file
/// Status and Result<T>: errors as values. No exception crosses the scopevm API: a function that
/// runs out of memory fails with kOutOfMemory.
///
/// A Status is one pointer; null means ok. A failed Status has a code and a message. Callers prefix
/// the message with context as they propagate it ("main: pc 36: alloc_storage: ..."). Both types
/// are [[nodiscard]]. Thread-safety: value types; distinct objects can be used by distinct threads.
/// Both are header-only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace scopevm {

/// Codes are in bands of ten: 1x invalid input, 2x unsupported, 3x resources, 4x cancellation,
/// 9x a defect in scopevm.
enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 10,   ///< invalid argument or input: name, rank, dim, type
  kInvalidModel = 11,      ///< malformed ONNX model, textual graph, assembly or module file
  kNotFound = 12,          ///< no such file, function, input or device
  kUnsupported = 20,       ///< valid, but not implemented
  kOutOfMemory = 30,       ///< an allocation failed
  kResourceLimit = 31,     ///< a limit of the user, the machine or the VM is exceeded
  kDevice = 32,            ///< a device, its driver or a system call for a kernel image failed
  kCancelled = 40,         ///< the caller cancelled the call
  kDeadlineExceeded = 41,  ///< the call passed its deadline
  kInternal = 90,          ///< a defect in scopevm
};

/// What an error of a request is about, for programs. The message contains the same facts.
struct ErrorFields {
  std::string subject;   ///< name of the input, output or dimension
  int axis = -1;         ///< axis of the input or output; -1: none
  std::string expected;  ///< "f32[n, 48]", "at most 16"; can be empty
  std::string given;     ///< "f32[3, 40]", "17"; can be empty
};

/// Success, or an error code with a message.
class [[nodiscard]] Status {
 public:
  /// An ok status.
  Status() = default;
  /// A failed status; out_of_memory() if the message cannot be allocated.
  /// REQUIRES: `code` is not StatusCode::kOk.
  Status(StatusCode code, std::string message) noexcept
      : rep_(new(std::nothrow) Rep{1, code, std::move(message), {}}) {
    if (rep_ == nullptr) *this = out_of_memory();
  }
  /// Like the constructor above, with fields.
  Status(StatusCode code, std::string message, ErrorFields fields) noexcept
      : rep_(new(std::nothrow) Rep{1, code, std::move(message), std::move(fields)}) {
    if (rep_ == nullptr) *this = out_of_memory();
  }
  /// A status with StatusCode::kOutOfMemory and the message "out of memory". Allocates no memory.
  static Status out_of_memory() noexcept;
  /// A status that was moved from is ok.
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  /// Like the move constructor.
  Status& operator=(Status&& other) noexcept {
    Status moved(std::move(other));
    std::swap(rep_, moved.rep_);
    return *this;
  }
  /// Shares code and message.
  Status(const Status& other) noexcept : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->references.fetch_add(1, std::memory_order_relaxed);
  }
  /// Shares code and message.
  Status& operator=(const Status& other) noexcept { return *this = Status(other); }
  ~Status() {
    if (rep_ != nullptr && rep_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete rep_;
  }

  /// True if there is no error.
  bool ok() const { return rep_ == nullptr; }
  /// StatusCode::kOk if there is no error.
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  /// The message, empty if there is no error. Valid until the status changes.
  std::string_view message() const {
    return rep_ ? std::string_view(rep_->message) : std::string_view();
  }

  /// The fields of the error; null if it has none. Valid until the status changes.
  const ErrorFields* fields() const {
    return rep_ != nullptr && rep_->fields ? &*rep_->fields : nullptr;
  }

  /// Prefixes the message with "context: ". No effect on an ok status, or when out of memory.
  Status&& with_context(std::string_view context) && noexcept;

 private:
  struct Rep {  // immutable and shared by copies, so that copies allocate no memory
    std::atomic<int32_t> references;
    StatusCode code;
    std::string message;
    std::optional<ErrorFields> fields;
  };
  Rep* rep_ = nullptr;
};

inline Status Status::out_of_memory() noexcept {
  // Never destroyed: the first reference is never released. The message is short enough to be
  // stored inside the string object.
  alignas(Rep) static std::byte memory[sizeof(Rep)];
  static Rep* const rep = new (memory) Rep{1, StatusCode::kOutOfMemory, "out of memory", {}};
  rep->references.fetch_add(1, std::memory_order_relaxed);
  Status status;
  status.rep_ = rep;
  return status;
}

inline Status&& Status::with_context(std::string_view context) && noexcept {
  if (rep_ == nullptr) return std::move(*this);
  try {
    std::string message(context);
    message.append(": ").append(rep_->message);
    Status longer;
    longer.rep_ = new Rep{1, rep_->code, std::move(message), rep_->fields};
    *this = std::move(longer);
  } catch (const std::bad_alloc&) {
    return std::move(*this);  // keeps the shorter message
  }
  return std::move(*this);
}

/// A value, or the status of a failure.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// A success. Implicit, so that functions can return a value.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// A failure. REQUIRES: `status` is not ok.
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  /// True if there is a value.
  bool ok() const { return state_.index() == 0; }

  /// @{
  /// The value. REQUIRES: ok(). The rvalue overload moves the value out, so that it outlives the
  /// result: `for (auto& scope : *session.memory_stats())`.
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  /// @}

  /// @{
  /// The error, or ok. The rvalue overload moves the error out.
  Status status() const& { return ok() ? Status() : std::get<1>(state_); }
  Status status() && { return ok() ? Status() : std::get<1>(std::move(state_)); }
  /// @}

 private:
  std::variant<T, Status> state_;
};

}  // namespace scopevm

/// @cond
#define SCOPEVM_CONCAT_INNER(a, b) a##b
#define SCOPEVM_CONCAT(a, b) SCOPEVM_CONCAT_INNER(a, b)
/// @endcond
/// Evaluates EXPR, a Status. Returns it from the enclosing function if it is an error.
#define SCOPEVM_RETURN_IF_ERROR(expr)                                                              \
  do {                                                                                             \
    if (::scopevm::Status scopevm_status_ = (expr); !scopevm_status_.ok()) return scopevm_status_; \
  } while (0)
/// Evaluates EXPR, a `Result<T>`, and assigns its value to LHS, a declaration or a variable. On
/// failure, returns the Status of EXPR from the enclosing function.
#define SCOPEVM_ASSIGN_OR_RETURN(lhs, expr) \
  SCOPEVM_ASSIGN_OR_RETURN_INNER(SCOPEVM_CONCAT(scopevm_result_, __LINE__), lhs, expr)
/// @cond
#define SCOPEVM_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return std::move(tmp).status();       \
  lhs = *std::move(tmp)
/// @endcond
