/// @file
/// Module: a loaded and verified module file. A Module is a handle with shared ownership: the
/// module is released with the last handle, session or result that uses it.
///
/// Thread-safety: modules are immutable; all const methods can be called concurrently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/c/module.h"
#include "scopevm/dtype.h"
#include "scopevm/formula.h"
#include "scopevm/status.h"
#include "scopevm/value_kind.h"

namespace scopevm {

/// An input or an output of `main`.
struct TensorSignature {
  std::string name;           ///< the name in the model
  DType dtype = DType::kF32;  ///< element type
  /// One per axis: an integer ("48"), a dimension's name ("n") or an expression over dimension
  /// names ("floordiv(w-1, 2)+1"). A data-dependent dim of an output also contains runtime-defined
  /// symbols, whose names start with `$`.
  std::vector<std::string> dims;
  /// For a sequence or an optional, dtype and dims describe the elements. "?" is a dim that can
  /// differ between elements; a single "..." stands for any rank.
  ValueKind kind = ValueKind::kTensor;
  bool has_default = false;  ///< of an input: a call that does not set it uses its default
  /// Of an input: the index of the output that is its value in the next call of a stream, if the
  /// module declares one (CompileOptions::states); else -1.
  int64_t state_output = -1;
};

/// A named dimension of `main` and its bounds. Calls outside the bounds are rejected.
struct DimensionSignature {
  std::string name;         ///< the name in the model
  int64_t min = 0;          ///< smallest size
  int64_t max = 0;          ///< largest size
  int64_t multiple_of = 1;  ///< required factor of the size
  /// Requests can be joined along the dimension: the compiler has proved that each row of every
  /// output is a function of the same rows of the inputs, and that this function is the same for
  /// all rows and sizes. The dimension is then one dim of each input and output, or none. If a call
  /// runs the inputs of several requests, concatenated along this dim, its outputs are the
  /// concatenated outputs of these requests. Inputs without the dim must be equal in all requests.
  /// Floats can differ by rounding: kernels for other sizes add in another order.
  bool is_batch = false;
};

/// A range of values of one dimension. It contains the multiples of the dimension's factor.
struct DimRange {
  int64_t least = 0;  ///< no value is less
  int64_t most = 0;   ///< no value is greater
};

/// The inputs, outputs and dimensions of a module.
struct Signature {
  std::vector<TensorSignature> inputs;         ///< in the order of the model
  std::vector<TensorSignature> outputs;        ///< in the order of the model
  std::vector<DimensionSignature> dimensions;  ///< named dimensions of the inputs
};

/// One entry of a memory bound: a storage that a call allocates, or a group of storages, and its
/// size.
struct MemoryLine {
  std::string device;  ///< name of the device in the module
  std::string scope;   ///< memory scope, such as "global.workspace"
  /// "workspace", the name of a result, "calls" (of functions that are not inlined), or memory
  /// whose size depends on data, such as "lists" and "strings".
  std::string what;
  bool is_result = false;  ///< true for a result of the call
  int64_t bytes = 0;       ///< size of the entry
  /// Maximum sum of the bytes that are live simultaneously. For a result: `bytes`.
  int64_t lower_bound_bytes = 0;
  /// `bytes` over dimensions and definitions (scopevm/formula.h). If `depends_on_data` is true,
  /// this can also be a description of the cause, such as "recursion". Empty in a largest bound
  /// over functions that define the names differently.
  std::string formula;
  /// True if the size is known only during a call. `bytes` and `lower_bound_bytes` are then 0.
  bool depends_on_data = false;
};

/// A memory scope of one device.
struct MemoryScope {
  std::string device;  ///< name of the device in the module
  std::string scope;   ///< memory scope, such as "global.workspace"
  int rank = 0;        ///< the process of a job that has the device
};

/// The sum over all entries in one memory scope of one device.
struct ScopeBound {
  std::string device;             ///< name of the device in the module
  std::string scope;              ///< memory scope
  int64_t bytes = 0;              ///< sum of MemoryLine::bytes
  int64_t lower_bound_bytes = 0;  ///< sum of MemoryLine::lower_bound_bytes
};

/// The memory of a call: see Module::memory_bound().
struct MemoryBound {
  std::string function;  ///< the function that a call with these dims runs: "main" or a variant
  std::vector<FormulaDefinition> definitions;  ///< of names in the formulas of `lines`
  std::vector<MemoryLine> lines;               ///< the entries
  std::vector<ScopeBound> scopes;              ///< one per memory scope that `lines` contains
};

namespace layer {
struct ModuleHandle;
}

/// How a module is loaded.
struct LoadOptions {
  /// If not empty, only a module with a valid signature by one of these keys is loaded. Each
  /// element is the text of a file of a public key, or its line of base64 alone (docs/security.md).
  /// libsodium must then be installed.
  std::vector<std::string> public_keys;
  /// The text of the file of the signature. If it is empty, Module::load() reads the signature from
  /// the file with the path of the module and the suffix ".sig".
  std::string signature;
  /// The folder of the file of weights, for a module whose weights are in a file of their own
  /// (docs/module-format.md). If it is empty, Module::load() searches the folder of the module, and
  /// Module::load_bytes() needs `weights`.
  std::string weights_folder;
  /// The contents of the file of weights. If this is not a null pointer, no file is read. The bytes
  /// are copied, except by the overload of Module::load_bytes() with an owner: it uses them in
  /// place, their address must be a multiple of 64, and the owner keeps them alive, too. Not used
  /// if the module contains its weights.
  std::span<const uint8_t> weights;
  /// The rank of this process in a job, for a module whose weights are in files of ranks: those of
  /// other ranks are not read and need not exist, `weights` are those of this rank, and the module
  /// can only be used with the transport of this rank. No value: the weights of all ranks, and
  /// `weights` are those of rank 0.
  std::optional<int> rank;
};

/// A loaded module. Copies of the handle refer to the same module.
class Module {
 public:
  /// Maps the file, validates its checksums and verifies the bytecode. The kernel image for this
  /// CPU is loaded by the first Session::create() or memory_bound(). If `options` has public keys,
  /// the file is read into memory, because a mapped file could change after the check of its
  /// signature. The same applies to the file of weights, if the module has one. Its checksum is
  /// always compared, and with public keys also its BLAKE2b digest. Errors:
  /// - kNotFound: no such file, no file of the signature or of the weights, or libsodium is not
  ///   installed
  /// - kInvalidModel: a malformed module, a signature by another key or of another file, or a
  ///   damaged or other file of weights
  /// - kInvalidArgument: a malformed key or signature
  /// - kUnsupported: a tensor has a rank above kMaxRank, or the module is too large to verify
  static Result<Module> load(const std::string& path, const LoadOptions& options = {});
  /// Loads a module from memory. The bytes are copied. Errors: as for load().
  static Result<Module> load_bytes(std::span<const uint8_t> bytes, const LoadOptions& options = {});
  /// Loads a module from memory without a copy. `owner` keeps the bytes alive: the module, its
  /// sessions and results hold it. The bytes must not change. Errors: as for load(), and
  /// kInvalidArgument if the address is not a multiple of 64.
  static Result<Module> load_bytes(std::shared_ptr<const void> owner,
                                   std::span<const uint8_t> bytes, const LoadOptions& options = {});

