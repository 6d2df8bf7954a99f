#include "vm/run/call_context.h"

#include <algorithm>
#include <utility>

namespace scopevm::vm {

CallContext::~CallContext() {
  end();
  for (runtime::Storage* storage : output_storages)
    if (storage != nullptr) storage->release();
}

void CallContext::set_output(size_t index, Tensor tensor) {
  if (runtime::Storage* old = std::exchange(output_storages[index], nullptr)) old->release();
  if (!tensor.is_empty())
    output_storages[index] = runtime::Storage::adopt(tensor.data(), tensor.bytes(), {});
  outputs[index] = std::move(tensor);
}

void CallContext::begin() {
  results.clear();
  std::ranges::fill(pools_, PoolAccount{});
}

void CallContext::end() {
  while (live_ != nullptr) disown(live_);
  while (frames.depth() > 0) frames.pop();
}

}  // namespace scopevm::vm
