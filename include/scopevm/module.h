// Module: a loaded and verified module file. A Module is a handle with shared ownership: the module
// is released with the last handle, session or result that uses it.
//
// Thread-safety: modules are immutable; all const methods can be called concurrently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/export.h"
#include "scopevm/status.h"
#include "scopevm/value_kind.h"

namespace scopevm {

struct TensorSignature {
  std::string name;
  DType dtype = DType::kF32;
  // One per axis: an integer ("48"), a dimension's name ("n") or, for outputs, an expression over
  // dimension names ("floordiv(w-1, 2)+1").
  std::vector<std::string> dims;
  // For a sequence or an optional, dtype and dims describe its elements. "?" is a dim that can
  // differ between elements; a single "..." stands for any rank.
  ValueKind kind = ValueKind::kTensor;
};

struct DimensionSignature {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
  int64_t multiple_of = 1;
};

struct Signature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  std::vector<DimensionSignature> dimensions;
};

// One storage that a call allocates, and its size.
struct MemoryLine {
  std::string device;
  std::string scope;
  std::string what;  // "workspace", or the name of the result
  bool is_result = false;
  int64_t bytes = 0;
  // Maximum sum of the bytes that are live simultaneously. For a result: `bytes`.
  int64_t lower_bound_bytes = 0;
  std::string formula;           // `bytes` as an expression over the dimensions' names
  bool depends_on_data = false;  // data-dependent: known only during a call, `bytes` is 0
};

// The sum over all storages in one memory scope of one device.
struct ScopeBound {
  std::string device;
  std::string scope;
  int64_t bytes = 0;
  int64_t lower_bound_bytes = 0;
};

struct MemoryBound {
  std::string function;  // the function that a call with these dims runs: "main" or a variant
  std::vector<MemoryLine> lines;
  std::vector<ScopeBound> scopes;
};

namespace vm {
class LoadedModule;
}

class SCOPEVM_API Module {
 public:
  // Maps the file, validates its checksums and verifies the bytecode. Kernel images are loaded by
  // the first Session::create() or memory_bound(). Errors: kNotFound, kInvalidModel.
  static Result<Module> load(const std::string& path);
  // Loads a module from memory. The bytes are copied. Errors: kInvalidModel.
  static Result<Module> load_bytes(std::span<const uint8_t> bytes);

  // The inputs, outputs and dimensions of `main`.
  const Signature& signature() const;

  // The exact bytes that a call allocates for these dimension values in a session with `threads`
  // threads, per storage and per memory scope. The result describes the variant that the call would
  // run. Evaluates the module's shape function, so values that a call would reject are rejected
  // here with the same message. Errors: kInvalidArgument (missing or unknown dimension, value out
  // of bounds, failed check), kUnsupported (no kernel image runs on this CPU, or the sizes depend
  // on values computed during the call).
  Result<MemoryBound> memory_bound(const std::map<std::string, int64_t>& dims,
                                   int threads = 1) const;

 private:
  friend class Session;
  friend struct ModuleAccess;
  explicit Module(std::shared_ptr<const vm::LoadedModule> loaded);
  std::shared_ptr<const vm::LoadedModule> loaded_;
};

}  // namespace scopevm
