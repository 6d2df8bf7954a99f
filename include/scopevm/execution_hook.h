/// @file
/// ExecutionHook: sees the state of a run between its instructions. Debuggers and recorders are
/// hooks; a run without a hook does not pay for them.
///
///     class Steps final : public ExecutionHook {
///       bool at(const ExecutionState& state) override { return state.position() < 100; }
///     };
///     Steps steps;
///     call.run({.hook = &steps});
///
/// Indices of functions, registers and slots are those of the module file (docs/assembly.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm {

/// The value of a register. Valid until the hook returns.
struct RegisterValue {
  /// The address of the first byte, which the host can access only for pools in host memory: see
  /// ExecutionState::read(). Null for an empty register.
  const void* data = nullptr;
  /// Size of the storage, or of the storage that a tensor views. A tensor can have fewer bytes.
  int64_t bytes = 0;
  DType dtype = DType::kU8;       ///< u8 for a storage
  std::span<const int64_t> dims;  ///< of a tensor; none for a storage
  /// The module's index of the pool that contains the bytes; -1 for inputs, buffers of the caller,
  /// constants and memory of the frame.
  int32_t pool = -1;
  bool is_list = false;  ///< a list or a closure
};

/// An instruction of the module.
struct InstructionPlace {
  uint32_t function = 0;  ///< index of the function
  uint32_t word = 0;      ///< the pc: index of the instruction's first word in the code
};

/// The state of a run between two instructions. Valid until the hook returns.
class ExecutionState {
 public:
  virtual ~ExecutionState() = default;
  /// The number of instructions that the run has executed. It identifies the state: equal inputs
  /// and options give an equal state at an equal position.
  virtual int64_t position() const = 0;
  /// The instruction that is executed next.
  virtual InstructionPlace next() const = 0;
  /// The number of active functions, at least 1.
  virtual size_t depth() const = 0;
  /// The place at which the caller of the active function `level` continues; level 1 is the
  /// function that main has called. REQUIRES: 1 <= level < depth().
  virtual InstructionPlace return_place(size_t level) const = 0;
  /// A register of the innermost function. REQUIRES: `index` is below its number of registers.
  virtual RegisterValue register_value(uint32_t index) const = 0;
  /// A slot of the innermost function. REQUIRES: `index` is below its number of slots.
  virtual int64_t slot(uint32_t index) const = 0;
  /// Copies bytes [offset, offset + to.size()) of a value to host memory, also from the memory of a
  /// device. Errors: kInvalidArgument (the value has fewer bytes), kDevice.
  virtual Status read(const RegisterValue& value, int64_t offset,
                      std::span<std::byte> to) const = 0;
  /// The string that an element of a string tensor denotes; no value for an invalid element.
  virtual std::optional<std::string_view> string(int32_t element) const = 0;
};

/// Observes a run, on the thread that runs the call.
class ExecutionHook {
 public:
  virtual ~ExecutionHook() = default;
  /// Called before each instruction, and therefore also after each instruction but the last one:
  /// launches and copies of devices have then ended. False ends the run with kCancelled. Memory of
  /// frames is zeroed in a run with a hook, so that equal runs have equal states.
  virtual bool at(const ExecutionState& state) = 0;
};

}  // namespace scopevm
