// Creates states, and lets calls and functions use them one at a time; see call_state.h.
#include "vm/run/call/state/call_state.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/memory/storage.h"
#include "runtime/nearest_name.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "vm/run/bound/bound.h"
#include "vm/run/bound/request_check.h"
#include "vm/run/call/bind.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/state_memory.h"
#include "vm/run/call/request.h"
#include "vm/run/call/state/state_use.h"

namespace scopevm::vm {
namespace {

// The pool of a tied input. The blocks of heaps and arenas can be of any size and have any
// lifetime.
std::optional<uint32_t> pool_of(const LoadedModule& module, size_t input) {
  const uint32_t pool = module.main().decl->inputs[input].pool;
  const format::ModuleContents& contents = module.contents();
  const format::PoolKind kind = contents.pools[pool].kind;
  const bool has_blocks = kind == format::PoolKind::kHeap || kind == format::PoolKind::kArena;
  if (has_blocks && contents.devices[contents.pools[pool].device].is_host()) return pool;
  return module.heap_pool();
}

std::string text_of(const StatePair& pair) { return "state " + pair.input + "=" + pair.output; }

// The values of the dimensions: those given, and those that the initial values determine.
Result<std::map<std::string, int64_t>> dims_of(const LoadedModule& module,
                                               const StateOptions& options) {
  std::map<std::string, int64_t> dims = options.dims;
  for (const StatePair& pair : options.pairs) {
    if (pair.initial.is_empty()) continue;
    SCOPEVM_ASSIGN_OR_RETURN(const size_t input,
                             runtime::find_name("input", pair.input, module.input_names()));
    SCOPEVM_RETURN_IF_ERROR(check_input(module, input, pair.initial));
    const std::vector<AxisRule>& rules = module.axis_rules()[input];
    for (size_t axis = 0; axis < rules.size(); ++axis) {
      if (rules[axis].dimension < 0) continue;
      const std::string& name = module.signature().dimensions[rules[axis].dimension].name;
      const int64_t dim = pair.initial.dims()[axis];
      if (const auto [known, is_new] = dims.emplace(name, dim); known->second != dim)
        return Status(StatusCode::kInvalidArgument,
                      "initial value of input \"" + pair.input + "\": dim " + std::to_string(axis) +
                          " is " + std::to_string(dim) + ", expected " +
                          std::to_string(known->second) + " (dimension " + name + ")");
    }
  }
  return dims;
}

}  // namespace

Result<std::shared_ptr<CallState>> CallState::create(std::shared_ptr<BoundSession> session,
                                                     StateOptions options) {
  const LoadedModule& module = session->module();
  options.pairs = with_declared(module, std::move(options.pairs));
  if (options.pairs.empty())
    return Status(StatusCode::kInvalidArgument, "a state needs at least one pair");
  for (StatePair& pair : options.pairs)
    // tie() reports an unknown name.
    if (const auto input = runtime::find_name("input", pair.input, module.input_names());
        input.ok() && pair.initial.is_empty())
      pair.initial = module.default_inputs()[*input];
  std::shared_ptr<CallState> state(new CallState(std::move(session)));
  for (const StatePair& pair : options.pairs)
    SCOPEVM_RETURN_IF_ERROR(state->tie(pair).with_context(text_of(pair)));
  SCOPEVM_RETURN_IF_ERROR(state->check_changed_dims());
  SCOPEVM_ASSIGN_OR_RETURN(auto dims, dims_of(module, options));
  state->start_at_zero(dims);
  SCOPEVM_RETURN_IF_ERROR(check_request(module.signature(), dims, 1));
  for (size_t i = 0; i < options.pairs.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(state->set_first_value(state->pairs_[i], options.pairs[i].initial, dims)
                                .with_context(text_of(options.pairs[i])));
  return state;
}

std::vector<StatePair> CallState::with_declared(const LoadedModule& module,
                                                std::vector<StatePair> given) {
  const std::vector<TensorSignature>& inputs = module.signature().inputs;
  const auto is_given = [&](const TensorSignature& input) {
    return input.state_output >= 0 &&
           std::ranges::find(given, input.name, &StatePair::input) != given.end();
  };
  if (!given.empty() && std::ranges::none_of(inputs, is_given)) return given;
  for (const TensorSignature& input : inputs)
    if (input.state_output >= 0 && !is_given(input))
      given.push_back(
          {input.name, module.output_names()[static_cast<size_t>(input.state_output)], Tensor()});
  return given;
}

Status CallState::tie(const StatePair& given) {
  const LoadedModule& module = session_->module();
  Pair pair;
  SCOPEVM_ASSIGN_OR_RETURN(pair.input,
                           runtime::find_name("input", given.input, module.input_names()));
  SCOPEVM_ASSIGN_OR_RETURN(pair.output,
                           runtime::find_name("output", given.output, module.output_names()));
  SCOPEVM_RETURN_IF_ERROR(check_pair(given, pair));
  const format::TensorDecl& declared = module.main().decl->inputs[pair.input];
  pair.is_in_place = declared.is_in_place && std::cmp_equal(declared.state_output, pair.output);
  if (session_->ranks() != nullptr && session_->rank_of_input(pair.input) != 0 && !pair.is_in_place)
    return {StatusCode::kInvalidArgument,
            "the input is in memory of rank " +
                std::to_string(session_->rank_of_input(pair.input)) + ": expected output \"" +
                module.output_names()[static_cast<size_t>(declared.state_output)] + "\""};
  pairs_.push_back(std::move(pair));
  return {};
}

void CallState::start_at_zero(std::map<std::string, int64_t>& dims) const {
  const LoadedModule& module = session_->module();
  for (const Pair& pair : pairs_) {
    const std::vector<AxisRule>& rules = module.axis_rules()[pair.input];
    for (size_t axis = 0; axis < rules.size(); ++axis) {
      if (!pair.changes(axis)) continue;
      const DimensionSignature& dimension = module.signature().dimensions[rules[axis].dimension];
      if (dimension.min == 0) dims.emplace(dimension.name, 0);
    }
  }
}

Status CallState::set_first_value(Pair& pair, const Tensor& initial,
                                  const std::map<std::string, int64_t>& dims) const {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                           input_shape(session_->module(), pair.input, dims));
  SCOPEVM_ASSIGN_OR_RETURN(pair.buffers[0], allocate(pair.input, shape));
  SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, initial, pair.buffers[0]));
  if (!pair.has_one_size()) {
    pair.initial = pair.buffers[0];
    return {};
  }
  if (!pair.is_in_place) {
    SCOPEVM_ASSIGN_OR_RETURN(pair.buffers[1], allocate(pair.input, shape));
  }
  if (initial.is_empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(pair.initial, allocate(pair.input, shape));
  return copy_state(*session_, initial, pair.initial);
}

