// Program: the lowered form that the kernels stage hands to shapes, memory, codegen and bytecode.
//
// A function is a list of steps over values. A value is written by one step, except the results of
// an if (one step in each branch) and the values that a loop carries (once before the loop and once
// in each iteration). These are plain structs without MLIR types, so the stages after the kernels
// build and test fast. Kernel bodies stay in the MLIR module that KernelBodies (compiler/kernels/)
// owns; a launch names them by index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/shapes/dim_expr.h"
#include "compiler/support/index.h"
#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"

namespace scopevm::compiler {

struct Place {
  DeviceIndex device;
  PoolIndex pool;
  friend bool operator==(const Place&, const Place&) = default;
};

// Where the bytes of a value come from.
enum class ValueOrigin : uint8_t {
  kInput,     // the caller's tensor; never written
  kConstant,  // Program::constants[constant]; never written
  kStep,      // written by a launch or a copy: planned, or a result's own storage
  kView,      // the bytes of `view_of` at byte offset 0 under another shape (reshape)
  kPart,      // bytes of `view_of` from byte `offset` on; a step may write them there
};

// Where a value that a step writes is stored.
enum class ValueStorage : uint8_t {
  kPlanned,  // at an offset of the plan, or in a result's own storage
  kOwn,  // in a storage of its own, from its first write to its last use: a register may keep it
         // beyond an iteration or a branch
  kGrowing,  // in a storage of its own that grows with the parts that are written to it
};

struct Value {
  // A dim of a list's elements in which they differ. Dims of tensors are never negative.
  static constexpr int64_t kAnyDim = -1;

  std::string name;  // the model's own name, for messages and debug info
  DType dtype = DType::kF32;
  std::vector<DimExpr> shape;
  Place place;
  bool is_scope_required = false;  // the graph requires this pool; else any that its readers reach
  ValueOrigin origin = ValueOrigin::kStep;
  std::optional<ConstantIndex> constant;  // of kConstant
  std::optional<ValueId> view_of;         // of kView and kPart
  DimExpr offset = 0;                     // kPart: bytes
  ValueStorage storage = ValueStorage::kPlanned;
  // The other of two values whose registers a step swaps: both are live as long as either.
  std::optional<ValueId> swap_partner;
  SegmentIndex segment;  // of the block that defines it: its shape is checked there
  // A list or closure has no bytes of its own, and a storage like kOwn. dtype and shape are those
  // of a list's elements; they mean nothing if the elements have `any_rank`.
  ValueKind kind = ValueKind::kTensor;
  bool any_rank = false;

