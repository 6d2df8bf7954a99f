/// @file
/// The compiler's entry points. compile() turns a model into the bytes of a module file. explain()
/// reports about a model without compiling it: its shapes, the copies between places, the layouts
/// of images, the memory plan, the time of a request, or the parts that external libraries compute.
/// Both are in libscopevm_compiler, which the program of `scopevm compile` and `scopevm explain`
/// links.
///
/// Thread-safety: every function can be called from several threads concurrently.
///
/// No function throws. Each fails with kOutOfMemory ("stage codegen: out of memory") if an
/// allocation fails. LLVM and MLIR release no memory in this case, so the call leaks memory. The
/// first call installs LLVM's handler of failed allocations, which throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/c/export.h"
#include "scopevm/c/external.h"
#include "scopevm/formula.h"
#include "scopevm/memory_explanation.h"
#include "scopevm/status.h"
#include "scopevm/time_explanation.h"

namespace scopevm {

/// The range of a named dimension, as `--dim` sets it. A fixed dimension has min == max.
struct DimBound {
  /// Smallest size. Default: 1, or 0 for a dimension of past values (docs/shapes.md).
  std::optional<int64_t> min = {};
  int64_t max = int64_t{1} << 31;  ///< largest size
  int64_t multiple_of = 1;         ///< known factor of the size
  /// If not empty, the size as a formula over other dimensions (scopevm/formula.h), such as
  /// "past + now", instead of a range.
  std::string formula = {};