Status CallState::check_pair(const StatePair& given, Pair& pair) const {
  for (const Pair& other : pairs_) {
    if (other.input == pair.input)
      return {StatusCode::kInvalidArgument, "input \"" + given.input + "\" is tied twice"};
    if (other.output == pair.output)
      return {StatusCode::kInvalidArgument, "output \"" + given.output + "\" is tied twice"};
  }
  const Signature& signature = session_->module().signature();
  const TensorSignature& input = signature.inputs[pair.input];
  const TensorSignature& output = signature.outputs[pair.output];
  for (const TensorSignature* tied : {&input, &output})
    if (tied->kind != ValueKind::kTensor || tied->dtype == DType::kStr)
      return {StatusCode::kInvalidArgument, "\"" + tied->name + "\" is " + declared_text(*tied) +
                                                ", expected a tensor of numbers"};
  bool matches = input.dtype == output.dtype && input.dims.size() == output.dims.size();
  for (size_t axis = 0; matches && axis < input.dims.size(); ++axis) {
    // The text of a dim is its normal form: dims with the same text are equal in each call.
    if (input.dims[axis] == output.dims[axis]) continue;
    pair.changed_axes |= uint32_t{1} << axis;
    // An input with a named dim accepts results of any size.
    matches = session_->module().axis_rules()[pair.input][axis].dimension >= 0;
  }
  if (matches) return {};
  return {StatusCode::kInvalidArgument,
          "output \"" + output.name + "\" is " + declared_text(output) + ", expected " +
              declared_text(input) + ", as input \"" + input.name + "\""};
}

