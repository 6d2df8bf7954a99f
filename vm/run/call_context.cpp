#include "vm/run/call_context.h"

#include <algorithm>
#include <utility>

#include "vm/run/list.h"

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
  clear_list_results();
  std::ranges::fill(pools_, PoolAccount{});
  copies_.clear();
  emulated_seconds = 0;
}

void CallContext::clear_list_results() {
  for (ListValue& result : list_results) result = {};
}

// Lists nest as deep as the verifier allows.
void CallContext::drop_elements(runtime::Storage* list) {
  const List elements(list);
  for (int64_t i = 0; i < elements.size(); ++i)
    if (runtime::Storage* storage = elements.element(i).storage)
      if (--storage->call_references == 0) disown(storage);
}

// All storages of the call are in one chain, so that what lists count does not matter here.
void CallContext::end() {
  while (live_ != nullptr) let_go(live_);
  while (frames.depth() > 0) frames.pop();
}

}  // namespace scopevm::vm
