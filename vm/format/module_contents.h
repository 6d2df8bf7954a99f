// ModuleContents: everything module.bc holds, as plain structs. The writer turns it into bytes; the
// reader turns bytes back; the text form (dis, asm) prints and parses it. The compiler's last stage
// fills it in.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/value_kind.h"
#include "vm/format/host_kind.h"

namespace scopevm::format {

struct DimensionDecl {
  std::string name;
  int64_t min = 0;
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
};

// A dim in which the elements of a list may differ; as the only one, any number of dims.
inline constexpr char kAnyDim[] = "?";
inline constexpr char kAnyDims[] = "...";

struct TensorDecl {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::string> dims;  // canonical DimExpr text: "n", "48", "floordiv(w-1, 2)+1"
  // Not a tensor: dtype and dims are those of its elements, kAnyDim where they may differ.
  ValueKind kind = ValueKind::kTensor;
  // Whoever reaches this pool reaches the tensor. An input or output of main lies in host memory.
  uint32_t pool = 0;
};

// One line of a function's memory contract. Slots are filled by its shape function.
struct MemoryDecl {
  uint32_t pool = 0;
  std::string what;  // "workspace", or the result's name
  bool is_result = false;
  uint32_t bytes_slot = 0;        // exact bytes of the storage
  uint32_t lower_bound_slot = 0;  // the largest sum of live bytes (is_result: same as bytes_slot)
  std::string formula;            // for people: bytes over the dimensions' names
  bool depends_on_data = false;   // known only during the call; 0 where it does not come to that
};

struct SourceDecl {
  uint32_t word = 0;  // word index of the instruction in `code`
  std::string name;   // the model's ops that it came from
};

struct FunctionDecl {
  std::string name;
  std::vector<TensorDecl> inputs;  // in registers 0 .. at entry; dims are symbols or integers
  std::vector<TensorDecl> outputs;
  std::vector<DimensionDecl> dimensions;
  uint32_t register_count = 0;
  uint32_t slot_count = 0;  // slots that the shape function writes, and any that load_dim adds
  std::vector<uint32_t> code;
  std::vector<MemoryDecl> memory;
  std::vector<SourceDecl> sources;
};

// A native shape function: symbol in every image (ShapeFn). `checks[i]` is the message of check i;
// "{0}" and "{1}" in it stand for slots lhs_slot and rhs_slot, "{2}" and on for more_slots; all are
// written even when it fails.
struct CheckDecl {
  std::string message;
  uint32_t lhs_slot = 0;
  uint32_t rhs_slot = 0;
  std::vector<uint32_t> more_slots;
};
struct ShapeFunctionDecl {
  std::string symbol;
  uint32_t slot_count = 0;
  uint32_t dim_count = 0;  // total rank of the inputs; the thread count follows them
  std::vector<CheckDecl> checks;
};

struct KernelDecl {
  std::string symbol;
  uint32_t buffer_count = 0;
  uint32_t param_count = 0;
  uint32_t device = 0;
};

enum class PoolKind : uint8_t { kHeap = 0, kArena = 1, kStack = 2, kConstant = 3 };

struct DeviceDecl {
  std::string name;
  std::string kind;  // kHostKind, or that of a driver
  // Most work items that a launch runs at once; 0 for a CPU, which has the session's threads.
  int64_t workers = 0;
  // Which device of its kind a session takes that nobody tells another; 0 for a CPU.
  uint32_t number = 0;

  bool is_host() const { return kind == kHostKind; }
};

// A pool of kind stack is the bytes of a CPU's in the frames of calls: they go with their frame, so
// nothing that outlives it refers to them. A parameter whose pool is one may lie in a caller's
// frame.
inline constexpr int64_t kMaxStackBytes = int64_t{1} << 20;  // of one pool in one frame

// At which multiples of bytes a pool's blocks and what is planned in them begin: a power of two.
inline constexpr uint32_t kLeastAlignment = 64, kMostAlignment = 4096;

// What a pool may say of its speed.
inline constexpr double kLeastBytesPerSecond = 1, kMostBytesPerSecond = 1e18;
inline constexpr double kMostLatencySeconds = 3600;

struct PoolDecl {
  std::string scope;
  PoolKind kind = PoolKind::kArena;
  uint32_t device = 0;
  int64_t limit = -1;                 // bytes; of a stack: in one frame
  std::vector<uint32_t> shared_with;  // other devices whose kernels read and write it
  // What the machine description says, for emulation; 0 where it says nothing.
  double bytes_per_second = 0;
  double latency_seconds = 0;
  uint32_t alignment = kLeastAlignment;  // of a stack: the least
  // The device, no CPU, whose driver gives the blocks of this pool of a CPU's, so that it copies
  // from and to them without a way round; -1: none.
  int32_t pinned_for = -1;

  // Whose driver gives its blocks; of a CPU's that is the system.
  uint32_t block_source() const {
    return pinned_for >= 0 ? static_cast<uint32_t>(pinned_for) : device;
  }

  bool has_valid_bandwidth() const {
    return bytes_per_second >= kLeastBytesPerSecond && bytes_per_second <= kMostBytesPerSecond;
  }
  bool has_valid_latency() const {
    return std::isnormal(latency_seconds) && latency_seconds > 0 &&
           latency_seconds <= kMostLatencySeconds;
  }
  bool has_valid_alignment() const {
    return std::has_single_bit(alignment) && alignment >= kLeastAlignment &&
           alignment <= kMostAlignment;
  }
};

// Bytes owned elsewhere: `owner` keeps `data` alive.
struct Bytes {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

// A copy that owns its memory, at an address aligned as in a module file (64 bytes). Empty if there
// is no memory for it.
Bytes aligned_copy(const void* data, uint64_t size);

struct ConstantDecl {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  uint32_t pool = 0;
  Bytes bytes;  // 64-byte aligned in the file
};

struct ImageDecl {
  uint32_t device = 0;                // and all others of its kind
  std::string target_cpu;             // "x86-64-v4"
  std::vector<std::string> features;  // CPU features that must be present, as in /proc/cpuinfo
  Bytes bytes;                        // in the form that devices of the kind load
};

// A function that a call enters in place of `main` when the values of main's dimensions are within
// `dimensions`: those of main, in their order, with bounds of their own.
struct VariantDecl {
  uint32_t function = 0;
  std::vector<DimensionDecl> dimensions;
};

struct ModuleContents {
  std::vector<DeviceDecl> devices;
  std::vector<PoolDecl> pools;
  std::vector<FunctionDecl> functions;  // "main" is the entry
  std::vector<VariantDecl> variants;    // of main: the first that admits a request runs it
  std::vector<ShapeFunctionDecl> shape_functions;
  std::vector<KernelDecl> kernels;
  std::vector<ConstantDecl> constants;
  std::vector<ImageDecl> images;
  std::vector<std::string> messages;  // of `fail`
  // Elements of str constants are indices here. All differ; the first, if there is one, is empty.
  std::vector<std::string> texts;
  std::string producer;  // "scopevm 0.1.0"
};

}  // namespace scopevm::format