  /// The smallest size, or 1 if `min` has no value.
  int64_t least() const { return min.value_or(1); }
};

/// Measured times of a part of a model, in seconds.
struct PartSeconds {
  double library = 0;  ///< as an external function
  double own = 0;      ///< with scopevm's kernels
};

/// Chooses the layouts of convolutions' images, the kernels of convolutions of blocked images, and
/// between external functions and scopevm's own kernels, by measurement. The compiler has no
/// runtime: the caller runs the modules that it compiles.
struct Tuning {
  /// The requests whose total time is minimised: the values of dimensions, by name. A dimension
  /// without a value has a representative one. Empty: one request with representative values.
  std::vector<std::map<std::string, int64_t>> requests;
  /// Returns the duration of one call of each module, in seconds. `dims` contains all dimensions of
  /// the modules. Their sessions need the libraries of
  /// CompileOptions::external_libraries. Calls of the modules should alternate, so that all are
  /// measured under the same load. Empty: nothing is measured.
  std::function<Result<std::vector<double>>(std::span<const std::span<const uint8_t>> modules,
                                            const std::map<std::string, int64_t>& dims)>
      measure;
  /// Returns the `count` times that `store` received for `key`, if any. `key` identifies modules
  /// that compute the same function: a convolution and its forms, or a part of the graph and a
  /// library with its version, and the dims, but not the CPU. Can be empty.
  std::function<std::optional<std::vector<double>>(const std::string& key, size_t count)> find;
  /// Receives the measured times of the modules. Can be empty if `find` is empty.
  std::function<void(const std::string& key, const std::vector<double>& seconds)> store;
};

/// The layout of images: [n, c, h, w] or, blocked, [n, ceil(c / 16), h, w, 16].
enum class ImageLayout : uint8_t {
  kAuto,       ///< the layouts with the least estimated time
  kByChannel,  ///< no image is blocked
  kBlocked,    ///< every image that can be blocked
};

/// A warning or an error about a model or an option, with its location if that is known.
struct Diagnostic {
  /// How serious it is.
  enum class Severity : uint8_t {
    kWarning,  ///< the compilation continues
    kError,    ///< the compilation fails
  };
  Severity severity = Severity::kError;  ///< how serious it is
  std::string file;  ///< the model, machine description or declarations; empty: unknown
  int line = 0;      ///< in a textual graph, from 1; 0: unknown
  int column = 0;    ///< in a textual graph, from 1; 0: unknown
  std::string node;  ///< the node of an ONNX model, or the op of a graph; empty: unknown
  std::string text;  ///< the message without the file and the line
};

/// The input and the options of compile() and explain(). Most options also have a name and values
/// as text: see scopevm/compile_options.h.
struct CompileOptions {
  /// An ONNX model (.onnx) or a textual graph (.mlir). A file with another extension is read as a
  /// graph if it is a text file, else as an ONNX model.
  std::string model_path;
  /// The contents of the model, which are not copied and must outlive the call. `model_path` is
  /// then only the name in messages, the extension that selects the reader, and the location of
  /// files with external data; it can be empty. Unset: the file `model_path` is read.
  std::optional<std::span<const uint8_t>> model_bytes;
  /// LLVM CPU names ("x86-64-v3", "cascadelake") or "host", optionally with feature changes:
  /// "x86-64-v3,+avxvnni". The module contains one kernel image per entry. Empty: the targets of
  /// `machine_json`, or the host CPU if it has none.
  std::vector<std::string> target_cpus;
  /// Bounds of the dimensions, by name. A dimension without an entry has the bound DimBound().
  std::map<std::string, DimBound> dims;
  /// Each entry adds a variant of `main`, compiled for narrower bounds. A dimension that an entry
  /// does not name has its bound from `dims`. Every bound of an entry must be within the bound in
  /// `dims`. A call runs the most constrained variant that admits its dims: the one with the most
  /// fixed dims, then the one with the fewest admitted sizes, then the first.
  std::vector<std::map<std::string, DimBound>> variants;
  /// The outputs of the model that the module computes, in any order. Ops that only other outputs
  /// need are omitted; inputs are not. Empty: all outputs.
  std::vector<std::string> outputs;
  /// Caches that are kept in one buffer, as INPUT=OUTPUT: the output must be the concatenation of
  /// the input and further elements along an axis with a named dimension. A `*` in both names
  /// matches any text. The axis then has the dimension NAME_capacity, and the module has the
  /// further input NAME_rows and the output NAME_rows_next (docs/state.md).
  std::vector<std::string> states;
  /// The target machine as a JSON machine description (docs/machine.md). Empty: a machine with one
  /// CPU.
  std::string machine_json;
  std::string machine_name = "machine";  ///< name of the description in messages
  /// Placement constraints for ops, inputs and outputs, in the syntax of `--place`: "conv_*=gpu",
  /// "type:matmul=gpu", "input:x=gpu", "output:y=cpu.global.fast". Later constraints take
  /// precedence.
  std::vector<std::string> places;
  /// Libraries that may compute parts of the graph, in order of precedence: a part that matches a
  /// pattern of a library becomes an external function if the library accepts it. Not owned; must
  /// outlive the call. Sessions of the module need the same libraries.
  std::vector<const scopevm_external_library*> external_libraries;
  /// If `measure` is set, the layouts of convolutions' images are chosen by measured times if
  /// `image_layout` is kAuto and the machine has one device, and a library computes a part only if
  /// that is faster. Of the resulting model,
  /// the model without parts for libraries, and the model with all of them, the fastest is kept.
  Tuning tuning;
  /// Declarations of external functions (sv.extern ops) for the ops of an ONNX model: op `Scale` of
  /// domain `example` calls the function "example.Scale" (docs/external.md). Ignored for a textual
  /// graph, which contains its declarations.
  std::string external_functions;
  /// The name of these declarations in messages.
  std::string external_functions_name = "external functions";
  /// True: an ONNX model can import a newer opset than the compiler knows. Ops are imported with
  /// the newest definitions that the compiler knows; newer ones can have other results.
  bool allow_newer_opset = false;
  /// True: an input of an ONNX model that has an initializer is a constant. False: it is an input
  /// of the module, with the initializer as its default.
  bool freeze_inputs = false;
  /// True: a product or convolution of results of DequantizeLinear is a sum of f32 products, as the
  /// model states. False: it is an exact sum of integers if the rules of docs/pipeline.md hold, and
  /// integers that the model computes from it can differ by one.
  bool float_products = false;
  /// Splits the model over the ranks of the machine (docs/ranks.md): "pipeline=2",
  /// "tensor=2" or "tensor=2,pipeline=2". Without a
  /// `machine_json`, the machine has one CPU for each rank. Empty: ops are placed by `places` only.
  std::string split;
  /// True: a constraint in `places` that matches no op or value is a warning. False: it is an
  /// error.
  bool allow_unmatched = false;
  /// A stage (one of kStages) or an MLIR pass ("sv-hoist") whose result is passed to `dump` as
  /// text. Empty: none.
  std::string dump_after;
  /// Receives the text of `dump_after`. Can be empty if `dump_after` is empty.
  std::function<void(std::string_view)> dump;
  /// Called at each start of a stage and during stages that report their progress. A stage can
  /// start several times. `done` and `total` count parts of the stage's work, such as groups of
  /// kernels to compile; both are 0 when the count is unknown. Calls are serialized but can come
  /// from any thread of the compiler.
  std::function<void(std::string_view stage, int64_t done, int64_t total)> progress;
  /// Ends the compilation: after a request to stop, it fails with kCancelled at the next stage, at
  /// the next group of kernels or the next pass of LLVM. `progress` can request the stop.
  std::stop_token stop_token;
  /// Receives each warning of a compilation that succeeds, and the errors of one that fails, at the
  /// end and on the calling thread. Reports of explain() contain their warnings, which are not
  /// passed to it. Can be empty.
  std::function<void(const Diagnostic& diagnostic)> diagnose;
  /// A folder of compiled modules, which is created if it does not exist. If it has the module of
  /// the same model, options, target and compiler, compile() returns this module. Otherwise it
  /// compiles the model and adds the module. Several processes can use the folder. A failure to
  /// write to it is a warning. Empty: no cache. Not used with `tuning` or `dump_after`.
  std::string cache_folder;
  int threads = 0;  ///< number of threads that compile kernels; 0: one per CPU
  /// A call is inlined if its caller has at most this number of steps (kernels, copies, calls and
  /// control flow) afterwards. Recursive calls are never inlined.
  int64_t inline_limit = 10'000;
  /// Runs steps in another order than that of the graph if this lowers the peak of a memory plan at
  /// the representative dims.
  bool reorder = false;
  /// The layout of the images inside the model. Inputs and results are by channel.
  ImageLayout image_layout = ImageLayout::kAuto;
  /// Permits Winograd's algorithm for 3x3 convolutions of f32 images. They take about 0.4
  /// times the time and 4 times the memory of weights, and their rounding errors are about 1.8
  /// times larger (docs/explain.md).
  bool fast_conv = false;
  /// The request of explain<MemoryExplanation>() and explain<TimeExplanation>().
  MemoryRequest memory_request;
  /// The file to write when an MLIR pass fails or crashes. It contains the graph before the stage
  /// and the pass pipeline, for `scopevm-opt --run-reproducer`. Empty: no file is written.
  std::string reproducer_path;
};

/// The pipeline stages in order: the values of CompileOptions::dump_after and StageTime::stage.
inline constexpr std::string_view kStages[] = {"frontend", "graph",   "placement",
                                               "fusion",   "kernels", "shapes",
                                               "memory",   "codegen", "bytecode"};

/// The duration of one MLIR pass.
struct PassTime {
  std::string pass;    ///< "sv-place"
  double seconds = 0;  ///< elapsed time
};

/// The duration and the memory of one pipeline stage.
struct StageTime {
  std::string stage;   ///< one of kStages
  double seconds = 0;  ///< elapsed time
  /// The peak resident set size of the process up to the end of the stage.
  int64_t peak_bytes = 0;
  std::vector<PassTime> passes;  ///< the MLIR passes of the stage, in order; empty if it has none
};

/// A model that CompileOptions::tuning has measured.
struct TunedModel {
  std::string functions;   ///< its external functions: "faster", "none" or "all"
  double seconds = 0;      ///< the time of all requests
  bool is_chosen = false;  ///< compile() returns this model
};

/// A blocked form of a convolution that CompileOptions::tuning has measured.
struct MeasuredForm {
  std::string name;        ///< "direct", "winograd" or "direct in groups of 2 blocks"
  double seconds = 0;      ///< the time of all requests
  bool is_chosen = false;  ///< the fastest form; the first one unless another is clearly faster
};

/// A convolution of blocked images that CompileOptions::tuning has measured in several forms.
struct TunedConvolution {
  std::string name;                 ///< in the model
  std::vector<MeasuredForm> forms;  ///< the first one is chosen without measurements
};

/// The result of compile().
struct CompileOutput {
  std::vector<uint8_t> module;                 ///< the bytes of the module file
  std::vector<StageTime> times;                ///< one per stage, in pipeline order
  std::vector<TunedModel> tuned;               ///< empty without tuning
  std::vector<TunedConvolution> convolutions;  ///< in program order; empty without tuning
  std::vector<std::string> warnings;           ///< one message each
  bool is_cached = false;                      ///< `module` is from CompileOptions::cache_folder
};

/// Compiles a model to a module. Errors: kInvalidArgument (an invalid option), kNotFound (no such
/// file), kInvalidModel (an invalid machine description or model: "model.onnx: node \"conv_3\":
/// ..."), kUnsupported (for an op, the message names the op, the opset and the node),
/// kResourceLimit (a pool exceeds its limit in the machine description), kCancelled (a request of
/// CompileOptions::stop_token).
SCOPEVM_API Result<CompileOutput> compile(const CompileOptions& options);

/// Writes the report of the kind `kind` to `report`, which refers to a default-constructed struct
/// of this kind. Programs call explain(), which passes the kind of its type.
SCOPEVM_API Status explain_kind(std::string_view kind, const CompileOptions& options, void* report);

/// Reads the model and reports about it without generating code. `Report` is one of the structs
/// below, MemoryExplanation or TimeExplanation. Reports the generic variant only; `variants` is
/// ignored. Errors: those of compile(). Report::kKind is the name of the report.
template <typename Report>
Result<Report> explain(const CompileOptions& options) {
  Report report;
  SCOPEVM_RETURN_IF_ERROR(explain_kind(Report::kKind, options, &report));
  return report;
}

/// The ops of an ONNX model, and whether the compiler supports them. Also reports about a model
/// that cannot be compiled: types of inputs and values of attributes are not checked. Fails with
/// kInvalidArgument for MLIR assembly.
struct OpsExplanation {
  static constexpr std::string_view kKind = "ops";  ///< for explain()

