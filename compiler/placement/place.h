// The placement stage: gives every value of a graph its place, and inserts sv.device_copy where a
// value is read on a device that cannot reach it.
//
//   constraints.cpp       the requirements of the graph -> a Problem (assignment.h), based on
//   flow_reader.cpp       tasks, flows and demands; and rules.cpp, the rules of the caller
//   assignment.cpp        a Problem -> a device for each task (knows no graph)
//   pool_requirement.cpp  the pool that a task requires for a value
//   apply.cpp             devices -> places in types, copies, one constant for each device
//   copies.cpp            the copies of a placed graph, and why each is made
//   call_tree.cpp         how often calls of the model make a copy inside a function
//   functions.cpp         a function for each place that it is called at
//   verify.cpp            whether each op reaches its operands and results
//
// docs/placement.md has the rules.
#pragma once

#include <string>
#include <vector>

#include "compiler/graph/rewrite/together.h"
#include "compiler/machine/machine.h"
#include "compiler/placement/pool_requirement.h"
#include "compiler/shapes/dim_expr.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::placement {

// From --place: what matches a pattern of `*`, `?` and [...] is placed. Of several rules of one
// kind the last that matches holds, and one for names before one for types.
struct Rule {
  enum class Kind {
    kName,    // of an op: that of the model's node
    kType,    // of an op: "matmul"
    kInput,   // the name of an input of the model
    kOutput,  // likewise
  };
  Kind kind = Kind::kName;
  std::string pattern;
  std::string place;
  std::string text;  // as the user wrote it
};

// Reads "PATTERN=PLACE" with `type:`, `input:` or `output:` before the pattern, or nothing for
// names. Errors: kInvalidArgument.
Result<Rule> parse_rule(const std::string& text);

// One copy that the placed graph makes in a call of the model.
struct Copy {
  std::string value;  // the model's name of what is copied
  DimExpr bytes;
  double times = 1;  // a call, at representative dims
  std::string from;  // places
  std::string to;
  std::string made_because;  // what puts the value where it is made, with a location
  std::string read_because;  // what puts its reader elsewhere
  std::string function;      // the model's name of the one that makes it; empty for main
  // "recursion" or "data" (closures) where that decides how often it is made: `times` says nothing.
  std::string times_depend_on;
  bool is_local = false;  // `bytes` are over the function's own dims: calls do not decide them
};

struct Report {
  // One for each sv.device_copy and each of its function's calls at other dims; with several
  // devices, for each call.
  std::vector<Copy> copies;
  bool is_proved = true;           // no placement costs less
  std::vector<std::string> notes;  // ops that a rule does not move, and why
  std::vector<bool> matched;       // by rule
};

// Writes a place into every tensor type of `module`, and inserts the copies that places call for:
// between ops, and of inputs and results of public functions, which callers have on the host.
// Running it on what it made changes nothing. Errors: kInvalidModel, with the locations of both
// demands where two disagree, or of the one that the machine cannot meet.
Result<Report> place(mlir::ModuleOp module, const Machine& machine,
                     const std::vector<Rule>& rules = {});

// What a scope means that a kernel asks for is known only once the kernel has a device: so place()
// heeds these in types that have places, and runs once more where there are any.
using graph::kOperandScopes;
using graph::kResultScopes;
bool has_kernel_scopes(mlir::ModuleOp module);

// Types say it all: fails where an op's values lie out of reach of its device, or have no place.
Status verify_places(mlir::ModuleOp module, const Machine& machine);

using graph::kDeviceAttribute;
using graph::kPlaceAttribute;

// The device that runs a placed `op`: that of its results, else of its operands.
DeviceIndex device_of(mlir::Operation* op, const Machine& machine);

// A required place: "gpu", "gpu.global.fast" or ".global.fast".
struct Place {
  std::optional<DeviceIndex> device;  // none: any that has the scope
  PoolRequirement pool;
};
// Errors: kInvalidModel (no such device, no such scope; lists the known ones).
Result<Place> parse_place(std::string_view text, const Machine& machine);
// The pool of a place in a type of a placed graph: "gpu" is "gpu.global". Errors: as parse_place,
// and for a place without a device.
Result<PoolIndex> parse_pool(std::string_view text, const Machine& machine);

}  // namespace scopevm::compiler::placement
