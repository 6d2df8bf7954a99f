// Module: a module.bc, loaded and verified. Immutable and shared: copies are handles to one module,
// which lives as long as any handle, session or result that needs it. Thread-safe.
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
  // names ("floordiv(w-1, 2)+1").
  std::vector<std::string> dims;
  // When not a tensor: dtype and dims are those of its elements, with "?" for a dim in which they
  // may differ, or "..." alone for any number of dims.
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

// One storage that a call allocates.
struct MemoryLine {
  std::string device;
  std::string scope;
  std::string what;  // "workspace", or the result's name
  bool is_result = false;
  int64_t bytes = 0;
  int64_t lower_bound_bytes = 0;  // the largest sum of bytes live at once; is_result: bytes
  std::string formula;            // bytes over the dimensions' names
  bool depends_on_data = false;   // known only during a call: bytes are 0 here
};

// The same summed over one scope of one device.
struct ScopeBound {
  std::string device;
  std::string scope;
  int64_t bytes = 0;
  int64_t lower_bound_bytes = 0;
};

struct MemoryBound {
  std::string function;  // "main", or the variant that a call with these dims runs
  std::vector<MemoryLine> lines;
  std::vector<ScopeBound> scopes;
};

namespace vm {
class LoadedModule;
}

class SCOPEVM_API Module {
 public:
  // Maps the file, checks its checksums and verifies the bytecode. Kernel images are loaded by the
  // first session or bound query. Errors: kNotFound, kInvalidModel.
  static Result<Module> load(const std::string& path);
  // The same over bytes that the module copies.
  static Result<Module> load_bytes(std::span<const uint8_t> bytes);

  // The signature of `main`.
  const Signature& signature() const;

  // Exact bytes that a call allocates, whichever variant it runs, per storage and per scope, when
  // the dimensions have these values and the session has `threads` threads. Runs the module's own
  // shape function: a value that a call would reject is rejected here, with the same message.
  // Errors: kInvalidArgument (missing or unknown dimension, value out of its bounds, failed check),
  // kUnsupported (no kernel image runs on this CPU).
  Result<MemoryBound> memory_bound(const std::map<std::string, int64_t>& dims,
                                   int threads = 1) const;

 private:
  friend class Session;
  friend struct ModuleAccess;
  explicit Module(std::shared_ptr<const vm::LoadedModule> loaded);
  std::shared_ptr<const vm::LoadedModule> loaded_;
};

}  // namespace scopevm