  /// How the compiler computes an op.
  enum class Support : uint8_t {
    kNone,      ///< not at all
    kOp,        ///< as ops of the graph
    kFunction,  ///< as the nodes of its function, of the model or of the ONNX standard
    kExternal,  ///< by an external function (CompileOptions::external_functions)
  };
  /// The nodes that are handled in one way. An op can have several entries.
  struct Op {
    std::string name;                  ///< "Conv"; with its domain: "com.microsoft.FusedMatMul"
    int opset = 0;                     ///< version of the domain; 0: the model imports none
    Support support = Support::kNone;  ///< of all the nodes
    std::string reason;                ///< of Support::kNone; else empty
    std::vector<std::string> nodes;    ///< with those of inner graphs and of the model's functions
  };
  std::vector<Op> ops;  ///< sorted by name
};

/// The shapes of a model as the compiler infers them, before any request. Dims are expressions in
/// textual form: `floordiv(w+1, 2)`. `x.shape[1]` denotes the size that a request passes as dim 1
/// of input x.
struct ShapeExplanation {
  static constexpr std::string_view kKind = "shapes";  ///< for explain()

  /// An input, a region argument or a result of an op.
  struct Value {
    /// The input, or the node that produces the value: "split#1" if it has several results.
    std::string name;
    std::string op;    ///< the graph op; "input", or "argument" for a region argument
    std::string type;  ///< "f32[n, 3, h, w]"
    /// "[n, 12, 64]": the elements of an integer tensor, if they are known and at most 16.
    std::string elements;
    int depth = 0;  ///< number of enclosing regions
  };
  /// A named dimension, or a runtime-defined symbol.
  struct Symbol {
    std::string name;        ///< of the dimension in the model; "$..." for a symbol
    std::string definition;  ///< the definition: "input \"x\" dim 0", or the op that computes it
    DimBound bound;          ///< for symbols that input dims define
    bool is_bound = false;   ///< true for symbols that input dims define: each call checks `bound`
    /// For dimensions of main: what prevents requests from being joined along it
    /// (DimensionSignature::is_batch). The text is empty if they can be joined.
    std::optional<std::string> batch_obstacle;
  };
  /// A condition that a call must satisfy.
  struct Check {
    std::string condition;  ///< "m == n", or "assert ..." for a condition on data
    std::string message;    ///< of a failed check; "<n>" stands for the value of n in the call
  };
  /// A function of the graph.
  struct Function {
    std::string name;             ///< "main", or the name in the model
    std::vector<Value> values;    ///< in program order, inputs first
    std::vector<Symbol> symbols;  ///< in definition order
    std::vector<Check> checks;    ///< in evaluation order
  };
  std::vector<Function> functions;  ///< all functions of the graph
};

/// The placement of a model's graph: the copies between places that a call makes, and the
/// constraints that require them. A place is a (device, memory scope) pair.
struct CopyExplanation {
  static constexpr std::string_view kKind = "copies";  ///< for explain()

