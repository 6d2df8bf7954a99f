// A recording of one run: what `scopevm run --record` writes and `scopevm replay` reads.
// docs/debugging.md describes the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tools/execution/tensor_digest.h"
#include "tools/tensors/named_value.h"

namespace scopevm::tool {

struct RecordedLaunch {
  int64_t position = 0;  // the number of instructions that were executed before it
  std::string function;  // of the module
  uint32_t word = 0;     // pc in the function
  std::string name;      // the kernel, the external function, or the opcode
  std::string op;        // the model's ops from which it was compiled
  std::vector<TensorDigest> outputs;
  std::vector<Tensor> tensors;  // by output, if the recording contains tensors; else empty
};

struct Recording {
  uint64_t module_digest = 0;
  std::string module;    // the path that was given
  std::string producer;  // of the module
  int threads = 1;
  bool is_emulated = false;
  std::vector<DeviceBinding> devices;
  std::vector<ScopeLimit> memory_limits;
  std::vector<std::string> external_libraries;  // as in `scopevm run --external`
  std::string error;                            // of the call; empty: it has succeeded
  std::vector<NamedValue> inputs;               // those that were set
  std::vector<RecordedLaunch> launches;
  std::vector<NamedValue> results;  // none if the call has failed
};

// The bytes of a file. Throws std::bad_alloc.
std::vector<uint8_t> write_recording(const Recording& recording);

// Tensors refer to copies of the bytes. Errors: kInvalidArgument (not a recording, a truncated or
// damaged file, invalid contents), kUnsupported (another version), kOutOfMemory.
Result<Recording> read_recording(std::span<const uint8_t> file);

}  // namespace scopevm::tool
