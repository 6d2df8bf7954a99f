// Program: the lowered form that the kernels stage passes to shapes, memory, codegen and bytecode.
//
// A function is a list of steps over values. A value is written by one step, with four exceptions.
// Each branch of an if writes the results of the if. A loop-carried value is written before the
// loop and in each iteration. A gathered output of a loop is written part by part, in each
// iteration. A launch changes a part of a value that a copy has written.
//
// These are plain structs without MLIR types, so that the later stages build and test fast. Kernel
// bodies stay in the MLIR modules of codegen::KernelModules. A launch refers to its kernel by
// index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/machine/machine.h"
#include "compiler/support/index.h"
#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler {

struct Place {
  DeviceIndex device;
  PoolIndex pool;
  friend bool operator==(const Place&, const Place&) = default;
};

// The origin of a value's bytes.
enum class ValueOrigin : uint8_t {
  kInput,     // the caller's tensor; never written
  kConstant,  // Program::constants[constant]; never written
  kStep,      // written by a step; see ValueStorage
  kView,      // aliases `view_of` with another shape (reshape)
  kPart,      // aliases `view_of` from byte `offset` on; a step may write it
};

// The storage of a value that a step writes.
enum class ValueStorage : uint8_t {
  kPlanned,  // at an offset of the plan; a result of the function has its own storage
  kOwn,      // its own storage from its first write to its last use, because a register may hold
             // it beyond an iteration or a branch
  kDynamic,  // a dynamically sized accumulator: its own storage, which grows as parts are written
};

struct Value {
  // A dim in which the elements of a list may differ. Dims of tensors are never negative.
  static constexpr int64_t kAnyDim = -1;

  std::string name;  // the name in the model, for messages and debug info
  DType dtype = DType::kF32;
  std::vector<DimExpr> shape;
  Place place;
  bool is_scope_required = false;  // the graph requires this pool; else the planner may change it
  ValueOrigin origin = ValueOrigin::kStep;
  std::optional<ConstantIndex> constant;  // for kConstant; the default of a kInput of main
  std::optional<ValueId> view_of;         // for kView and kPart
  DimExpr offset = 0;                     // for kPart: bytes
  ValueStorage storage = ValueStorage::kPlanned;
  // The value with which a Swap step exchanges storages. Both are live as long as one of them is.
  std::optional<ValueId> swap_partner;
  SegmentIndex segment;  // the segment of the block that defines it; its shape is checked there
  // A list or closure has no bytes of its own, and its storage behaves as kOwn. The dtype and shape
  // of a list are those of its elements. If `any_rank`, the elements can have any shape.
  ValueKind kind = ValueKind::kTensor;
  bool any_rank = false;

  bool is_list() const { return kind != ValueKind::kTensor; }
  bool is_view() const { return view_of.has_value(); }
  DimExpr bytes() const { return byte_size(dtype, element_count(shape)); }
};

// Scratch memory of one launch. It is live only while the launch runs. Instances are aligned to 64
// bytes.
struct Temporary {
  DimExpr bytes;  // of one instance
  // If true, worker w has its own instance at base + w * round_up(bytes, 64). A launch that is
  // never split has a single instance.
  bool per_worker = false;
  PoolIndex pool;
};

// A runtime-defined symbol: a dim that the inputs' dims do not determine, and the source of its
// value during a call.
struct RuntimeSymbol {
  enum class Source : uint8_t {
    kElement,  // element `index` of the step's operand
    kDim,      // dim `index` of the step's operand
    kCount,    // the loop's count of finished iterations
    kSize,     // the number of elements of the step's list operand
  };
  // Symbols are never negative. A value of either sign is the difference of two symbols.
  enum class Part : uint8_t {
    kWhole,     // the value: the call fails if it is below 0
    kPositive,  // max(value, 0)
    kNegative,  // max(-value, 0)
  };
  std::string symbol;
  Source source = Source::kElement;
  int operand = 0;  // index into the step's operands
  int index = 0;
  Part part = Part::kWhole;
  std::string what;  // for messages: `"sizes" element 2`
};

// A part of a function whose sizes become known at the same time. Segment 0 begins with the call.
// Other segments begin with a block, or where runtime-defined symbols get their values.
struct Segment {
  std::vector<RuntimeSymbol> symbols;  // defined at the start of the segment
};

