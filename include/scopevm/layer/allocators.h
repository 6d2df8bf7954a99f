// Allocators of the library as objects of C++, and those of the program as handles of the C API;
// the functions of scopevm/allocators.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/layer/status.h"

namespace scopevm {

namespace layer {

inline AllocatorStats to_cpp(const scopevm_allocator_stats& c) {
  return {c.live_bytes,     c.peak_bytes,     c.cached_bytes,       c.allocations,
          c.reserved_bytes, c.upstream_calls, c.largest_free_bytes, c.rounding_bytes};
}

// An allocator of the library.
class LibraryAllocator final : public Allocator {
 public:
  // Takes ownership of the handle.
  explicit LibraryAllocator(scopevm_allocator* handle) : handle_(handle) {}
  ~LibraryAllocator() override { scopevm_allocator_free(handle_); }

  void* allocate(int64_t bytes) override { return scopevm_allocator_allocate(handle_, bytes); }
  void deallocate(void* block, int64_t bytes) override {
    scopevm_allocator_deallocate(handle_, block, bytes);
  }
  AllocatorStats stats() const override {
    scopevm_allocator_stats c{};
    c.struct_size = sizeof c;
    scopevm_status_free(scopevm_allocator_read_stats(handle_, &c));
    return to_cpp(c);
  }
  void trim() override { scopevm_status_free(scopevm_allocator_trim(handle_)); }
  std::string describe_failure(int64_t bytes) const override {
    const Status status = take(scopevm_allocator_describe_failure(handle_, bytes));
    try {
      return std::string(status.message());
    } catch (...) {
      return {};
    }
  }
  Result<AllocatorSnapshot> snapshot() const override {
    return guarded([&]() -> Result<AllocatorSnapshot> {
      scopevm_memory_snapshot* made = nullptr;
      SCOPEVM_RETURN_IF_ERROR(take(scopevm_memory_snapshot_create(handle_, &made)));
      const std::unique_ptr<scopevm_memory_snapshot, void (*)(scopevm_memory_snapshot*)> owner(
          made, scopevm_memory_snapshot_free);
      AllocatorSnapshot out;
      SCOPEVM_RETURN_IF_ERROR(copy_ranges(made, scopevm_memory_snapshot_live, out.live));
      SCOPEVM_RETURN_IF_ERROR(copy_ranges(made, scopevm_memory_snapshot_unused, out.free));
      return out;
    });
  }
  const scopevm_allocator* c_allocator() const override { return handle_; }

 private:
  template <typename Read>
  static Status copy_ranges(const scopevm_memory_snapshot* from, const Read& read,
                            std::vector<MemoryRange>& to) {
    const scopevm_memory_range* ranges = nullptr;
    size_t count = 0;
    SCOPEVM_RETURN_IF_ERROR(take(read(from, &ranges, &count)));
    to.reserve(count);
    for (size_t i = 0; i < count; ++i) to.push_back({ranges[i].address, ranges[i].bytes});
    return {};
  }

  scopevm_allocator* const handle_;
};

// The source of a pool.
class LibrarySource final : public BlockSource {
 public:
  // Takes ownership of the handle.
  explicit LibrarySource(scopevm_block_source* handle) : handle_(handle) {}
  ~LibrarySource() override { scopevm_block_source_free(handle_); }
  void* allocate(int64_t bytes, int64_t alignment) override {
    return scopevm_block_source_allocate(handle_, bytes, alignment);
  }
  void deallocate(void* block, int64_t bytes) override {
    scopevm_block_source_deallocate(handle_, block, bytes);
  }

