// ModuleContents: the contents of a module file as plain structs. The compiler's last stage creates
// it. The writer and the reader convert it to and from bytes. The disassembler and the assembler
// convert it to and from assembly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/formula.h"
#include "scopevm/value_kind.h"
#include "vm/format/schema/entry_name.h"
#include "vm/format/schema/host_kind.h"
#include "vm/format/schema/pool_kind.h"
#include "vm/format/schema/pool_speed.h"
#include "vm/isa/field_values.h"

namespace scopevm::format {

struct DimensionDecl {
  std::string name;
  int64_t min = 0;
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
  bool is_batch = false;  // DimensionSignature::is_batch
};

// kAnyDim: a dim that can differ between the elements of a list. kAnyDims, as the only dim: any
// rank.
inline constexpr char kAnyDim[] = "?";
inline constexpr char kAnyDims[] = "...";

struct TensorDecl {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::string> dims;  // canonical DimExpr syntax: "n", "48", "floordiv(w-1, 2)+1"
  // For a list, dtype and dims are those of its elements, with kAnyDim for dims that can differ.
  ValueKind kind = ValueKind::kTensor;
  // Every device that can access this pool can access the tensor. Inputs and outputs of main are in
  // host memory.
  uint32_t pool = 0;
  // The constant that an input of main is if a call does not set it. -1: none.
  int32_t default_constant = -1;
  // Of an input of main: the output that is its value in the next call of a stream. -1: none.
  int32_t state_output = -1;
  // The state output can have the memory of the input: a call then changes only elements that are
  // not part of the value. Without this, a call changes no input.
  bool is_in_place = false;
};

// One entry of the function's memory bound: a storage, or a group of storages, that a call of the
// function allocates. Shape functions write the two slots.
struct MemoryDecl {
  uint32_t pool = 0;
  std::string what;  // as in MemoryLine: "workspace", the name of a result, "lists", ...
  bool is_result = false;
  uint32_t bytes_slot = 0;        // bytes of the entry
  uint32_t lower_bound_slot = 0;  // largest sum of live bytes
  std::string formula;            // for reports: see MemoryLine::formula
  // The size is known only during a call. The slots are 0 if the call does not allocate the memory.
  bool depends_on_data = false;
};

struct SourceDecl {
  uint32_t word = 0;  // word index of the instruction in `code`
  std::string name;   // the model's ops from which the instruction was compiled
};

struct FunctionDecl {
  std::string name;
  std::vector<TensorDecl> inputs;  // in the first registers at entry; dims as in TensorSignature
  std::vector<TensorDecl> outputs;
  std::vector<DimensionDecl> dimensions;
  uint32_t register_count = 0;
  uint32_t slot_count = 0;  // slots written by the shape function and by instructions
  std::vector<uint32_t> code;
  std::vector<MemoryDecl> memory;
  std::vector<SourceDecl> sources;
  std::vector<FormulaDefinition> definitions;  // of names in the formulas of `memory`
};

// Check i of a shape function. In the message, "{0}" and "{1}" are the values of lhs_slot and
// rhs_slot, and "{2}", "{3}", ... those of more_slots. The shape function writes these slots even
// if the check fails.
struct CheckDecl {
  std::string message;
  uint32_t lhs_slot = 0;
  uint32_t rhs_slot = 0;
  std::vector<uint32_t> more_slots;
};
// A native shape function (ShapeFn). The shape function that ran last in a frame is in effect, and
// so are those that it follows, directly or indirectly.
struct ShapeFunctionDecl {
  std::string symbol;  // exported by every CPU image
  uint32_t slot_count = 0;
  uint32_t dim_count = 0;  // total rank of the inputs; does not count the thread count argument
  std::vector<CheckDecl> checks;
  uint32_t first_slot = 0;  // it writes slots from this one on; instructions write the others
  // The shape function that must be in effect when this one runs, an earlier one of the table. -1:
  // none.
  int32_t follows = -1;
};

// The type of an operand or result of an external function.
struct ExternalTensor {
  DType dtype = DType::kF32;
  uint32_t rank = 0;
};

// A function that a library computes (scopevm/c/external.h). Its buffers are the operands, then the
// results, then the workspace if it has one. Its params are the dims of all operands and results.
struct ExternalDecl {
  std::string library;
  std::string description;  // the JSON object that the library receives
  std::vector<ExternalTensor> operands;
  std::vector<ExternalTensor> results;