Status CallState::check_changed_dims() const {
  const LoadedModule& module = session_->module();
  const auto each_axis = [&](auto&& visit) -> Status {
    for (const Pair& pair : pairs_) {
      const std::vector<AxisRule>& rules = module.axis_rules()[pair.input];
      for (size_t axis = 0; axis < rules.size(); ++axis)
        if (rules[axis].dimension >= 0)
          SCOPEVM_RETURN_IF_ERROR(visit(pair, axis, rules[axis].dimension));
    }
    return {};
  };
  return each_axis([&](const Pair& changing, size_t at, int64_t changed) -> Status {
    if (!changing.changes(at)) return {};
    return each_axis([&](const Pair& pair, size_t axis, int64_t dimension) -> Status {
      if (dimension != changed || pair.changes(axis)) return {};
      return {StatusCode::kInvalidArgument,
              "state " + name_of(pair) + ": dim " + std::to_string(axis) + " (" +
                  module.signature().dimensions[static_cast<size_t>(dimension)].name +
                  ") has one size, but calls change it in state " + name_of(changing)};
    });
  });
}

Result<Tensor> CallState::allocate(size_t input, std::span<const int64_t> dims) const {
  const LoadedModule& module = session_->module();
  const std::optional<uint32_t> pool = pool_of(module, input);
  if (!pool) return Status(StatusCode::kInvalidModel, "the module has no heap pool for a state");
  const DType dtype = module.signature().inputs[input].dtype;
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(dtype, dims));
  SCOPEVM_ASSIGN_OR_RETURN(runtime::Storage* const storage, allocate_state(session_, *pool, bytes));
  Tensor tensor = TensorAccess::make(storage->data, storage, dtype, dims, bytes);
  TensorAccess::set_read_only(tensor);
  return tensor;
}

Result<CallState::Pair*> CallState::find(std::string_view input) {
  const std::vector<std::string>& names = session_->module().input_names();
  for (Pair& pair : pairs_)
    if (names[pair.input] == input) return &pair;
  std::vector<std::string> tied;
  for (const Pair& pair : pairs_) tied.push_back(names[pair.input]);
  return Status(StatusCode::kNotFound, "the state has no input \"" + std::string(input) + "\"" +
                                           runtime::name_suggestion(input, tied));
}

std::string CallState::name_of(const Pair& pair) const {
  const LoadedModule& module = session_->module();
  return module.input_names()[pair.input] + "=" + module.output_names()[pair.output];
}

Status CallState::attach(Request& request) {
  for (const Pair& pair : pairs_) {
    if (request.is_set(pair.input))
      return {StatusCode::kInvalidArgument,
              "input \"" + session_->module().input_names()[pair.input] +
                  "\" is set, but the call has a state with its value: unset the input"};
    if (!request.outputs[pair.output].tensor.is_empty())
      return {StatusCode::kInvalidArgument,
              "output \"" + session_->module().output_names()[pair.output] +
                  "\" has a buffer, but the call has a state that stores it: unset the buffer"};
  }
  Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  for (const Pair& pair : pairs_) {
    request.inputs[pair.input] = current(pair);
    if (!pair.has_one_size()) continue;
    const Tensor& next = pair.buffers[next_index(pair)];
    request.outputs[pair.output] = {next, true};
    request.output_storages[pair.output] = TensorAccess::storage(next);
  }
  use.keep();
  return {};
}

void CallState::detach(Request& request, bool has_succeeded) {
  for (Pair& pair : pairs_) {
    request.inputs[pair.input] = session_->module().default_inputs()[pair.input];
    if (pair.has_one_size()) {
      request.outputs[pair.output] = {};
      request.output_storages[pair.output] = nullptr;  // the tensor owns the storage
    } else if (has_succeeded) {
      Tensor& result = request.results[pair.output];
      TensorAccess::set_read_only(result);
      pair.buffers[0] = result;
    }
  }
  if (has_succeeded) {
    current_ = 1 - current_;
    steps_.fetch_add(1, std::memory_order_relaxed);
  }
  is_used_.store(false, std::memory_order_release);
}

