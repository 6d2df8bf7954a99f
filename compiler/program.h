// Program: the lowered form that the kernels stage hands to shapes, memory, codegen and bytecode.
//
// A function is a list of steps over values in single assignment. Plain structs: no MLIR type
// appears here, so the stages behind the kernels build and test fast. Kernel bodies stay in the
// MLIR module that KernelBodies (compiler/kernels/) owns; a step names them by index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/shapes/dim_expr.h"
#include "scopevm/dtype.h"

namespace scopevm {

using ValueId = int32_t;

struct Place {
  int device = 0;  // index into Program::devices
  int pool = 0;    // index into Program::pools
  friend bool operator==(const Place&, const Place&) = default;
};

// How the bytes of a value come to be.
enum class ValueOrigin : uint8_t {
  kInput,     // the caller's tensor; never written
  kConstant,  // Program::constants[constant]; never written
  kStep,      // written by a launch or a copy: planned, or a result's own storage
  kView,      // the bytes of `view_of` at byte offset 0 under another shape (reshape)
};

struct Value {
  std::string name;  // the model's own name, for messages and debug info
  DType dtype = DType::kF32;
  std::vector<DimExpr> shape;
  Place place;
  ValueOrigin origin = ValueOrigin::kStep;
  int constant = -1;
  ValueId view_of = -1;

  DimExpr bytes() const { return element_count(shape) * DimExpr(byte_size(dtype)); }
};

// Scratch of one launch. Lives only while its launch runs; alignment 64.
struct Temporary {
  DimExpr bytes;            // of one instance
  bool per_worker = false;  // one instance per worker: the kernel gets instance w at
                            // base + w * round_up(bytes, 64)
  int pool = 0;
};

enum class StepKind : uint8_t { kLaunch, kCopy };

struct Step {
  StepKind kind = StepKind::kLaunch;
  std::string name;  // "conv_3+relu": which ops of the model this is, for traces and messages
  int kernel = -1;   // Program::kernels; kLaunch only
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
  std::vector<Check> checks;
  std::vector<Dimension> dimensions;  // every symbol of the inputs, in order of appearance
};

struct Kernel {
  std::string symbol;  // exported by every image
  int buffer_count = 0;
  int param_count = 0;
};

struct Constant {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::string name;
  // The bytes, row-major; shared with the importer's storage where possible.
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  int64_t bytes = 0;
};

enum class PoolKind : uint8_t { kHeap, kArena, kStack, kConstant };

struct Pool {
  std::string scope;  // "global.workspace"
  PoolKind kind = PoolKind::kArena;
  int device = 0;
  int64_t limit = -1;  // bytes; -1 unlimited
};

struct DeviceDecl {
  std::string name = "cpu";
  std::string kind = "cpu";
};

// The thread count of the session, as a symbol that any DimExpr of a Program may use.
inline constexpr char kThreadsSymbol[] = "$threads";

struct Program {
  std::vector<DeviceDecl> devices;
  std::vector<Pool> pools;
  std::vector<Kernel> kernels;
  std::vector<Constant> constants;
  std::vector<Function> functions;
};

// Pools of the default machine, in this order.
inline constexpr int kPoolGlobal = 0;     // "global": heap; results
inline constexpr int kPoolWorkspace = 1;  // "global.workspace": arena; intermediates
inline constexpr int kPoolConstant = 2;   // "global.constant": mapped weights

}  // namespace scopevm