// The kinds of steps. Control flow is flat: a block is the list of steps between two marks (if,
// else, end_if, loop, end_loop). A closing mark stores the position of its opening mark. The
// comment of each kind describes its Step::operands and Step::results.
namespace step {

// Runs a kernel over `grid` work items. Its buffers are the operands, results and temporaries.
struct Launch {
  static constexpr std::string_view kName = "launch";
  // A result that may use the buffer of an operand. This requires that both have the same size and
  // that the step is the last use of the operand. The kernel reads each element of the operand only
  // in the work item that overwrites it, before the write.
  struct InPlace {
    int result = 0;
    int operand = 0;
  };
  KernelIndex kernel;
  std::vector<Temporary> temporaries;
  std::vector<DimExpr> params;  // kernel parameters, without grid and grain
  DimExpr grid = 1;             // work items
  DimExpr grain = 1;            // fewest work items per task; at least 1
  // Floating-point operations, for reports. 0: unknown, or none. Steps do not evaluate this
  // formula: it is not one of Step::expressions().
  DimExpr flops = 0;
  std::vector<InPlace> in_place;
};

// Copies operand 0 to result 0: between two pools, or before launches that change a part of the
// result.
struct Copy {
  static constexpr std::string_view kName = "copy";
};

// Begins a segment: defines symbols from the elements, dims or list sizes of the operands.
struct Read {
  static constexpr std::string_view kName = "read";
};

// Operand 0, a bool, selects the branch. The results are written by both branches.
struct If {
  static constexpr std::string_view kName = "if";
};
struct Else {
  static constexpr std::string_view kName = "else";
  int64_t begin = 0;  // position of the If
};
struct EndIf {
  static constexpr std::string_view kName = "end_if";
  int64_t begin = 0;  // position of the If
};

// The segment of a loop begins again in each iteration. The results are the values that iterations
// write.
struct Loop {
  static constexpr std::string_view kName = "loop";
  DimExpr trip_count = 0;  // upper bound of the number of iterations
};
struct EndLoop {
  static constexpr std::string_view kName = "end_loop";
  int64_t begin = 0;           // position of the Loop
  bool has_condition = false;  // operand 0, a bool: whether to continue
};

// The call fails with `message` unless operand 0, a bool, is true.
struct Assert {
  static constexpr std::string_view kName = "assert";
  std::string message;
};

// Result 0 shares the storage of operand 0.
struct Move {
  static constexpr std::string_view kName = "move";
};
// Exchanges the storages of operands 0 and 1.
struct Swap {
  static constexpr std::string_view kName = "swap";
};

// Calls `callee` with the operands. The callee allocates the storages of the results.
struct Call {
  static constexpr std::string_view kName = "call";
  FunctionIndex callee;
};
// Result 0: the callee with its first parameters bound to the operands.
struct MakeClosure {
  static constexpr std::string_view kName = "make_closure";
  FunctionIndex callee;
};
// Calls operand 0, a closure, with the other operands.
struct CallClosure {
  static constexpr std::string_view kName = "call_closure";
};

// Result 0: a list of the operands.
struct MakeList {
  static constexpr std::string_view kName = "make_list";
};
// Result 0: element `index` of operand 0. In all list steps a negative index counts from the end.
struct ListGet {
  static constexpr std::string_view kName = "list_get";
  DimExpr index;
};
// Result 0: operand 0 with operand 1 inserted before `index`, or appended if there is none.
struct ListInsert {
  static constexpr std::string_view kName = "list_insert";
  std::optional<DimExpr> index;
};
// Result 0: operand 0 without element `index`.
struct ListErase {
  static constexpr std::string_view kName = "list_erase";
  DimExpr index;
};

// Computes result 0 by a string operation of the VM.
struct StringWork {
  static constexpr std::string_view kName = "string";
  // kParse: strings to numbers.
  enum class Kind : uint8_t {
    kParse,
    kFormat,
    kLower,
    kUpper,
    kConcat,
    kCountPieces,
    kSplit,
    kMatch
  };
  Kind kind = Kind::kParse;
  int64_t max_splits = -1;  // of kCountPieces and kSplit
};

}  // namespace step

struct Step {
  std::string name;  // "conv_3+relu": the ops of the model that it implements, for traces
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  // The segment that this step begins. Read and Loop always begin a segment. Of the other kinds,
  // only the marks of branches and loops can begin one.
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
  // The step's data of this kind; null if the step is of another kind.
  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&work);
  }
  template <typename Kind>
  Kind* as() {
    return std::get_if<Kind>(&work);
  }

  // The temporaries of a launch; empty for other kinds.
  std::span<const Temporary> temporaries() const {
    const auto* launch = as<step::Launch>();
    return launch ? std::span(launch->temporaries) : std::span<const Temporary>();
  }
  std::span<Temporary> temporaries() {
    auto* launch = as<step::Launch>();
    return launch ? std::span(launch->temporaries) : std::span<Temporary>();
  }
  // The function of a Call or MakeClosure.
  std::optional<FunctionIndex> callee() const {
    if (const auto* call = as<step::Call>()) return call->callee;
    if (const auto* closure = as<step::MakeClosure>()) return closure->callee;
    return std::nullopt;
  }
  // For a mark that closes a block: the position of its opening mark. Empty for other steps.
  std::optional<int64_t> begin() const;
  // REQUIRES: begin() is not empty.
  void set_begin(int64_t position);
  // All expressions that are evaluated when the step runs, except the dims of its values.
  std::vector<DimExpr> expressions() const;
  // Replaces each of these expressions, and Launch::flops, by the result of calling `with` on it.
  void replace_expressions(const std::function<DimExpr(DimExpr)>& with);
  // "launch", "copy", ...
  std::string_view kind_name() const;
};