  bool is_list() const { return kind != ValueKind::kTensor; }
  bool is_view() const { return view_of.has_value(); }
  DimExpr bytes() const { return element_count(shape) * DimExpr(byte_size(dtype)); }
};

// Scratch memory of one launch. Live only while its launch runs; alignment 64.
struct Temporary {
  DimExpr bytes;            // of one instance
  bool per_worker = false;  // one instance per worker: the kernel gets instance w at
                            // base + w * round_up(bytes, 64); one if the launch is never split
  PoolIndex pool;
};

// A runtime-defined symbol: a dim that the inputs' dims do not give, and how a call gets its value.
struct RuntimeSymbol {
  enum class Source : uint8_t {
    kElement,  // element `index` of the step's operand
    kDim,      // dim `index` of the step's operand
    kCount,    // the loop's count of finished iterations
    kSize,     // the number of elements of the step's operand, a list
  };
  // Symbols are at least 0. A value of any sign is the difference of two symbols.
  enum class Part : uint8_t {
    kWhole,     // the value: the call fails if it is below 0
    kPositive,  // max(value, 0)
    kNegative,  // max(-value, 0)
  };
  std::string symbol;
  Source source = Source::kElement;
  int operand = 0;  // of the step; a loop's: of its operands
  int index = 0;
  Part part = Part::kWhole;
  std::string what;  // for messages: `"sizes" element 2`
};

// A part of a function whose sizes become known at the same time. Segment 0 starts with the call.
struct Segment {
  std::vector<RuntimeSymbol> symbols;  // that become known at its start
};

// The kinds of steps. Control flow is flat: a block is the steps between its marks, and a mark
// names the position of the step that opens its block. Each kind says what Step::operands and
// Step::results are to it.
namespace step {

// Runs a kernel over `grid` work items: its buffers are the operands, the results and temporaries.
struct Launch {
  static constexpr std::string_view kName = "launch";
  // Result r may take the bytes of operand o when o dies at this step: same byte count, and the
  // kernel reads each element of o only in the work item that writes it, before it writes.
  struct InPlace {
    int result = 0;
    int operand = 0;
  };
  KernelIndex kernel;
  std::vector<Temporary> temporaries;
  std::vector<DimExpr> params;  // after grid and grain
  DimExpr grid = 1;             // work items
  DimExpr grain = 1;            // fewest items worth a task of their own; at least 1
  std::vector<InPlace> in_place;
};

// device_copy of operand 0 to result 0.
struct Copy {
  static constexpr std::string_view kName = "copy";
};

// Begins a segment: elements or dims of operands become symbols.
struct Read {
  static constexpr std::string_view kName = "read";
};

// Operand 0, a bool, chooses the branch. The results are written by both branches.
struct If {
  static constexpr std::string_view kName = "if";
};
struct Else {
  static constexpr std::string_view kName = "else";
  int64_t begin = 0;  // its If
};
struct EndIf {
  static constexpr std::string_view kName = "end_if";
  int64_t begin = 0;  // its If
};

// Each iteration is a segment. The results are what iterations write to.
struct Loop {
  static constexpr std::string_view kName = "loop";
  DimExpr trip_count = 0;  // most iterations
};
struct EndLoop {
  static constexpr std::string_view kName = "end_loop";
  int64_t begin = 0;           // its Loop
  bool has_condition = false;  // operand 0, a bool: continue?
};

// The call fails with `message` unless operand 0, a bool, is true.
struct Assert {
  static constexpr std::string_view kName = "assert";
  std::string message;
};

// Result 0 becomes another name of operand 0.
struct Move {
  static constexpr std::string_view kName = "move";
};
// Operands 0 and 1 exchange names.
struct Swap {
  static constexpr std::string_view kName = "swap";
};

// The results are storages that the callee allocates.
struct Call {
  static constexpr std::string_view kName = "call";
  FunctionIndex callee;
};
// Result 0: the callee with its first parameters bound to the operands.
struct MakeClosure {
  static constexpr std::string_view kName = "make_closure";
  FunctionIndex callee;
};
// A call of operand 0 with the other operands.
struct CallClosure {
  static constexpr std::string_view kName = "call_closure";
};

// Result 0: a list of the operands.
struct MakeList {
  static constexpr std::string_view kName = "make_list";
};
// An index of a list below 0 counts from the end.
// Result 0: element `index` of operand 0.
struct ListGet {
  static constexpr std::string_view kName = "list_get";
  DimExpr index;
};
// Result 0: operand 0 with operand 1 before `index`, or at the end if there is none.
struct ListInsert {
  static constexpr std::string_view kName = "list_insert";
  std::optional<DimExpr> index;
};
// Result 0: operand 0 without element `index`.
struct ListErase {
  static constexpr std::string_view kName = "list_erase";
  DimExpr index;
};

// Result 0 from operand 0, by work on strings that the VM does itself.
struct StringWork {
  static constexpr std::string_view kName = "string";
  enum class Kind : uint8_t { kParse, kFormat, kLower, kUpper };  // kParse: strings to numbers
  Kind kind = Kind::kParse;
};

}  // namespace step

struct Step {
  std::string name;  // "conv_3+relu": which ops of the model this is, for traces and messages
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  // The segment that this step begins: always of Read and Loop, never of steps that are no mark.
  std::optional<SegmentIndex> segment;
  std::variant<step::Launch, step::Copy, step::Read, step::If, step::Else, step::EndIf, step::Loop,
               step::EndLoop, step::Assert, step::Move, step::Swap, step::Call, step::MakeClosure,
               step::CallClosure, step::MakeList, step::ListGet, step::ListInsert, step::ListErase,
               step::StringWork>
      work;