 private:
  scopevm_block_source* const handle_;
};

// Takes ownership of the handle, also on failure.
inline std::shared_ptr<Allocator> adopt_allocator(scopevm_allocator* handle) {
  std::unique_ptr<scopevm_allocator, void (*)(scopevm_allocator*)> owner(handle,
                                                                         scopevm_allocator_free);
  auto adopted = std::make_shared<LibraryAllocator>(handle);
  (void)owner.release();
  return adopted;
}

// The functions of an allocator of the program. Their context is a shared pointer to it.
struct AllocatorCalls {
  using Owner = std::shared_ptr<Allocator>;
  static Allocator& of(void* context) { return **static_cast<Owner*>(context); }
  static void* allocate(void* context, int64_t bytes) noexcept try {
    return of(context).allocate(bytes);
  } catch (...) {
    return nullptr;
  }
  static void deallocate(void* context, void* block, int64_t bytes) noexcept {
    of(context).deallocate(block, bytes);
  }
  static void stats(void* context, scopevm_allocator_stats* out) noexcept {
    const AllocatorStats stats = of(context).stats();
    scopevm_allocator_stats c = {
        out->struct_size,     stats.live_bytes,         stats.peak_bytes,
        stats.cached_bytes,   stats.allocations,        stats.reserved_bytes,
        stats.upstream_calls, stats.largest_free_bytes, stats.rounding_bytes};
    std::memcpy(out, &c, std::min(out->struct_size, sizeof c));
  }
  static void trim(void* context) noexcept { of(context).trim(); }
  static void release(void* context) noexcept { delete static_cast<Owner*>(context); }
  static size_t describe_failure(void* context, int64_t bytes, char* text, size_t capacity) noexcept
      try {
    const std::string description = of(context).describe_failure(bytes);
    if (capacity == 0) return description.size();
    const size_t copied = std::min(description.size(), capacity - 1);
    std::memcpy(text, description.data(), copied);
    text[copied] = 0;
    return description.size();
  } catch (...) {
    return 0;
  }
};

// A new handle of an allocator. REQUIRES: it is not null.
inline Result<scopevm_allocator*> handle_of(std::shared_ptr<Allocator> allocator) {
  scopevm_allocator* handle = nullptr;
  if (const scopevm_allocator* const known = allocator->c_allocator()) {
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_allocator_copy(known, &handle)));
    return handle;
  }
  auto context = std::make_unique<AllocatorCalls::Owner>(std::move(allocator));
  const scopevm_allocator_functions functions = {
      sizeof functions,         context.get(),
      AllocatorCalls::allocate, AllocatorCalls::deallocate,
      AllocatorCalls::stats,    AllocatorCalls::trim,
      AllocatorCalls::release,  AllocatorCalls::describe_failure};
  SCOPEVM_RETURN_IF_ERROR(take(scopevm_allocator_create_from(&functions, &handle)));
  (void)context.release();
  return handle;
}

// The functions of the options of an allocator. Their context is a copy of the options.
struct OptionCalls {
  static AllocatorOptions& of(void* context) { return *static_cast<AllocatorOptions*>(context); }
  static void* allocate(void* context, int64_t bytes, int64_t alignment) noexcept try {
    return of(context).source->allocate(bytes, alignment);
  } catch (...) {
    return nullptr;
  }
  static void deallocate(void* context, void* block, int64_t bytes) noexcept {
    of(context).source->deallocate(block, bytes);
  }
  static int on_exhausted(void* context, int64_t bytes) noexcept {
    return of(context).on_exhausted(bytes) ? 1 : 0;
  }
  static void sink(void* context, const scopevm_allocator_event* event) noexcept {
    of(context).sink({static_cast<AllocatorEvent::Kind>(event->kind), event->block, event->bytes});
  }
  static void release(void* context) noexcept { delete static_cast<AllocatorOptions*>(context); }
};