  /// A copy between two places.
  struct Copy {
    std::string value;    ///< the node or input whose value is copied
    std::string formula;  ///< bytes over main's dimensions and `definitions`
    /// Set if `dims` fixes every dimension of `formula` and `has_own_dims` is false.
    std::optional<int64_t> bytes;
    /// The number of times that a call makes the copy. It exceeds 1 for a copy in a loop (at
    /// representative trip counts) or in a function that is called more than once. Unspecified if
    /// `times_depend_on` is not empty.
    double times = 1;
    std::string from;             ///< source place: "cpu", "gpu.global.fast"
    std::string to;               ///< destination place
    std::string producer_reason;  ///< the constraint that determines the producer's place
    std::string consumer_reason;  ///< the constraint that determines the consumer's place
    bool is_spill = false;        ///< moves a value out of a pool over its limit, or back into it
    double seconds = 0;           ///< estimated time of one copy; 0 when `bytes` is unknown
    /// The function that makes the copy, by its name in the model; empty for main. A copy in a
    /// function is listed once for each distinct list of dims with which the function is called.
    std::string function;
    /// The reason why `times` is unknown. "recursion": the function is recursive. "data": the
    /// function is called through a closure, and the number of these calls depends on data. Also
    /// set for the functions that such a function calls. Empty when `times` is known.
    std::string times_depend_on;
    bool has_own_dims = false;  ///< `formula` uses dims that calls of `function` do not determine
    std::vector<FormulaDefinition> definitions;  ///< of names in `formula`
  };
  /// An input of main, or an op of its placed graph, such as a fusion group or a copy. Constants
  /// have no node.
  struct Node {
    std::string name;        ///< the input, or the op
    std::string op;          ///< "input", "group", "device_copy", ...
    std::string place;       ///< the place of the last result; empty if that is not a tensor
    std::vector<int> reads;  ///< operands except constants, as indices into `nodes`
  };
  /// A pool that would exceed its limit, and how the placement reduces its use.
  struct Limit {
    std::string pool;                ///< "npu.global.workspace"
    int64_t limit_bytes = 0;         ///< limit in the machine description
    int64_t needed_bytes = 0;        ///< bytes required if no value is spilled or moved
    std::vector<std::string> moved;  ///< values placed in another pool: "conv_1 in cpu.global"
    double seconds = 0;              ///< cost of the copies and of slower accesses, per call
    double lower_bound_seconds = 0;  ///< lower bound of that cost over all choices
  };
  std::vector<Copy> copies;   ///< all copies that a call makes
  std::vector<Limit> limits;  ///< one per pool that would exceed its limit
  std::vector<Node> nodes;    ///< the nodes of main in program order, also those in regions
  /// Estimated time of all copies, spills and accesses of ops to memory in a call, at
  /// representative dims. Placement minimises it.
  double seconds = 0;
  bool is_proved = true;  ///< true: it is proved that no cheaper placement meets all constraints
  std::vector<std::string> notes;  ///< constraints that some matched values do not satisfy, and why
  std::vector<std::string> warnings;  ///< one message each
};

/// The parts of a model's graph that match a pattern of an external library. With
/// CompileOptions::tuning, also the measured times of the parts and of the models.
struct ExternalExplanation {
  static constexpr std::string_view kKind = "external";  ///< for explain()

