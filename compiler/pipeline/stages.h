// The compiler as functions of values. Each stage consumes the value of the stage before it:
//
//   import.cpp    model file -> Imported        frontend
//   simplify.cpp  Imported -> Simplified        graph
//   place.cpp     Simplified -> Placed          placement, fusion
//   lower.cpp     Placed -> Lowered             kernels; the pools of buffers (memory)
//   plan.cpp      Lowered -> Planned            shapes, memory
//   emit.cpp      Planned -> ModuleContents     bytecode, codegen
//   compile.cpp   all of them
//
// A stage processes main and all its variants before the next stage begins, except that `shapes`
// and `memory` alternate for each function. Main and its variants share kernels and constants.
// compiler/explain makes reports of the values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bytecode/emit.h"
#include "compiler/codegen/kernel_modules.h"
#include "compiler/machine/machine.h"
#include "compiler/memory/spill/spill.h"
#include "compiler/options/split.h"
#include "compiler/passes/passes.h"
#include "compiler/pipeline/context.h"
#include "compiler/pipeline/variants.h"
#include "compiler/placement/place.h"
#include "compiler/program/program.h"
#include "compiler/support/leaked_on_exception.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/compiler.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::pipeline {

// The graph of main or of a variant.
struct Graph {
  LeakablePtr<mlir::OwningOpRef<mlir::ModuleOp>> owner;
  std::string name;                      // of its entry: "main", "main[n=1]"
  std::map<std::string, DimBound> dims;  // bounds of the named dims

  mlir::ModuleOp module() const { return owner->get(); }
};

struct Imported {
  std::shared_ptr<mlir::MLIRContext> mlir;  // of the graphs and kernels
  Machine machine = Machine::host();
  std::vector<placement::Rule> rules;
  options::Split split;
  std::vector<Variant> variants;
  std::vector<Graph> graphs;            // of main, then of `variants`
  std::vector<std::string> data_files;  // frontend::ModelFile::data_files()
  std::vector<std::string> warnings;
};

struct Simplified : Imported {
  std::vector<ExternalExplanation::Part> external_parts;  // of main
};

// The lowered graphs. The kernels of `program` are in `kernels`.
struct Lowering {
  LeakablePtr<codegen::KernelModules> kernels;
  Program program;
  std::vector<memory::SpillReport> spills;
};

struct Placed : Simplified {
  std::vector<std::shared_ptr<PlacementRun>> runs;  // by index of `graphs`
  // Set if a pool has a limit: the choice of places then depends on the lowered graphs.
  std::optional<Lowering> lowering;
};

struct Lowered : Placed, Lowering {};

// The machine of `program` lacks unused devices.
struct Planned : Lowered {
  bytecode::PlannedFunctions functions;  // of `program`
};

// Errors: kInvalidArgument (an invalid option), kInvalidModel (an invalid machine description), and
// those of frontend::ModelFile::import().
Result<Imported> import_model(Context& context);
// The value for a graph of the MLIR context with the function `main`, without variants.
Result<Imported> import_graph(mlir::OwningOpRef<mlir::ModuleOp> graph, Context& context);

// Libraries choose their parts at the end of the stage, when the graph is simplified and nothing is
// placed yet.
Result<Simplified> simplify(Imported imported, Context& context);

// Places and fuses the graphs. If a pool has a limit, also lowers them: placement compares only
// single values with a limit. If values are spilled or do not fit, or if kernels require scopes,
// the graphs are placed again without some of the pools that can be chosen. The cheapest placement
// is kept.
Result<Placed> place(Simplified simplified, Context& context);
// Without regard to spills.
Result<Placed> place(Simplified simplified, placement::PoolChoice choice, Context& context);
// The estimated time of all copies and accesses in a call, and the additional time of spills.
double seconds_of(const Placed& placed);

// Generates kernels and chooses a pool for each buffer, unless place() has done so.
Result<Lowered> lower(Placed placed, Context& context);
// Generates kernels. Buffers have the pools that the graphs require.
Result<Lowering> lower_graphs(const Placed& placed, Context& context);
// Inlines calls, chooses a pool for each buffer without a required scope, and spills values from
// pools over their limits.
Status choose_pools(Lowering& lowering, Context& context);

Result<Planned> plan(Lowered lowered, Context& context);

// Adds the slots that the instructions use to the shape programs of `planned`. Uses up its kernels.
Result<format::ModuleContents> emit(Planned& planned, Context& context);

// All stages up to the places.
Result<Placed> place_model(Context& context);
// All stages up to the memory plan.
Result<Planned> plan_model(Context& context);

struct Compiled {
  CompileOutput output;
  std::vector<ExternalExplanation::Part> external_parts;  // of main
  std::vector<Dimension> dimensions;                      // of main
  std::vector<std::string> data_files;                    // of the model
};
// All stages. With CompileOptions::tuning, can compile the model several times and return the
// fastest module.
Result<Compiled> compile_model(Context& context);
// The same, but compiles the model once.
Result<Compiled> compile_once(Context& context);
// Compiles a graph of the MLIR context with the function `main`.
Result<Compiled> compile_graph(mlir::OwningOpRef<mlir::ModuleOp> graph, Context& context);

}  // namespace scopevm::compiler::pipeline
