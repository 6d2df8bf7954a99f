// Program: the lowered form that the kernels stage hands to shapes, memory, codegen and bytecode.
//
// A function is a list of steps over values. A value is written by one step, but for results of an
// if (one in each branch) and what a loop carries (once before it, once in each iteration). Plain
// structs: no MLIR type appears here, so the stages behind the kernels build and test fast. Kernel
// bodies stay in the MLIR module that KernelBodies (compiler/kernels/) owns; a step names them by
// index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/shapes/dim_expr.h"
#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"

namespace scopevm::compiler {

using ValueId = int32_t;

struct Place {
  int device = 0;  // index into Machine::devices
  int pool = 0;    // index into Machine::pools
  friend bool operator==(const Place&, const Place&) = default;
};

// How the bytes of a value come to be.
enum class ValueOrigin : uint8_t {
  kInput,     // the caller's tensor; never written
  kConstant,  // Program::constants[constant]; never written
  kStep,      // written by a launch or a copy: planned, or a result's own storage
  kView,      // the bytes of `view_of` at byte offset 0 under another shape (reshape)
  kPart,      // bytes of `view_of` from byte `offset` on; a step may write them there
};

// Where a value's bytes come from when a step writes them.
enum class ValueStorage : uint8_t {
  kPlanned,  // a place in the plan, or a result's own storage
  kOwn,      // a storage of its own, from its first write to its last use: a register may keep it
             // beyond an iteration or a branch
  kGrowing,  // a storage of its own that grows with the parts that are written to it
};

struct Value {
  std::string name;  // the model's own name, for messages and debug info
  DType dtype = DType::kF32;
  std::vector<DimExpr> shape;
  Place place;
  bool is_scope_asked = false;  // the graph asks for this pool; else any that its readers reach
  ValueOrigin origin = ValueOrigin::kStep;
  int constant = -1;
  ValueId view_of = -1;
  DimExpr offset = 0;  // kPart: bytes
  ValueStorage storage = ValueStorage::kPlanned;
  ValueId twin = -1;  // the other of two values whose registers a step swaps: both live as long
  int scope = 0;      // the stage of the block that makes it: its shape is checked there
  // A list or closure has no bytes of its own, and a storage like kOwn. dtype and shape are those
  // of a list's elements: -1 for a dim in which they differ, and alone -2 for any dims.
  ValueKind kind = ValueKind::kTensor;

