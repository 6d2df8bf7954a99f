// The allocators by name, and their options as text; see make_allocator.h.
#include "runtime/memory/make_allocator.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "runtime/memory/policies/arena_allocator.h"
#include "runtime/memory/policies/direct_allocator.h"
#include "runtime/memory/policies/planned_allocator.h"
#include "runtime/memory/policies/stack_allocator.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "runtime/memory/wrappers.h"
#include "runtime/nearest_name.h"
#include "runtime/parse_size.h"
#include "runtime/without_exceptions.h"

namespace scopevm::runtime {
namespace {

using AllocatorResult = Result<std::shared_ptr<Allocator>>;

Status invalid(std::string_view name, const std::string& what) {
  return {StatusCode::kInvalidArgument, "allocator \"" + std::string(name) + "\": " + what};
}

std::shared_ptr<BlockSource> source_of(const AllocatorOptions& options) {
  return options.source ? options.source : std::make_shared<SystemSource>();
}

// The options that only some allocators have.
enum OptionBits : uint8_t { kNone = 0, kCapacity = 1, kHighFrom = 2, kPages = 4, kPlan = 8 };

// An allocator by name. docs/adding-an-allocator.md describes the steps to add one.
struct Entry {
  std::string_view name;
  int options;          // OptionBits
  bool needs_capacity;  // the option kCapacity is required
  bool has_wrappers;    // a limit and on_exhausted are implemented by wrappers
  std::shared_ptr<Allocator> (*make)(const AllocatorOptions& options);
};

constexpr Entry kEntries[] = {
    {"pool", kCapacity | kPages, false, false,
     [](const AllocatorOptions& options) -> std::shared_ptr<Allocator> {
       return std::make_shared<PoolAllocator>(options);
     }},
    {"arena", kNone, false, true,
     [](const AllocatorOptions& options) -> std::shared_ptr<Allocator> {
       return std::make_shared<ArenaAllocator>(source_of(options), options.alignment);
     }},
    {"stack", kCapacity | kHighFrom, true, true,
     [](const AllocatorOptions& options) -> std::shared_ptr<Allocator> {
       return std::make_shared<StackAllocator>(source_of(options), options.capacity_bytes,
                                               options.alignment, options.high_from_bytes);
     }},
    {"planned", kPlan, false, true,
     [](const AllocatorOptions& options) -> std::shared_ptr<Allocator> {
       return std::make_shared<PlannedAllocator>(source_of(options), options.plan,
                                                 options.alignment);
     }},
    {"direct", kNone, false, true,
     [](const AllocatorOptions& options) -> std::shared_ptr<Allocator> {
       return std::make_shared<DirectAllocator>(source_of(options), options.alignment);
     }},
};

// An option of OptionBits. It must have its default in allocators that do not have it.
struct OptionRow {
  OptionBits bit;
  const char* missing;  // the message
  bool (*is_set)(const AllocatorOptions& options);
};

constexpr OptionRow kOptions[] = {
    {kCapacity, "has no option capacity",
     [](const AllocatorOptions& options) { return options.capacity_bytes >= 0; }},
    {kHighFrom, "has no option high-from",
     [](const AllocatorOptions& options) { return options.high_from_bytes >= 0; }},
    {kPages, "has no options chunk, huge-pages and thread-caches",
     [](const AllocatorOptions& options) {
       const AllocatorOptions defaults;
       return options.chunk_bytes != defaults.chunk_bytes ||
              options.huge_pages != defaults.huge_pages || !options.thread_caches;
     }},
    {kPlan, "has no plan", [](const AllocatorOptions& options) { return !options.plan.empty(); }},
};

Status check(const Entry& entry, const AllocatorOptions& options) {
  constexpr int64_t kMaxAlignment = int64_t{2} << 20;
  const auto is_power = [](int64_t v) { return std::has_single_bit(static_cast<uint64_t>(v)); };
  if (options.alignment < kBlockAlignment || options.alignment > kMaxAlignment ||
      !is_power(options.alignment))
    return invalid(entry.name, "alignment is " + std::to_string(options.alignment) +
                                   ", expected a power of two from 64 to 2097152");
  if (entry.needs_capacity && options.capacity_bytes < 0)
    return invalid(entry.name, "expected a capacity: set capacity_bytes, or \"capacity=\" in text");
  for (const OptionRow& row : kOptions)
    if ((entry.options & row.bit) == 0 && row.is_set(options))
      return invalid(entry.name, row.missing);
  if (options.chunk_bytes < 0) return invalid(entry.name, "chunk is negative");
  for (const PlannedBlock& part : options.plan)
    if (part.bytes < 0 || part.offset < 0 || part.offset % options.alignment != 0 ||
        part.bytes > INT64_MAX - part.offset)
      return invalid(entry.name, "offset " + std::to_string(part.offset) + " of " +
                                     std::to_string(part.bytes) +
                                     " bytes is invalid: offsets are multiples of the alignment");
  return {};
}

AllocatorResult make_entry(const Entry& entry, const AllocatorOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check(entry, options));
  std::shared_ptr<Allocator> allocator = entry.make(options);
  if (entry.has_wrappers && options.limit_bytes >= 0)
    allocator = std::make_shared<LimitingAllocator>(std::move(allocator), options.limit_bytes);
  if (entry.has_wrappers && options.on_exhausted)
    allocator = std::make_shared<RetryingAllocator>(std::move(allocator), options.on_exhausted);
  if (options.sink)
    allocator = std::make_shared<TracingAllocator>(std::move(allocator), options.sink);
  return allocator;
}

// Sets the option of "key=value".
Status set_option(std::string_view name, std::string_view text, AllocatorOptions& options) {
  constexpr std::pair<std::string_view, int64_t AllocatorOptions::*> kSizes[] = {
      {"alignment", &AllocatorOptions::alignment},       {"limit", &AllocatorOptions::limit_bytes},
      {"capacity", &AllocatorOptions::capacity_bytes},   {"chunk", &AllocatorOptions::chunk_bytes},
      {"high-from", &AllocatorOptions::high_from_bytes},
  };
  constexpr std::pair<std::string_view, HugePages> kHugePages[] = {{"auto", HugePages::kAutomatic},
                                                                   {"never", HugePages::kNever},
                                                                   {"always", HugePages::kAlways}};
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  const auto wrong = [&](const std::string& expected) {
    return invalid(name,
                   std::string(key) + " is \"" + std::string(value) + "\", expected " + expected);
  };
  for (const auto& [size_key, member] : kSizes)
    if (key == size_key) {
      const std::optional<int64_t> bytes = parse_size(value);
      if (!bytes) return wrong(std::string("a size, ") + kSizeForms);
      options.*member = *bytes;
      return {};
    }
  if (key == "huge-pages") {
    const auto* choice =
        std::ranges::find(kHugePages, value, &std::pair<std::string_view, HugePages>::first);
    if (choice == std::end(kHugePages)) return wrong("auto, never or always");
    options.huge_pages = choice->second;
    return {};
  }
  if (key == "thread-caches") {
    if (value != "on" && value != "off") return wrong("on or off");
    options.thread_caches = value == "on";
    return {};
  }
  return invalid(name, "has no option \"" + std::string(key) + "\"" +
                           name_suggestion(key, {"alignment", "limit", "capacity", "chunk",
                                                 "high-from", "huge-pages", "thread-caches"}));
}

}  // namespace

std::vector<std::string_view> allocator_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

AllocatorResult make_allocator(std::string_view name, AllocatorOptions options) {
  return without_exceptions([&]() -> AllocatorResult {
    const auto* entry = std::ranges::find(kEntries, name, &Entry::name);
    if (entry == std::end(kEntries)) {
      const std::vector<std::string_view> known = allocator_names();
      return Status(StatusCode::kNotFound, "unknown allocator \"" + std::string(name) + "\"" +
                                               name_suggestion(name, {known.begin(), known.end()}));
    }
    return make_entry(*entry, options);
  });
}

AllocatorResult make_allocator_from_text(std::string_view text, AllocatorOptions options) {
  return without_exceptions([&]() -> AllocatorResult {
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, colon);
    for (size_t at = colon + 1; at < text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      SCOPEVM_RETURN_IF_ERROR(set_option(name, text.substr(at, end - at), options));
      at = end + 1;
    }
    return runtime::make_allocator(name, std::move(options));
  });
}

}  // namespace scopevm::runtime