  /// Parts that are equal except for the names of dims are one entry. The ops of a part that is not
  /// taken can be in later entries, for smaller patterns.
  struct Part {
    std::string function;                ///< the symbol of the external function
    std::string library;                 ///< the library whose patterns match
    std::vector<std::string> patterns;   ///< the names of the matching patterns
    std::vector<std::string> ops;        ///< the nodes of the first part, in order
    int64_t calls = 0;                   ///< number of equal parts
    bool is_taken = false;               ///< the library computes the part
    std::string workspace;               ///< bytes, a formula over the function's dims, if taken
    std::string reason;                  ///< why the part is not taken; empty if it is
    std::optional<PartSeconds> seconds;  ///< of all calls in all requests, if measured
  };
  std::vector<Part> parts;            ///< by library and pattern, in program order
  std::vector<TunedModel> tuned;      ///< empty without tuning
  std::vector<std::string> warnings;  ///< one message each
};

/// The layouts of a model's images: by channel, [n, c, h, w], or blocked, [n, ceil(c / 16), h, w,
/// 16]. The compiler chooses those with the least estimated time of ops and conversions. Times are
/// those of one core with AVX-512, at representative dims.
struct LayoutExplanation {
  static constexpr std::string_view kKind = "layout";  ///< for explain()

  /// An op that can run on images by channel and on blocked ones.
  struct Op {
    std::string name;          ///< in the model
    std::string kind;          ///< the graph op: "conv"
    bool is_blocked = false;   ///< its images are blocked
    double seconds = 0;        ///< in the chosen layout
    double other_seconds = 0;  ///< in the other layout
    bool is_measured = false;  ///< the times are measured (CompileOptions::tuning), else estimated
    std::vector<MeasuredForm> forms;  ///< the measured blocked forms, if there are several
    std::string kernel_of;  ///< the first op, by name, of the kernel that also computes this op;
                            ///< empty if this op is the first one, or if another op has the same
                            ///< name and kind
    std::string schedule;   ///< how a convolution of blocked images is computed: "direct in groups
                            ///< of 2 blocks, reads pixels"; empty for other ops
  };
  /// A change of an image's layout.
  struct Conversion {
    std::string value;        ///< the converted image, as named in the model
    bool to_blocked = false;  ///< from the layout by channel, or to it
    std::string formula;      ///< bytes of the image by channel, over main's dims
    std::vector<FormulaDefinition> definitions;  ///< the names in `formula`
    double seconds = 0;                          ///< the estimated time
  };
  std::vector<Op> ops;                  ///< those that have both forms, in program order
  std::vector<Conversion> conversions;  ///< in program order
  std::vector<std::string> warnings;    ///< one message each
};

}  // namespace scopevm