  size_t tensor_count() const { return operands.size() + results.size(); }
  // REQUIRES: buffer < tensor_count().
  const ExternalTensor& tensor(size_t buffer) const {
    return buffer < operands.size() ? operands[buffer] : results[buffer - operands.size()];
  }
};

struct KernelDecl {
  std::string symbol;
  uint32_t buffer_count = 0;
  uint32_t param_count = 0;
  uint32_t device = 0;
  std::optional<ExternalDecl> external =
      {};  // set for an external function, which no image defines
};

// A kernel with everything that decides which bytes of its buffers it accesses. Instructions refer
// to an entry and add only the buffers. Every CPU image exports the checksum of these entries
// (vm/format/binary/launch_checksum.h).
struct LaunchDecl {
  uint32_t kernel = 0;
  isa::SlotIndex params;  // the first of the kernel's params
  isa::Int grid;
  isa::Int grain;
  std::vector<isa::Int> bytes;  // by buffer: the bytes that the kernel may access
  uint32_t read_only = 0;       // the kernel only reads that many of its first buffers
  // The shape function that must be in effect: it and those that it follows write the slots above
  // and check the sizes. -1: none, for a launch without slots.
  int32_t shape_function = -1;
};

struct DeviceDecl {
  std::string name;
  std::string kind;  // kHostKind, or the kind of a driver
  // Maximum number of concurrent work items of a launch; 0 for a CPU, which uses the session's
  // threads.
  int64_t workers = 0;
  // The default binding: an ordinal among the devices of this kind. 0 for a CPU.
  uint32_t number = 0;
  // The process of a job that has the device (docs/ranks.md). The ranks are numbered from 0, the
  // rank of the host.
  uint32_t rank = 0;

  bool is_host() const { return kind == kHostKind; }
};

// The maximum of PoolDecl::limit for a stack pool. That limit applies to the bytes in each frame. A
// frame contains and owns the storages that its function allocates from stack pools: references to
// them must not outlive the frame. A parameter in a stack pool can be stored in a caller's frame.
inline constexpr int64_t kMaxStackBytes = int64_t{1} << 20;

inline constexpr size_t kMaxDevices = 256, kMaxPools = 4096;  // of a module
inline constexpr uint32_t kMaxRanks = 256;
// The required feature of modules with devices of several ranks.
inline constexpr std::string_view kRanksFeature = "ranks";

// The range of a pool's alignment. An alignment is a power of two. It applies to the blocks of the
// pool and to the buffers planned in them.
inline constexpr uint32_t kLeastAlignment = 64, kMostAlignment = 4096;

struct PoolDecl {
  std::string scope;
  PoolKind kind = PoolKind::kArena;
  uint32_t device = 0;
  int64_t limit = -1;  // bytes; for a stack pool, per frame; -1: none
  // Other devices whose kernels access the pool. They are of the owner's kind, except that an arena
  // of a CPU can be shared with one device of another kind.
  std::vector<uint32_t> shared_with;
  PoolSpeed speed;  // as far as the machine description gives it; for emulation
  uint32_t alignment = kLeastAlignment;  // kLeastAlignment for a stack pool
  // For pinned memory of a CPU: the non-CPU device whose driver allocates the pool's blocks. Copies
  // between the pool and that device need no staging copy. -1: not pinned.
  int32_t pinned_for = -1;

