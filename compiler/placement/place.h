// The placement stage: assigns a place to every value of a graph. Inserts an sv.device_copy where
// readers do not reach the value's pool or require another one.
//
//   problem.h             tasks and flows; independent of MLIR
//   graph_problem.h       a Problem with the ops, values and constraints that it was read from
//   functions.cpp         clones functions, so that each call is placed separately
//   read/                 graph and rules of --place -> GraphProblem
//   solve/                Problem -> a device for each task; independent of MLIR
//   write/                devices -> places in types, copies, one constant for each device
//   why/                  the copies of a placed graph with the reason and the count of each
//   pool_requirement.cpp  the pool that a task requires for a value
//   verify.cpp            checks that each op reaches its operands and results
//   verify_local.cpp      checks that values in scope "local" are temporaries of kernels
//
// docs/placement.md documents the rules.
#pragma once

#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/machine/machine.h"
#include "compiler/placement/pool_requirement.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::placement {

// A --place rule: places ops, inputs or outputs whose name or type matches a glob of `*`, `?` and
// [...]. If several rules of one kind match, the last one applies. Rules for names take precedence
// over rules for types. The device and the scope can come from different rules.
struct Rule {
  enum class Kind {
    kName,    // the name of the model's node that an op comes from
    kType,    // the kind of an op: "matmul"
    kInput,   // the name of an input of the model
    kOutput,  // the name of an output of the model
  };
  Kind kind = Kind::kName;
  std::string pattern;
  std::string place;
  std::string text;  // as the user wrote it
};

// Parses "PATTERN=PLACE". A prefix `type:`, `input:` or `output:` selects the kind; without one the
// pattern matches names. Errors: kInvalidArgument.
Result<Rule> parse_rule(const std::string& text);

// One copy that the placed graph makes in a call of the model.
struct Copy {
  std::string value;  // the name of the copied value in the model
  DimExpr bytes;
  double times = 1;  // executions per call, at representative dims
  std::string from;  // places
  std::string to;
  std::string producer_reason;  // why the value is stored in `from`
  std::string consumer_reason;  // why the reader requires the value in `to`
  std::string function;  // the function that contains it, as named in the model; empty for main
  // "recursion" or "data" (closures) if `times` is unknown for that reason; else empty.
  std::string times_depend_on;
  bool is_local = false;  // `bytes` is over the function's own dims, because its calls do not
                          // determine them
};

struct Report {
  // One per sv.device_copy and per distinct dims at which its function is called. With several
  // devices, one per call, because each call is placed separately (up to a limit).
  std::vector<Copy> copies;
  bool is_proved = true;           // the placement is proved optimal
  std::vector<std::string> notes;  // ops, inputs and outputs that a rule cannot place, and why
  std::vector<bool> matched;       // by rule: whether it matched anything
  double seconds = 0;              // of all copies and accesses in a call, at representative dims
  // Whether a value or a copy is stored in a pool with a limit, although no constraint requires
  // this pool. If the values in the pool exceed the limit together, placement with
  // PoolChoice::kUnlimited avoids this.
  bool has_limited_choice = false;
};

// The pools that place() may choose for values that are not required in them.
enum class PoolChoice {
  kAny,
  kUnlimited,  // pools without a limit
};

// Writes a place into every tensor type of `module`, and inserts the copies that the places
// require. Inputs and results of public functions that are placed on a non-CPU device are copied
// too, because callers hold them in the host's memory. Idempotent. Errors: kInvalidArgument for an
// invalid pattern of a rule. kInvalidModel for two conflicting constraints, with both locations, or
// for a constraint that the machine cannot satisfy, with its location.
Result<Report> place(mlir::ModuleOp module, const Machine& machine,
                     const std::vector<Rule>& rules = {}, PoolChoice choice = PoolChoice::kAny);

// Attributes with the scopes that a kernel requires for its operands and results. A scope denotes a
// pool only for a known device. place() therefore honours these attributes only on ops whose types
// have places. The fusion stage calls place() a second time if the module has such attributes.
using graph::kOperandScopes;
using graph::kResultScopes;
bool has_kernel_scopes(mlir::ModuleOp module);

// Moves each copy between two ranks before the kernels and copies of other ranks than the one that
// receives it: the ranks then send to each other before they wait. The largest live bytes of a rank
// do not increase, because the copy follows all ops that allocate or release values there. Values
// without places do not move.
void send_early(mlir::ModuleOp module, const Machine& machine);

// Checks the places in types against the machine. A value must have a place that the machine has,
// and an op's device must reach its operands and results. Views, merge points, arguments and
// results must have the place of the values that they refer to. A copy must change the place, and
// no sv.on_device may be left. A pool of kind kConstant stores only constants and views of them.
// Errors: kInvalidModel.
Status verify_places(mlir::ModuleOp module, const Machine& machine);

// Checks that each value that is required in scope "local" is a temporary of a kernel: one sv.group
// computes it and contains all its readers. REQUIRES: the fusion stage has formed the groups.
// Errors: kInvalidModel, with the constraint and a reader.
Status verify_local_values(mlir::ModuleOp module);

using graph::kDeviceAttribute;
using graph::kPlaceAttribute;

// The device that runs a placed `op`: the device of its attribute, else of its results, else of its
// operands, else the host.
DeviceIndex device_of(mlir::Operation* op, const Machine& machine);

// A required place. It names a device ("gpu"), a class of devices ("kind:opencl",
// "target:x86-64-v3"), or neither, and then a scope or none: "gpu.global.fast", ".global.fast",
// "kind:opencl.global.fast", ".local". A join can name a kind and a target.
struct RequiredPlace {
  std::optional<DeviceIndex> device;  // none: any device of the class that has the scope
  PoolRequirement pool;
  std::string kind;       // empty: any kind; also if `device` is given
  std::string target;     // a device's compilation target; empty like `kind`
  bool is_local = false;  // the scope "local": a temporary of a kernel, which is in no pool

  bool names_device() const { return device || names_class(); }
  bool names_class() const { return !kind.empty() || !target.empty(); }
  bool names_scope() const { return !pool.is_any() || is_local; }
  // Whether the device has the required index, kind and target.
  bool permits_device(const Machine& machine, DeviceIndex index) const;
  // The same, and whether it has the required scope.
  bool permits(const Machine& machine, DeviceIndex index) const;
  // "of kind opencl", "with target x86-64-v3". REQUIRES: names_class().
  std::string class_text() const;
};
// Errors: kInvalidModel (unknown device, kind, target or scope; the message lists the known ones).
Result<RequiredPlace> parse_place(std::string_view text, const Machine& machine);
// The place that satisfies both; none if they conflict.
std::optional<RequiredPlace> joined(const Machine& machine, const RequiredPlace& a,
                                    const RequiredPlace& b);
// The pool of a place in a type of a placed graph: "gpu" is "gpu.global". Errors: those of
// parse_place, and kInvalidModel for a place without a device.
Result<PoolIndex> parse_pool(std::string_view text, const Machine& machine);
// The same; none if the machine has no such pool.
std::optional<PoolIndex> pool_of(graph::PlaceAttr place, const Machine& machine);
// The inverse: without a scope for the global pool of a device.
graph::PlaceAttr place_of(PoolIndex pool, const Machine& machine, mlir::MLIRContext* context);
// The pool as a place: "gpu.global.fast", or "gpu" for the global pool of gpu.
std::string text_of(PoolIndex pool, const Machine& machine);
// The scopes of all pools that the device reaches and that can store values, as a list for
// messages.
std::string known_scopes(DeviceIndex device, const Machine& machine);

}  // namespace scopevm::compiler::placement
