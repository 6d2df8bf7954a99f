// The compiler's entry points: a model in, the bytes of module.bc or an account of its shapes out.
// They live in libscopevm_compiler, which the `scopevm` command loads only for the commands that
// compile.
//
// Thread-safety: both may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/export.h"
#include "scopevm/status.h"

namespace scopevm {

// What is known of a named dimension, from `--dim`. A fixed dimension has min == max.
struct DimBound {
  int64_t min = 1;
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
};

struct CompileOptions {
  std::string model_path;  // .onnx or .mlir
  // CPU names as LLVM spells them ("x86-64-v3", "cascadelake"), or "host"; with features that
  // differ, as "x86-64-v3,+avxvnni". One kernel image each. Without any: what `machine_json` says,
  // or the host.
  std::vector<std::string> target_cpus;
  std::map<std::string, DimBound> dims;
  // Each adds a variant to the module, compiled for these bounds; what one does not name has its
  // bound from `dims`, and none may reach beyond `dims`. A call runs the most constrained variant
  // that admits its dims: the one with most fixed dims, then with fewest sizes, then the first.
  std::vector<std::map<std::string, DimBound>> specialisations;
  // The machine that is planned for, as the text of a machine description (docs/machine.md), and
  // what messages call it. Empty: one CPU.
  std::string machine_json;
  std::string machine_name = "machine";
  // Places of ops, inputs and outputs, as --place takes them: "conv_*=gpu", "type:matmul=gpu",
  // "input:x=gpu", "output:y=cpu.global.fast". Later ones come before earlier ones.
  std::vector<std::string> places;
  // One of kStages, or a pass of the MLIR stages ("sv-hoist"): its result is written to `dump` as
  // text.
  std::string dump_after;
  std::function<void(std::string_view)> dump;
  // Called from the compiling thread as stages begin: stage name, done, total (0, 0 when unknown).
  std::function<void(std::string_view stage, int64_t done, int64_t total)> progress;
  int threads = 0;  // kernels compiled at once; 0: one per core
  // A file that is written where a pass of the MLIR stages fails or crashes: the graph before the
  // stage, and the passes, for `scopevm-opt --run-reproducer`. Empty: none.
  std::string reproducer_path;
};

// The stages of a compilation in order: values of CompileOptions::dump_after and StageTime::stage.
inline constexpr std::string_view kStages[] = {"frontend", "graph",   "placement",
                                               "fusion",   "kernels", "shapes",
                                               "memory",   "codegen", "bytecode"};

struct PassTime {
  std::string pass;  // "sv-place"
  double seconds = 0;
};

struct StageTime {
  std::string stage;
  double seconds = 0;
  // The most memory that the process had had when the stage ended: its resident set.
  int64_t peak_bytes = 0;
  std::vector<PassTime> passes;  // of an MLIR stage, in order
};

struct CompileOutput {
  std::vector<uint8_t> module;   // the bytes of module.bc
  std::vector<StageTime> times;  // one a stage, in pipeline order
  std::vector<std::string> warnings;
};

// Errors: kNotFound (no such file), kInvalidModel ("model.onnx: node \"conv_3\": ..."),
// kUnsupported (names the op, the opset and the node).
SCOPEVM_API Result<CompileOutput> compile(const CompileOptions& options);

// The shapes of a model, as the compiler knows them before any request. Dims are text:
// `floordiv(w+1, 2)`; `x.shape[1]` stands for what a request gives as that dim of input x.
struct ShapeExplanation {
  struct Value {
    std::string name;      // of the input, or of the node that makes it
    std::string op;        // the graph op; "input", or "argument" for a region's own
    std::string type;      // "f32[n, 3, h, w]"
    std::string elements;  // "[n, 12, 64]" where an integer tensor's elements are known
    int depth = 0;         // of regions around it
  };
  struct Symbol {
    std::string name;
    std::string model_name;  // where that is no identifier; else empty
    std::string born;        // "input \"x\" dim 0", or the op that makes it
    DimBound bound;          // of those that inputs give
    bool is_bound = false;   // by an input: `bound` is checked
  };
  struct Check {
    std::string condition;  // "m == n"
    std::string message;    // {0}, {1}: the values of the condition's two sides
  };
  struct Function {
    std::string name;
    std::vector<Value> values;    // in program order, inputs first
    std::vector<Symbol> symbols;  // in the order of their birth
    std::vector<Check> checks;    // in the order in which a call makes them
  };
  std::vector<Function> functions;
};

// Reads and lowers the model as compile() does, up to shapes; nothing is generated. Of the general
// function: specialisations are left out. Errors: those of compile().
SCOPEVM_API Result<ShapeExplanation> explain_shapes(const CompileOptions& options);

// The copies between places that a model's graph makes in a call, and what forces each.
struct CopyExplanation {
  struct Copy {
    std::string value;             // the node or input whose value is copied
    std::string formula;           // bytes over the names of main's dimensions
    std::optional<int64_t> bytes;  // where `dims` fixes the dimensions of the formula
    // In a call; above 1 in a loop, at representative trip counts, and in a function that is called
    // more than once. Says nothing where `times_depend_on` is not empty.
    double times = 1;
    std::string from;  // places: "cpu", "gpu.global.fast"
    std::string to;
    std::string made_because;  // the demand that puts the value where it is made
    std::string read_because;  // the one that puts its reader elsewhere
    bool is_spill = false;     // out of a pool that is over its limit, or back
    double seconds = 0;        // that one copy takes, by the machine; 0 where `bytes` is not known
    // The one that makes the copy, by the model's name; empty for main. A copy inside a function
    // stands here once for each that calls give the dims of the formula.
    std::string function;
    // What decides how often it is made, where that is not known: "recursion", or "data" in a
    // function that is called through a closure from elsewhere.
    std::string times_depend_on;
    bool has_own_dims = false;  // `formula` is over the function's dims: its calls do not fix them
  };
  // An input, or what one kernel or copy makes; in program order.
  struct Node {
    std::string name;
    std::string op;          // "input", "group", "device_copy", ...
    std::string place;       // of its results
    std::vector<int> reads;  // indexes of nodes
  };
  // A pool that would be over its limit, and what was done.
  struct Limit {
    std::string pool;  // "npu.global.workspace"
    int64_t limit_bytes = 0;
    int64_t needed_bytes = 0;        // without copies and moves
    std::vector<std::string> moved;  // values that lie in another pool: "conv_1 in cpu.global"
    double seconds = 0;              // what copies and slower accesses take, a call
    double lower_bound_seconds = 0;  // no choice of them takes less
  };
  std::vector<Copy> copies;
  std::vector<Limit> limits;
  std::vector<Node> nodes;         // of main, what regions hold included
  bool is_proved = true;           // no placement that keeps all demands costs less
  std::vector<std::string> notes;  // demands that were not met for all that they match, and why
  std::vector<std::string> warnings;
};

// Reads and places the model as compile() does. Errors: those of compile().
SCOPEVM_API Result<CopyExplanation> explain_copies(const CompileOptions& options);

}  // namespace scopevm