// A condition on dims. It is checked as soon as its symbols are known and its segment has begun. In
// segment 0, that is before any step runs. In `message`, {0} and {1} are the values of lhs and rhs,
// and {2}, {3}, ... are the values of `more`.
struct Check {
  // kEqual: lhs == rhs. kBroadcastable: lhs == rhs, or one of them is 1. kAtLeast: lhs >= rhs.
  // kMultipleOf: lhs is a multiple of rhs.
  enum class Kind : uint8_t { kEqual, kBroadcastable, kAtLeast, kMultipleOf } kind = Kind::kEqual;
  DimExpr lhs;
  DimExpr rhs;
  std::string message;
  std::vector<DimExpr> more;
  SegmentIndex segment;  // of the block that requires the condition
};

struct Dimension {
  std::string name;
  int64_t min = 1;  // 0 only with --dim n>=0
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
  int64_t representative = 1;  // the value at which costs and plans are compared
  // What prevents it from being a batch dim (graph/parallel/batch_dims.h). The text is empty for a
  // batch dim. Not known in functions that main calls.
  std::optional<std::string> batch_obstacle;

  // The conditions that `value` is within the bounds, for a value of this dimension.
  std::vector<Check> bounds_checks(DimExpr value) const;
};

// An input of main, and the output that is its value in the next call of a stream.
struct StateTie {
  size_t input = 0;
  size_t output = 0;
  bool is_in_place = false;  // both can have the same memory
};

struct Function {
  std::string name = format::kEntryName;  // of a variant: "main[n=1]"
  bool is_entry = true;                   // main or a variant; calls enter only these
  std::vector<ValueId> inputs;            // each symbol of their dims is itself a dim of an input
  std::vector<ValueId> outputs;           // may contain inputs, constants and views, and duplicates
  std::vector<std::string> output_names;
  std::vector<StateTie> states;
  IndexedVector<ValueId, Value> values;
  std::vector<Step> steps;  // in execution order
  IndexedVector<SegmentIndex, Segment> segments = IndexedVector<SegmentIndex, Segment>(1);
  std::vector<Check> checks;
  std::vector<Dimension> dimensions;  // every symbol of the inputs, in order of appearance
  // Stack pools with buffers in the function's frame. The size of such a buffer is its upper bound
  // over all dims.
  std::vector<PoolIndex> stacks;
};

// The value that owns the bytes of `id`: `id` itself, or the value at the end of its chain of
// views.
ValueId root_of(const Function& function, ValueId id);
// The pool in which a function stores its result `value`: the pool of the value. The device's
// global pool replaces the workspace and the constant pool.
PoolIndex result_pool(const Machine& machine, const Value& value);
// For each value: whether it is the root of an output. Such a value has no planned buffer.
IndexedVector<ValueId, bool> output_roots(const Function& function);

// A function that a library computes (scopevm/c/external.h).
struct ExternalFunction {
  struct Tensor {
    DType dtype = DType::kF32;
    size_t rank = 0;
  };
  std::string library;
  std::string description;  // the JSON object that the library receives
  std::vector<Tensor> operands;
  std::vector<Tensor> results;
};

struct Kernel {
  std::string symbol;  // exported by every kernel image of its device
  int buffer_count = 0;
  int param_count = 0;
  DeviceIndex device;
  // If set, no image contains the kernel, and its params are the dims of the operands and results.
  // Its launches have one work item and at most one temporary, the workspace.
  std::optional<ExternalFunction> external;
};

struct Constant {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  PoolIndex pool;
  std::string name;
  // The bytes, row-major. They are valid as long as `owner`, or as the MLIR context if `owner` is
  // null. Copies are avoided where possible.
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  int64_t bytes = 0;
};

// kThreadsSymbol is available in every DimExpr of a Program.
struct Program {
  Machine machine;
  IndexedVector<KernelIndex, Kernel> kernels;
  IndexedVector<ConstantIndex, Constant> constants;
  // The string table: elements of string constants are indices into it. Without duplicates; the
  // first string is empty.
  std::vector<std::string> strings;
  IndexedVector<FunctionIndex, Function> functions;  // main first
};

}  // namespace scopevm::compiler
