// The frame stack, a list of chunks; see frame.h.
#include "vm/run/frame/frame.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace scopevm::vm {
namespace {

// The minimum size of a chunk in bytes: a few frames of a typical model.
constexpr size_t kMinChunk = size_t{64} << 10;

}  // namespace

// Each chunk is a stack, because frames are popped in LIFO order. A frame that does not fit into
// the current chunk is allocated in the next chunk. An empty chunk that is too small is replaced by
// a larger one.
std::byte* FrameStack::take_from_next_chunk(size_t bytes) {
  size_t index = chunk_;
  // An empty chunk is replaced below instead.
  if (!chunks_.empty() && chunks_[index].used > 0) ++index;
  if (index == chunks_.size()) chunks_.emplace_back();
  Chunk& chunk = chunks_[index];
  if (chunk.size - chunk.used < bytes) {
    const size_t size = std::max(bytes, kMinChunk);
    auto* made = static_cast<std::byte*>(
        ::operator new(size, std::align_val_t{kFrameAlignment}, std::nothrow));
    if (made == nullptr) return nullptr;
    chunk.bytes.reset(made);
    chunk.size = size;
  }
  // Set last, so that a failure above leaves the stack unchanged.
  chunk_ = index;
  return chunk.take(bytes);
}

Status FrameStack::push(const LoadedFunction& function) {
  const FrameLayout& layout = function.layout;
  if (layout.bytes > kMaxBytes - used_)
    return {StatusCode::kResourceLimit, function.decl->name +
                                            ": the frames of nested calls exceed " +
                                            std::to_string(kMaxBytes) + " bytes"};
  // Reserved first: a failure after take() would leave the frame's bytes in use.
  if (frames_.size() == frames_.capacity()) frames_.reserve(2 * frames_.size() + 1);
  std::byte* memory = take(layout.bytes);
  if (memory == nullptr)
    return {StatusCode::kOutOfMemory, function.decl->name + ": cannot allocate a frame of " +
                                          std::to_string(layout.bytes) + " bytes"};
  used_ += layout.bytes;
  Frame& frame = frames_.emplace_back();
  frame.function = &function;
  // The parts have the offsets that layout_of() computed (vm/load/loaded_module.cpp).
  frame.registers = reinterpret_cast<Register*>(memory);
  frame.dims = reinterpret_cast<int64_t*>(memory + layout.dims_offset);
  frame.slots = reinterpret_cast<int64_t*>(memory + layout.slots_offset);
  frame.buffers = reinterpret_cast<void**>(memory + layout.buffers_offset);
  frame.shape_dims = reinterpret_cast<int64_t*>(memory + layout.shape_dims_offset);
  frame.stack = memory + layout.stack_offset;
  frame.dims_per_register = layout.dims_per_register;
  // All-zero bytes are empty registers.
  std::memset(memory, 0, layout.dims_offset);
  return {};
}

void FrameStack::pop() {
  const size_t bytes = frames_.back().function->layout.bytes;
  used_ -= bytes;
  chunks_[chunk_].used -= bytes;
  frames_.pop_back();
  if (chunks_[chunk_].used == 0 && chunk_ > 0) --chunk_;
}

bool FrameStack::holds(const std::byte* byte) const {
  return std::ranges::any_of(chunks_, [&](const Chunk& chunk) {
    return byte >= chunk.bytes.get() && byte < chunk.bytes.get() + chunk.size;
  });
}

std::string FrameStack::chain() const {
  constexpr size_t kFirst = 4, kLast = 2;
  std::string text;
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (i == kFirst && frames_.size() > kFirst + kLast + 1) {
      i = frames_.size() - kLast;
      text += " > ... (" + std::to_string(i - kFirst) + " more)";
    }
    text += (i == 0 ? "" : " > ") + frames_[i].function->decl->name;
  }
  return text;
}

}  // namespace scopevm::vm