  /// The inputs, outputs and dimensions of `main`.
  const Signature& signature() const;

  /// The bytes that a call allocates for these dimension values in a session with `threads`
  /// threads, per storage and per memory scope. The bytes of the workspace and of results are
  /// exact, unless they depend on data. The result describes the variant that the call would run.
  /// Values that a call would reject are rejected here with the same message, because both evaluate
  /// the same shape function. Errors:
  /// - kInvalidArgument: missing or unknown dimension, value out of bounds, failed check, or
  ///   `threads` below 1
  /// - kUnsupported: no kernel image runs on this CPU, or the sizes depend on values that a call
  ///   computes
  /// - kInvalidModel: the kernel image does not load or lacks a function, or the shape function
  ///   does not have one argument per input dim
  /// - kDevice: the operating system provides no memory file for the kernel image
  Result<MemoryBound> memory_bound(const std::map<std::string, int64_t>& dims,
                                   int threads = 1) const;

  /// The memory scopes of the module's devices, in the order of the results of bound().
  const std::vector<MemoryScope>& memory_scopes() const;
  /// The number of processes of a job with the module: 1, unless its machine has several ranks
  /// (docs/ranks.md). See SessionOptions::transport.
  int ranks() const;

  /// The bytes of memory_bound() in each memory scope, for admission control: one call of native
  /// code, without strings, and without allocations for up to 32 dimensions. Does not evaluate the
  /// checks of a call: for dims that these reject, a result can be any number, also a negative one.
  /// `dims`: one value for each of signature().dimensions, in order. `bytes`: receives one value
  /// for each of memory_scopes(). Thread-safe. Errors:
  /// - kInvalidArgument: another number of values, a value out of bounds, or `threads` below 1
  /// - kResourceLimit: the sizes exceed 64 bits
  /// - kUnsupported: no kernel image runs on this CPU, or the compiler's version had no bound
  ///   functions
  /// - kInvalidModel, kDevice: as for memory_bound()
  Status bound(std::span<const int64_t> dims, std::span<int64_t> bytes, int threads = 1) const;

  /// The largest memory_bound() over all values of the dimensions in the ranges `dims`. A dimension
  /// that `dims` does not name has the range of the signature. The ends of a range need not be
  /// multiples of the dimension's factor. In `scopes` of the result, no request needs more than
  /// `bytes`, and a request needs `lower_bound_bytes`. They are equal unless the search stops
  /// early, after milliseconds. `scopes` and `lines` are those of the functions that requests in
  /// the ranges run; `lines` contains only the memory that depends on data. `function` is "main" if
  /// requests run several functions. Errors: those of memory_bound() and bound(), and
  /// kInvalidArgument if a range contains no value of its dimension, or if an unnamed dimension has
  /// no upper bound.
  Result<MemoryBound> largest_bound(const std::map<std::string, DimRange>& dims = {},
                                    int threads = 1) const;

  /// The shape of an input for these values of the dimensions that it names. `index` is the
  /// position in signature().inputs. Errors: kInvalidArgument (an unknown dimension, or a dim of
  /// the input that the values do not determine), kNotFound (no such input).
  Result<std::vector<int64_t>> input_shape(size_t index,
                                           const std::map<std::string, int64_t>& dims) const;

  /// The module of a handle of the C API, of which it takes ownership, also on failure. Errors:
  /// kOutOfMemory.
  static Result<Module> adopt(scopevm_module* handle);
  /// The handle in the C API. Valid as long as a copy of this object.
  const scopevm_module* c_module() const;

 private:
  explicit Module(std::shared_ptr<const layer::ModuleHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<const layer::ModuleHandle> handle_;
};

}  // namespace scopevm

#include "scopevm/layer/module.h"  // IWYU pragma: export