int64_t CallState::held_bytes(uint32_t pool) const {
  int64_t bytes = 0;
  for (const Pair& pair : pairs_) {
    const runtime::Storage* const value = TensorAccess::storage(pair.buffers[0]);
    for (const Tensor* tensor : {&pair.buffers[0], &pair.buffers[1], &pair.initial}) {
      const runtime::Storage* const storage = TensorAccess::storage(*tensor);
      const bool is_counted = tensor != pair.buffers.data() && storage == value;
      if (storage == nullptr || !storage->is_held || is_counted) continue;
      const std::optional<uint32_t> own = storage->pool >= 0
                                              ? static_cast<uint32_t>(storage->pool)
                                              : pool_of(session_->module(), pair.input);
      if (own == pool) bytes += storage->bytes;
    }
  }
  return bytes;
}

Result<Tensor> CallState::value(std::string_view input) {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  SCOPEVM_ASSIGN_OR_RETURN(const Pair* pair, find(input));
  SCOPEVM_ASSIGN_OR_RETURN(Tensor copy,
                           Tensor::allocate(current(*pair).dtype(), current(*pair).dims()));
  SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, current(*pair), copy));
  return copy;
}

Status CallState::set_value(std::string_view input, const Tensor& tensor) {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  SCOPEVM_ASSIGN_OR_RETURN(Pair * pair, find(input));
  SCOPEVM_RETURN_IF_ERROR(check_input(session_->module(), pair->input, tensor));
  SCOPEVM_ASSIGN_OR_RETURN(Tensor value, tensor_for(*pair, tensor.dtype(), tensor.dims()));
  SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, tensor, value));
  pair->buffers[current_index(*pair)] = std::move(value);
  return {};
}

Result<Tensor> CallState::tensor_for(const Pair& pair, DType dtype,
                                     std::span<const int64_t> dims) const {
  const LoadedModule& module = session_->module();
  const Tensor& value = current(pair);
  const std::vector<AxisRule>& rules = module.axis_rules()[pair.input];
  bool matches = dtype == value.dtype() && dims.size() == rules.size();
  std::string expected;
  for (size_t axis = 0; axis < rules.size(); ++axis) {
    expected += axis == 0 ? "" : ", ";
    if (!pair.changes(axis)) {
      matches = matches && dims[axis] == value.dims()[axis];
      expected += std::to_string(value.dims()[axis]);
      continue;
    }
    const auto& dimension =
        module.signature().dimensions[static_cast<size_t>(rules[axis].dimension)];
    expected += dimension.name;
    if (matches)
      SCOPEVM_RETURN_IF_ERROR(check_dimension(
          dimension, dims[axis], "state " + name_of(pair) + ": dim " + std::to_string(axis)));
  }
  if (matches && pair.has_one_size()) return value;
  if (matches) return allocate(pair.input, dims);
  return Status(StatusCode::kInvalidArgument,
                "state " + name_of(pair) + ": expected " + std::string(name(value.dtype())) + "[" +
                    expected + "], given " + runtime::type_text(dtype, dims));
}

Status CallState::reset() {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  for (Pair& pair : pairs_) {
    if (pair.has_one_size()) {
      SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, pair.initial, current(pair)));
    } else {
      pair.buffers[0] = pair.initial;
    }
  }
  steps_ = 0;
  return {};
}

Result<std::shared_ptr<CallState>> CallState::fork() {
  const Use use(*this);
  SCOPEVM_RETURN_IF_ERROR(use.status());
  std::shared_ptr<CallState> forked(new CallState(session_));
  for (const Pair& pair : pairs_) {
    // Initial values are constant, so that the states share them.
    Pair copy{pair.input, pair.output, pair.changed_axes, pair.is_in_place, {}, pair.initial};
    if (!pair.has_one_size()) {
      // Neither state writes the value.
      copy.buffers[0] = current(pair);
      forked->pairs_.push_back(std::move(copy));
      continue;
    }
    SCOPEVM_ASSIGN_OR_RETURN(copy.buffers[0], allocate(pair.input, current(pair).dims()));
    if (!pair.is_in_place) {
      SCOPEVM_ASSIGN_OR_RETURN(copy.buffers[1], allocate(pair.input, current(pair).dims()));
    }
    SCOPEVM_RETURN_IF_ERROR(copy_state(*session_, current(pair), copy.buffers[0]));
    forked->pairs_.push_back(std::move(copy));
  }
  forked->steps_ = steps();
  return forked;
}

}  // namespace scopevm::vm
