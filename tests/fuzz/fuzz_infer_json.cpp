// Reads the body of an inference request. A request that is accepted has tensors of the given
// sizes, and its inputs can be written as outputs.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "tools/serve/protocol/infer_json.h"

namespace scopevm::serve {
namespace {

const Signature& signature() {
  static const Signature instance = [] {
    Signature made;
    made.inputs.push_back({"x", DType::kF32, {"n", "3"}});
    return made;
  }();
  return instance;
}

// The first byte selects the size of the JSON: of 255, all; else in 64ths of the body.
void check_body(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const auto body =
      std::make_shared<const std::string>(reinterpret_cast<const char*>(data + 1), size - 1);
  std::optional<size_t> json_bytes;
  if (data[0] != 255) json_bytes = body->size() * data[0] / 64;
  const Result<InferRequest> request = decode_infer(body, json_bytes, signature());
  if (!request.ok()) return;
  InferResponse response{"m", "1", request->id, request->inputs, {}};
  for (size_t i = 0; i < response.outputs.size(); ++i)
    response.is_binary.push_back(i % 2 == 0 || request->is_binary);
  const Result<EncodedInfer> encoded = encode_infer(response);
  if (encoded.ok() && encoded->json_bytes.value_or(0) > encoded->body.size()) std::abort();
}

}  // namespace
}  // namespace scopevm::serve

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  scopevm::serve::check_body(data, size);
  return 0;
}
