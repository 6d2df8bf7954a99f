// Inferences as JSON, with the extension for binary tensors: the JSON of a request or response is
// followed by the elements of the tensors that have the parameter `binary_data_size`, in their
// order. docs/serve.md describes what is accepted.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "scopevm/module.h"
#include "scopevm/status.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// The largest JSON of a request: parsing takes up to 14 times its size. Elements of larger tensors
// are sent as binary data.
inline constexpr size_t kMaxJsonBytes = size_t{16} << 20;

// Parses the body of a request. `json_bytes` is the size of its JSON, if binary data follows; 0
// means that the body is the elements of the only input. Tensors can borrow the bytes of `body`.
// Errors: kInvalidArgument, with the position or the name of the input; kOutOfMemory.
Result<InferRequest> decode_infer(std::shared_ptr<const std::string> body,
                                  std::optional<size_t> json_bytes, const Signature& signature);

struct EncodedInfer {
  std::string body;
  std::optional<size_t> json_bytes;  // if binary data follows
};

// Errors: kInvalidArgument (JSON cannot hold an output: a number that is not finite, a string that
// is not UTF-8, or a type without numbers in JSON).
Result<EncodedInfer> encode_infer(const InferResponse& response);

}  // namespace scopevm::serve
