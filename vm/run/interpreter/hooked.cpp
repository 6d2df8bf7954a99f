// The state that an execution hook sees: see scopevm/execution_hook.h.
#include <cstring>
#include <utility>

#include "scopevm/execution_hook.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {

class Interpreter::HookedState final : public ExecutionState {
 public:
  HookedState(Interpreter& of, int64_t position) : of_(of), position_(position) {}

  int64_t position() const override { return position_; }
  InstructionPlace next() const override { return place(*of_.frame_.function, of_.at_); }
  size_t depth() const override { return of_.context_.frames.depth(); }
  InstructionPlace return_place(size_t level) const override {
    const FrameStack& frames = of_.context_.frames;
    return place(*frames.at(level - 1).function, frames.at(level).resume);
  }
  RegisterValue register_value(uint32_t index) const override {
    const Register& from = of_.frame_.registers[index];
    if (from.data == nullptr) return {};
    return {from.data,
            from.bytes,
            from.dtype,
            {of_.frame_.dims_of(index), from.rank},
            from.storage != nullptr ? from.storage->pool : -1,
            from.storage != nullptr && from.storage->is_list};
  }
  int64_t slot(uint32_t index) const override { return of_.frame_.slots[index]; }
  Status read(const RegisterValue& value, int64_t offset, std::span<std::byte> to) const override {
    const auto bytes = static_cast<int64_t>(to.size());
    if (offset < 0 || offset > value.bytes || bytes > value.bytes - offset)
      return {StatusCode::kInvalidArgument, "the value has fewer bytes than are read"};
    if (to.empty()) return {};
    const void* from = static_cast<const std::byte*>(value.data) + offset;
    runtime::DeviceStream* const stream = of_.stream_of(value);
    if (stream == nullptr) {
      std::memcpy(to.data(), from, to.size());
      return {};
    }
    SCOPEVM_RETURN_IF_ERROR(stream->copy_out(to.data(), from, bytes));
    return stream->settle();
  }
  std::optional<std::string_view> string(int32_t element) const override {
    return of_.context_.strings.find(element);
  }

 private:
  InstructionPlace place(const LoadedFunction& function, const uint32_t* word) const {
    return {static_cast<uint32_t>(function.decl - of_.contents_.functions.data()),
            static_cast<uint32_t>(word - function.decl->code.data())};
  }

  Interpreter& of_;
  const int64_t position_;
};

// The stream that reads a value in the memory of a device; null for host memory. Constants of a
// device are not in a storage of the call.
runtime::DeviceStream* Interpreter::stream_of(const RegisterValue& value) const {
  std::optional<uint32_t> pool;
  if (value.pool >= 0) pool = static_cast<uint32_t>(value.pool);
  for (uint32_t i = 0; i < contents_.constants.size() && !pool; ++i)
    if (session_.devices().constant(i) == value.data) pool = contents_.constants[i].pool;
  if (!pool || session_.devices().of_pool(*pool) == nullptr) return nullptr;
  return context_.streams[contents_.pools[*pool].device].get();
}

bool Interpreter::before_instruction() {
  if (pending_device_ != nullptr && !settle_before(isa::opcode(*at_))) return false;
  return options_.hook == nullptr || call_hook();
}

bool Interpreter::call_hook() {
  if (!settle()) return false;
  if (options_.hook->at(HookedState(*this, position_++))) return true;
  status_ = Status(StatusCode::kCancelled, "the execution hook has stopped the call");
  return false;
}

}  // namespace scopevm::vm
