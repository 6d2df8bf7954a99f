// Reads an inference request of gRPC. The inputs of a request that is accepted can be written as
// outputs.
#include <cstdint>

#include "tools/serve/grpc/convert.h"

namespace {

using namespace scopevm::serve;

void check_message(const uint8_t* data, size_t size) {
  inference::ModelInferRequest message;
  if (size > size_t{1} << 20 || !message.ParseFromArray(data, static_cast<int>(size))) return;
  const scopevm::Result<InferRequest> request = request_of(message);
  if (!request.ok()) return;
  inference::ModelInferResponse response;
  write_response({"m", "1", request->id, request->inputs, {}}, response);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_message(data, size);
  return 0;
}
