// The buffers and results of a request; see request.h.
#include "vm/run/call/request.h"

#include <utility>

#include "vm/run/call/bound_session.h"

namespace scopevm::vm {

Request::Request(std::shared_ptr<BoundSession> of) : session(std::move(of)) {
  const Signature& signature = session->module().signature();
  inputs.resize(signature.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (signature.inputs[i].has_default) inputs[i] = session->module().default_inputs()[i];
  dimensions.resize(signature.dimensions.size());
  outputs.resize(signature.outputs.size());
  output_storages.resize(signature.outputs.size());
  list_inputs.resize(signature.inputs.size());
  list_results.resize(signature.outputs.size());
}

Request::~Request() {
  for (runtime::Storage* storage : output_storages)
    if (storage != nullptr) storage->release();
}

bool Request::is_set(size_t input) const {
  return inputs[input].data() != session->module().default_inputs()[input].data();
}

void Request::set_output(size_t index, OutputBuffer buffer) {
  const Tensor& tensor = buffer.tensor;
  runtime::Storage* storage =
      tensor.is_empty() ? nullptr : runtime::Storage::adopt(tensor.data(), tensor.bytes(), {});
  // Nothing below throws.
  if (runtime::Storage* old = std::exchange(output_storages[index], storage)) old->release();
  outputs[index] = std::move(buffer);
}

Status Request::check_idle() const {
  if (!is_in_flight()) return {};
  return {StatusCode::kInvalidArgument, "the call is in flight: wait for its end"};
}

void Request::clear_results() {
  results.clear();
  for (ListValue& result : list_results) result = {};
}

void Request::release_values() {
  clear_results();
  inputs.clear();
  list_inputs.clear();
  state.reset();
}

}  // namespace scopevm::vm
