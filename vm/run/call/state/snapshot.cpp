// The values of a state as a file of records: one for the number of steps, and one for each pair,
// whose name is INPUT=OUTPUT. docs/state.md describes the format.
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/tensor/tensor_access.h"
#include "vm/format/records/records.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/state_memory.h"
#include "vm/run/call/state/state_use.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

constexpr char kKind[] = "state";
constexpr char kSteps[] = "steps";  // no pair has this name, because it has no '='

std::string hex(uint64_t number) {
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

// The tensor, or a copy of one in memory of another rank.
Result<Tensor> in_this_process(BoundSession& session, const Tensor& value) {
  if (!is_remote(value.data())) return value;
  SCOPEVM_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(value.dtype(), value.dims()));
  SCOPEVM_RETURN_IF_ERROR(copy_state(session, value, copy));
  return copy;
}

}  // namespace

Result<std::vector<uint8_t>> CallState::snapshot() {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  format::RecordWriter writer(kKind, session_->module().digest());
  writer.add_number(kSteps, steps());
  for (const Pair& pair : pairs_) {
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor value, in_this_process(*session_, current(pair)));
    writer.add_tensor(name_of(pair), value.dtype(), value.dims(),
                      {static_cast<const uint8_t*>(value.data()), size_t(value.bytes())});
  }
  return std::move(writer).finish();
}

Status CallState::restore(std::span<const uint8_t> snapshot) {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  SCOPEVM_ASSIGN_OR_RETURN(const format::Records read, format::read_records(snapshot, kKind));
  if (const uint64_t expected = session_->module().digest(); read.module != expected)
    return {StatusCode::kInvalidArgument, "the state is of another module: its digest is " +
                                              hex(read.module) + ", expected " + hex(expected)};
  const format::Record* steps = read.find(kSteps);
  if (steps == nullptr) return {StatusCode::kInvalidArgument, "the state has no number of steps"};
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t step_count, format::read_number(*steps));
  // All values are checked before the first is replaced.
  std::vector<Tensor> values, given;
  for (const Pair& pair : pairs_) {
    const format::Record* record = read.find(name_of(pair));
    if (record == nullptr)
      return {StatusCode::kInvalidArgument, "the state has no value of " + name_of(pair)};
    SCOPEVM_ASSIGN_OR_RETURN(format::TensorRecord value, format::read_tensor(*record));
    SCOPEVM_ASSIGN_OR_RETURN(values.emplace_back(), tensor_for(pair, value.dtype, value.dims));
    given.push_back(TensorAccess::make(const_cast<uint8_t*>(value.bytes.data()), nullptr,
                                       value.dtype, value.dims,
                                       static_cast<int64_t>(value.bytes.size())));
  }
  if (read.records.size() != pairs_.size() + 1)
    return {StatusCode::kInvalidArgument,
            "the state has " + runtime::count_text(read.records.size() - 1, "value") +
                ", expected " + std::to_string(pairs_.size())};
  for (size_t i = 0; i < pairs_.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, given[i], values[i]));
    pairs_[i].buffers[current_index(pairs_[i])] = values[i];
  }
  steps_ = step_count;
  return {};
}

}  // namespace scopevm::vm
