// For a tensor: its rank and dims, and its address if another rank than 0 has it. For another
// input: whether it has a value, the number of its elements, and the rank and dims of each.
#include "vm/run/call/ranks/shapes.h"

#include <limits>
#include <utility>

#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/state_memory.h"
#include "vm/run/call/request.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

void append(const Tensor& tensor, std::vector<int64_t>& to) {
  to.push_back(tensor.rank());
  to.insert(to.end(), tensor.dims().begin(), tensor.dims().end());
}

class ShapeReader {
 public:
  explicit ShapeReader(std::span<const int64_t> numbers) : numbers_(numbers) {}

  bool is_at_end() const { return next_ == numbers_.size() && !has_failed_; }
  // 0 after the end.
  int64_t number(int64_t most) {
    has_failed_ =
        has_failed_ || next_ == numbers_.size() || numbers_[next_] < 0 || numbers_[next_] > most;
    return has_failed_ ? 0 : numbers_[next_++];
  }
  Tensor tensor(DType dtype) {
    const auto rank = static_cast<size_t>(number(kMaxRank));
    if (rank > numbers_.size() - next_) has_failed_ = true;
    if (has_failed_) return {};
    const std::span<const int64_t> dims = numbers_.subspan(next_, rank);
    next_ += rank;
    const Result<int64_t> bytes = runtime::shape_bytes(dtype, dims);
    if (!bytes.ok()) has_failed_ = true;
    return has_failed_ ? Tensor()
                       : TensorAccess::make(remote_address(0), nullptr, dtype, dims, *bytes);
  }

 private:
  const std::span<const int64_t> numbers_;
  size_t next_ = 0;
  bool has_failed_ = false;
};

// Gives an input and the output that is tied to it the bytes of the storage.
bool set_state(size_t index, runtime::Storage* storage, Request& request) {
  Tensor& input = request.inputs[index];
  if (storage == nullptr || storage->bytes != input.bytes()) return false;
  const auto output =
      static_cast<size_t>(request.session->module().main().decl->inputs[index].state_output);
  storage->retain();
  Tensor tensor =
      TensorAccess::make(storage->data, storage, input.dtype(), input.dims(), input.bytes());
  TensorAccess::set_read_only(tensor);
  request.inputs[index] = tensor;
  request.set_output(output, {std::move(tensor), true});
  return true;
}

}  // namespace

std::vector<int64_t> numbers_of(const Request& request, const CallOptions& options) {
  const BoundSession& session = *request.session;
  const Signature& signature = session.module().signature();
  const uint64_t traced = options.trace == nullptr ? kNotTraced : options.request_id;
  std::vector<int64_t> numbers = {static_cast<int64_t>(RankTask::kCall),
                                  static_cast<int64_t>(traced)};
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.inputs[i].kind == ValueKind::kTensor) {
      append(request.inputs[i], numbers);
      if (session.rank_of_input(i) != 0)
        numbers.push_back(
            static_cast<int64_t>(reinterpret_cast<uint64_t>(request.inputs[i].data())));
      continue;
    }
    const ListValue& list = request.list_inputs[i];
    numbers.push_back(list.has_value ? 1 : 0);
    numbers.push_back(static_cast<int64_t>(list.elements.size()));
    for (const Tensor& element : list.elements) append(element, numbers);
  }
  return numbers;
}

Status set_shapes(std::span<const int64_t> numbers, const StateBlocks& states, Request& request) {
  BoundSession& session = *request.session;
  const Signature& signature = session.module().signature();
  ShapeReader reader(numbers);
  bool has_states = true;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const TensorSignature& input = signature.inputs[i];
    if (input.kind == ValueKind::kTensor) {
      Tensor& tensor = request.inputs[i];
      tensor = reader.tensor(input.dtype);
      const int rank = session.rank_of_input(i);
      if (rank == 0) continue;
      const int64_t address = reader.number(std::numeric_limits<int64_t>::max());
      if (rank == session.ranks()->rank())
        has_states = set_state(i, states.find(address), request) && has_states;
      else
        tensor = TensorAccess::make(remote_address(rank, static_cast<uint64_t>(address)), nullptr,
                                    input.dtype, tensor.dims(), tensor.bytes());
      continue;
    }
    ListValue& list = request.list_inputs[i];
    list = {.is_set = true, .has_value = reader.number(1) != 0};
    const int64_t count = reader.number(static_cast<int64_t>(numbers.size()));
    for (int64_t e = 0; e < count; ++e) list.elements.push_back(reader.tensor(input.dtype));
  }
  if (reader.is_at_end() && has_states) return {};
  return {StatusCode::kDevice, "rank 0 sent the shapes of another module's inputs"};
}

}  // namespace scopevm::vm