  template <typename... Kinds>
  bool is() const {
    return (std::holds_alternative<Kinds>(work) || ...);
  }
  // Null if the step is of another kind.
  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&work);
  }
  template <typename Kind>
  Kind* as() {
    return std::get_if<Kind>(&work);
  }

  // Of a launch; else none.
  std::span<const Temporary> temporaries() const {
    const auto* launch = as<step::Launch>();
    return launch ? std::span(launch->temporaries) : std::span<const Temporary>();
  }
  std::span<Temporary> temporaries() {
    auto* launch = as<step::Launch>();
    return launch ? std::span(launch->temporaries) : std::span<Temporary>();
  }
  // The function that the step names, if any.
  std::optional<FunctionIndex> callee() const {
    if (const auto* call = as<step::Call>()) return call->callee;
    if (const auto* closure = as<step::MakeClosure>()) return closure->callee;
    return std::nullopt;
  }
  // The position of the step that opened the block which this one closes, if it closes one.
  std::optional<int64_t> begin() const;
  // REQUIRES: begin().
  void set_begin(int64_t position);
  // All expressions that are evaluated when the step runs, but for the dims of its values.
  std::vector<DimExpr> expressions() const;
  // "launch", "copy", ...
  std::string_view kind_name() const;
};

// A condition on the dims of a function's inputs, checked before anything runs. In `message`, {0}
// and {1} stand for the values of lhs and rhs, {2} and on for those of `more`.
struct Check {
  enum class Kind : uint8_t { kEqual, kBroadcastable, kAtLeast, kMultipleOf } kind = Kind::kEqual;
  DimExpr lhs;
  DimExpr rhs;
  std::string message;
  std::vector<DimExpr> more;
  SegmentIndex segment;  // of the block that requires it: not checked before
};

struct Dimension {
  std::string name;
  int64_t min = 1;  // 0 only if the user allows it: --dim n>=0
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
  int64_t representative = 1;  // planning happens at this value
};

struct Function {
  std::string name = "main";
  std::vector<ValueId> inputs;   // an input's dims are symbols or constants
  std::vector<ValueId> outputs;  // may name inputs, constants and views, and a value twice
  std::vector<std::string> output_names;
  IndexedVector<ValueId, Value> values;
  std::vector<Step> steps;  // in execution order
  IndexedVector<SegmentIndex, Segment> segments = IndexedVector<SegmentIndex, Segment>(1);
  std::vector<Check> checks;
  std::vector<Dimension> dimensions;  // every symbol of the inputs, in order of appearance
  // Stack pools that its frame has bytes of: a buffer there takes the most that it ever could.
  std::vector<PoolIndex> stacks;
};

struct Kernel {
  std::string symbol;  // exported by every image of its device
  int buffer_count = 0;
  int param_count = 0;
  DeviceIndex device;
};

struct Constant {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  PoolIndex pool;
  std::string name;
  // The bytes, row-major; shared with the importer's storage where possible.
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  int64_t bytes = 0;
};

// The thread count of the session, as a symbol that any DimExpr of a Program may use.
inline constexpr char kThreadsSymbol[] = "$threads";

struct Program {
  Machine machine;
  IndexedVector<KernelIndex, Kernel> kernels;
  IndexedVector<ConstantIndex, Constant> constants;
  // The elements of string constants are indices into these. All differ; the first is empty.
  std::vector<std::string> strings;
  IndexedVector<FunctionIndex, Function> functions;  // main first
};

}  // namespace scopevm::compiler