// The text of the allocator `name` whose options differ from their defaults.
inline std::string text_of(std::string_view name, const AllocatorOptions& options) {
  const AllocatorOptions defaults;
  std::string text(name);
  char before = ':';
  const auto add = [&](const char* key, const std::string& value) {
    text.append(1, before).append(key).append("=").append(value);
    before = ',';
  };
  if (options.alignment != defaults.alignment) add("alignment", std::to_string(options.alignment));
  if (options.limit_bytes >= 0) add("limit", std::to_string(options.limit_bytes));
  if (options.capacity_bytes >= 0) add("capacity", std::to_string(options.capacity_bytes));
  if (options.chunk_bytes != defaults.chunk_bytes)
    add("chunk", std::to_string(options.chunk_bytes));
  if (options.high_from_bytes >= 0) add("high-from", std::to_string(options.high_from_bytes));
  if (options.huge_pages != defaults.huge_pages)
    add("huge-pages", options.huge_pages == HugePages::kNever ? "never" : "always");
  if (!options.thread_caches) add("thread-caches", "off");
  return text;
}

inline Result<std::shared_ptr<Allocator>> make_allocator(const std::string& text,
                                                         AllocatorOptions options) {
  auto context = std::make_unique<AllocatorOptions>(std::move(options));
  std::vector<scopevm_planned_block> plan;
  for (const PlannedBlock& block : context->plan) plan.push_back({block.offset, block.bytes});
  scopevm_allocator_options c{};
  c.struct_size = sizeof c;
  c.context = context.get();
  if (context->source != nullptr) {
    c.source_allocate = OptionCalls::allocate;
    c.source_deallocate = OptionCalls::deallocate;
  }
  if (context->on_exhausted) c.on_exhausted = OptionCalls::on_exhausted;
  c.plan = plan.data();
  c.plan_count = plan.size();
  if (context->sink) c.sink = OptionCalls::sink;
  c.release = OptionCalls::release;
  scopevm_allocator* handle = nullptr;
  SCOPEVM_RETURN_IF_ERROR(take(scopevm_allocator_create(text.c_str(), &c, &handle)));
  (void)context.release();
  return adopt_allocator(handle);
}

}  // namespace layer

inline std::vector<std::string> allocator_names() {
  std::vector<std::string> names;
  for (size_t i = 0; const char* name = scopevm_allocator_name(i); ++i) names.emplace_back(name);
  return names;
}

inline Result<std::shared_ptr<Allocator>> make_allocator(std::string_view name,
                                                         AllocatorOptions options) {
  return layer::guarded([&]() -> Result<std::shared_ptr<Allocator>> {
    const std::string text = layer::text_of(name, options);
    return layer::make_allocator(text, std::move(options));
  });
}

inline Result<std::shared_ptr<Allocator>> make_allocator_from_text(std::string_view text,
                                                                   AllocatorOptions options) {
  return layer::guarded([&]() -> Result<std::shared_ptr<Allocator>> {
    const size_t colon = std::min(text.find(':'), text.size());
    // Options of the text come last, because they replace those of `options`.
    std::string whole = layer::text_of(text.substr(0, colon), options);
    if (colon + 1 < text.size())
      whole.append(whole.size() == colon ? ":" : ",").append(text.substr(colon + 1));
    return layer::make_allocator(whole, std::move(options));
  });
}

inline std::shared_ptr<BlockSource> make_source(
    std::function<void*(int64_t bytes, int64_t alignment)> allocate,
    std::function<void(void* block, int64_t bytes)> deallocate) {
  class FunctionSource final : public BlockSource {
   public:
    FunctionSource(std::function<void*(int64_t, int64_t)> allocates,
                   std::function<void(void*, int64_t)> deallocates)
        : allocate_(std::move(allocates)), deallocate_(std::move(deallocates)) {}
    void* allocate(int64_t bytes, int64_t alignment) override {
      return allocate_(bytes, alignment);
    }
    void deallocate(void* block, int64_t bytes) override { deallocate_(block, bytes); }

   private:
    const std::function<void*(int64_t, int64_t)> allocate_;
    const std::function<void(void*, int64_t)> deallocate_;
  };
  return std::make_shared<FunctionSource>(std::move(allocate), std::move(deallocate));
}

}  // namespace scopevm