  bool has_valid_alignment() const {
    return std::has_single_bit(alignment) && alignment >= kLeastAlignment &&
           alignment <= kMostAlignment;
  }
};

// Bytes with shared ownership: `owner` keeps `data` alive.
struct Bytes {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

// Of sections, constants and images in a module file: one cache line.
inline constexpr uint64_t kAlignment = 64;

// Returns a copy in newly allocated memory with the alignment of a module file. Throws
// std::bad_alloc.
Bytes aligned_copy(const void* data, uint64_t size);

struct ConstantDecl {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  uint32_t pool = 0;
  Bytes bytes;  // 64-byte aligned in the file
};

struct ImageDecl {
  std::vector<uint32_t> devices;      // the devices that run the kernels; all of one kind
  std::string target_cpu;             // "x86-64-v4"
  std::vector<std::string> features;  // CPU features that must be present, as in /proc/cpuinfo
  Bytes bytes;                        // in the format that devices of this kind load
  // The calling convention of the image's kernels. Each kind of device has its own numbers. For
  // CPUs: kKernelAbi of include/scopevm/kernel_abi.h.
  uint32_t kernel_abi = 1;

  bool is_for(uint32_t device) const { return std::ranges::find(devices, device) != devices.end(); }
};

// A function that a call enters instead of `main` if the values of main's dimensions are within
// `dimensions`. These are the dimensions of main, in the same order, with narrower bounds.
struct VariantDecl {
  uint32_t function = 0;
  std::vector<DimensionDecl> dimensions;
};

// A section in addition to those of tables, code, constants and images. A module that is read and
// written again keeps it.
struct SectionDecl {
  std::string name;          // see is_section_name() in vm/format/binary/layout.h
  bool is_required = false;  // a reader that does not know the section refuses the module
  Bytes bytes;               // 64-byte aligned in the file
};

struct ModuleContents {
  std::vector<DeviceDecl> devices;
  std::vector<PoolDecl> pools;
  std::vector<FunctionDecl> functions;
  std::vector<VariantDecl> variants;  // of main; a call enters the first that admits its dims
  std::vector<ShapeFunctionDecl> shape_functions;
  std::vector<KernelDecl> kernels;
  std::vector<LaunchDecl> launches;
  std::vector<ConstantDecl> constants;
  std::vector<ImageDecl> images;
  std::vector<std::string> messages;  // of `fail` instructions
  // The string table: elements of str constants are indices into it. The strings are distinct; the
  // first one, if any, is empty.
  std::vector<std::string> strings;
  std::string producer;  // "scopevm 0.1.0"
  // A reader that lacks one of these refuses the module (kKnownFeatures in
  // vm/format/binary/layout.h).
  std::vector<std::string> required_features;
  std::vector<SectionDecl> sections;  // their names are distinct

  // The entry: the function kEntryName. Null if there is none.
  const FunctionDecl* main() const {
    const auto found = std::ranges::find(functions, kEntryName, &FunctionDecl::name);
    return found == functions.end() ? nullptr : &*found;
  }
  // The device that runs the VM: the first CPU. REQUIRES: a device is a CPU.
  uint32_t host_device() const {
    return static_cast<uint32_t>(std::ranges::find_if(devices, &DeviceDecl::is_host) -
                                 devices.begin());
  }
  // The number of processes that a job with the module has.
  uint32_t ranks() const {
    return devices.empty() ? 1 : std::ranges::max(devices, {}, &DeviceDecl::rank).rank + 1;
  }
  // The rank of the device that has the pool.
  uint32_t rank_of(uint32_t pool) const { return devices[pools[pool].device].rank; }
  // The non-CPU device whose kernels access this pool of a CPU; none for other pools.
  std::optional<uint32_t> sharing_device(const PoolDecl& pool) const {
    if (!devices[pool.device].is_host()) return std::nullopt;
    const auto found = std::ranges::find_if(
        pool.shared_with, [&](uint32_t device) { return !devices[device].is_host(); });
    return found == pool.shared_with.end() ? std::nullopt : std::optional(*found);
  }
  // The device whose driver allocates the pool's blocks. If it is a CPU, the operating system
  // allocates them.
  uint32_t block_source(const PoolDecl& pool) const {
    if (pool.pinned_for >= 0) return static_cast<uint32_t>(pool.pinned_for);
    return sharing_device(pool).value_or(pool.device);
  }
  // Whether an image has kernels for the device with this index.
  bool has_image(uint32_t device) const {
    return std::ranges::any_of(images,
                               [&](const ImageDecl& image) { return image.is_for(device); });
  }
};

}  // namespace scopevm::format