  bool is_list() const { return kind != ValueKind::kTensor; }
  DimExpr bytes() const { return element_count(shape) * DimExpr(byte_size(dtype)); }
};

// Scratch of one launch. Lives only while its launch runs; alignment 64.
struct Temporary {
  DimExpr bytes;            // of one instance
  bool per_worker = false;  // one instance per worker: the kernel gets instance w at
                            // base + w * round_up(bytes, 64); one, where the launch is never split
  int pool = 0;
};

// Control flow is flat: a block is the steps between its marks.
enum class StepKind : uint8_t {
  kLaunch,
  kCopy,  // device_copy of operands[0] to results[0]
  kRead,  // begins a stage: elements or dims of operands become symbols
  kIf,    // operands[0], a bool, chooses; results are what both branches write
  kElse,
  kEndIf,        // may begin a stage
  kLoop,         // each iteration is a stage; results are what iterations write to
  kEndLoop,      // operands[0], if it has_condition, is a bool: go on? May begin a stage
  kAssert,       // operands[0], a bool, must hold; else the call fails with the step's message
  kMove,         // results[0] becomes another name of operands[0]
  kSwap,         // operands[0] and operands[1] change names
  kCall,         // results are storages that the callee makes
  kMakeClosure,  // results[0]: the callee with its first parameters bound to operands
  kCallClosure,  // like kCall, of operands[0], with the other operands
  // Lists. An index may be below 0: then it counts from the end.
  kMakeList,    // results[0]: a list of the operands
  kListGet,     // results[0]: element `index` of operands[0]
  kListInsert,  // results[0]: operands[0] with operands[1] before `index`, or at the end
  kListErase,   // results[0]: operands[0] without element `index`
  kText,        // results[0] from operands[0], by work on texts that the VM does itself
};

// What a kText step does.
enum class TextWork : uint8_t {
  kParse,   // texts to numbers
  kFormat,  // numbers to texts
  kLower,   // texts in lower case
  kUpper,
};

// How a symbol that the inputs' dims do not give becomes known during a call.
struct Birth {
  enum class Source : uint8_t {
    kElement,  // element `index` of the step's operand
    kDim,      // dim `index` of the step's operand
    kCount,    // the loop's count of finished iterations
    kSize,     // how many elements the step's operand, a list, has
  };
  // Symbols are at least 0. A value of any sign is the difference of two of them.
  enum class Part : uint8_t {
    kWhole,     // the value: below 0, the call fails
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

// A part of the function whose sizes become known at the same time. Stage 0 starts with the call.
struct Stage {
  std::vector<Birth> births;
};

struct Step {
  StepKind kind = StepKind::kLaunch;
  int stage = -1;                // Function::stages: the stage that this step begins, or -1
  int match = -1;                // kElse, kEndIf: its kIf; kEndLoop: its kLoop
  DimExpr trip_count = 0;        // kLoop: most iterations
  bool has_condition = false;    // kEndLoop
  std::string message;           // kAssert
  std::optional<DimExpr> index;  // kListGet, kListInsert, kListErase
  std::string name;  // "conv_3+relu": which ops of the model this is, for traces and messages
  int kernel = -1;   // Program::kernels; kLaunch only
  int callee = -1;   // Program::functions; kCall, kMakeClosure
  TextWork text = TextWork::kParse;  // kText only
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Temporary> temporaries;
  std::vector<DimExpr> params;  // after grid and grain
  DimExpr grid = 1;             // work items
  DimExpr grain = 1;            // fewest items worth a task of their own; at least 1
  // Result r may take the bytes of operand o when o dies here: same byte count, and the kernel
  // reads each element of o only in the work item that writes it, before it writes.
  struct InPlace {
    int result = 0;
    int operand = 0;
  };
  std::vector<InPlace> in_place;
};

// A condition on the dims of a function's inputs, checked before anything runs. `message` is
// complete but for the values: {0} and {1} stand for what lhs and rhs evaluate to, {2} and on for
// `more`.
struct Check {
  enum class Kind : uint8_t { kEqual, kBroadcastable, kAtLeast, kMultipleOf } kind = Kind::kEqual;
  DimExpr lhs;
  DimExpr rhs;
  std::string message;
  std::vector<DimExpr> more;
  int scope = 0;  // the stage of the block that asks for it: not checked before
};

struct Dimension {
  std::string name;
  int64_t min = 1;  // 0 only when asked for: --dim n>=0
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
  int64_t representative = 1;  // planning happens at this value
};

struct Function {
  std::string name = "main";
  std::vector<ValueId> inputs;   // an input's dims are symbols or constants
  std::vector<ValueId> outputs;  // may name inputs, constants and views, and a value twice
  std::vector<std::string> output_names;
  std::vector<Value> values;  // ValueId indexes here
  std::vector<Step> steps;    // in execution order
  std::vector<Stage> stages = std::vector<Stage>(1);
  std::vector<Check> checks;
  std::vector<Dimension> dimensions;  // every symbol of the inputs, in order of appearance
  // Pools of which its frame has bytes: a buffer there takes the most that it ever could.
  std::vector<int> stacks;
};

struct Kernel {
  std::string symbol;  // exported by every image of its device
  int buffer_count = 0;
  int param_count = 0;
  int device = 0;
};

struct Constant {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  int pool = 0;
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
  std::vector<Kernel> kernels;
  std::vector<Constant> constants;
  // What elements of str constants are ids into. All differ; the first, if there is one, is empty.
  std::vector<std::string> texts;
  std::vector<Function> functions;  // main first
};

}  // namespace scopevm::compiler
