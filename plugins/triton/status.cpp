#include "plugins/triton/status.h"

#include <exception>
#include <new>

namespace scopevm::triton {

TRITONSERVER_Error* to_triton(const Status& status) {
  if (status.ok()) return nullptr;
  const auto code = [&] {
    switch (status.code()) {
      case StatusCode::kInvalidArgument:
      case StatusCode::kInvalidModel:
        return TRITONSERVER_ERROR_INVALID_ARG;
      case StatusCode::kNotFound:
        return TRITONSERVER_ERROR_NOT_FOUND;
      case StatusCode::kUnsupported:
        return TRITONSERVER_ERROR_UNSUPPORTED;
      case StatusCode::kOutOfMemory:
      case StatusCode::kResourceLimit:
      case StatusCode::kDeadlineExceeded:
        return TRITONSERVER_ERROR_UNAVAILABLE;
      case StatusCode::kCancelled:
        return TRITONSERVER_ERROR_CANCELLED;
      default:
        return TRITONSERVER_ERROR_INTERNAL;
    }
  }();
  return TRITONSERVER_ErrorNew(code, message_of(status));
}

Status take(TRITONSERVER_Error* error, std::string_view function) {
  if (error == nullptr) return {};
  const StatusCode code = [&] {
    switch (TRITONSERVER_ErrorCode(error)) {
      case TRITONSERVER_ERROR_INVALID_ARG:
        return StatusCode::kInvalidArgument;
      case TRITONSERVER_ERROR_NOT_FOUND:
        return StatusCode::kNotFound;
      case TRITONSERVER_ERROR_UNSUPPORTED:
        return StatusCode::kUnsupported;
      case TRITONSERVER_ERROR_UNAVAILABLE:
        return StatusCode::kResourceLimit;
      case TRITONSERVER_ERROR_CANCELLED:
        return StatusCode::kCancelled;
      default:
        return StatusCode::kInternal;
    }
  }();
  Status status = contained([&]() -> Status {
    return {code, std::string(function) + ": " + TRITONSERVER_ErrorMessage(error)};
  });
  TRITONSERVER_ErrorDelete(error);
  return status;
}

Status status_of_exception() noexcept {
  const auto described = [](const char* what) -> Status {
    try {
      return {StatusCode::kInternal, std::string("unexpected exception: ") + what};
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory();
    }
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& error) {
    return described(error.what());
  } catch (...) {
    return described("of another type than std::exception");
  }
}

const char* message_of(const Status& status) { return status.message().data(); }

void log(TRITONSERVER_LogLevel level, const char* message) noexcept {
  if (auto* error = TRITONSERVER_LogMessage(level, "scopevm", 0, message))
    TRITONSERVER_ErrorDelete(error);
}

void log_if(TRITONSERVER_Error* error, std::string_view function) noexcept {
  if (error == nullptr) return;
  log(TRITONSERVER_LOG_ERROR, message_of(take(error, function)));
}

std::optional<TRITONSERVER_DataType> type_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return TRITONSERVER_TYPE_BOOL;
    case DType::kI8:
      return TRITONSERVER_TYPE_INT8;
    case DType::kI16:
      return TRITONSERVER_TYPE_INT16;
    case DType::kI32:
      return TRITONSERVER_TYPE_INT32;
    case DType::kI64:
      return TRITONSERVER_TYPE_INT64;
    case DType::kU8:
      return TRITONSERVER_TYPE_UINT8;
    case DType::kU16:
      return TRITONSERVER_TYPE_UINT16;
    case DType::kU32:
      return TRITONSERVER_TYPE_UINT32;
    case DType::kU64:
      return TRITONSERVER_TYPE_UINT64;
    case DType::kF16:
      return TRITONSERVER_TYPE_FP16;
    case DType::kBF16:
      return TRITONSERVER_TYPE_BF16;
    case DType::kF32:
      return TRITONSERVER_TYPE_FP32;
    case DType::kF64:
      return TRITONSERVER_TYPE_FP64;
    case DType::kStr:
      return TRITONSERVER_TYPE_BYTES;
    default:
      return std::nullopt;
  }
}

std::string_view config_name(TRITONSERVER_DataType type) {
  constexpr std::string_view kNames[] = {"TYPE_INVALID", "TYPE_BOOL",   "TYPE_UINT8", "TYPE_UINT16",
                                         "TYPE_UINT32",  "TYPE_UINT64", "TYPE_INT8",  "TYPE_INT16",
                                         "TYPE_INT32",   "TYPE_INT64",  "TYPE_FP16",  "TYPE_FP32",
                                         "TYPE_FP64",    "TYPE_STRING", "TYPE_BF16"};
  return type >= 0 && type <= TRITONSERVER_TYPE_BF16 ? kNames[type] : kNames[0];
}

}  // namespace scopevm::triton
