// Allocators by name, with plans from files; see allocator_option.h.
#include "tools/scopevm/commands/run/allocator_option.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/plan.h"
#include "tools/files/file.h"

namespace scopevm::tool {
namespace {

constexpr std::string_view kPlanned = "planned";
constexpr std::string_view kPlanOption = "plan=";

// Removes the option plan=FILE from the options of "planned:...", and returns FILE. Empty: none.
std::string take_plan_option(std::string& text) {
  if (!text.starts_with(std::string(kPlanned) + ":")) return {};
  for (size_t at = kPlanned.size() + 1; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (std::string_view(text).substr(at).starts_with(kPlanOption)) {
      std::string file = text.substr(at + kPlanOption.size(), end - at - kPlanOption.size());
      text.erase(at, end + 1 - at);
      return file;
    }
    at = end + 1;
  }
  return {};
}

// The blocks of a plan in the order in which a program allocates them: ascending first steps, and
// the order of the file for equal ones.
Result<std::vector<PlannedBlock>> read_plan(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  const Result<plan::PlannedProblem> parsed =
      plan::parse_plan_csv({reinterpret_cast<const char*>(file.data), file.size});
  if (!parsed.ok()) return Status(parsed.status()).with_context(input_name(path));
  const std::vector<plan::Buffer>& buffers = parsed->problem.buffers;
  if (parsed->problem.pools.size() > 1)
    return Status(StatusCode::kInvalidArgument,
                  input_name(path) + ": the plan has several pools, expected one");
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return buffers[i].lifespans.front().lower; });
  std::vector<PlannedBlock> blocks;
  for (const size_t i : order) blocks.push_back({parsed->plan.offsets[i], buffers[i].size});
  return blocks;
}

}  // namespace

Result<ScopeAllocator> parse_scope_allocator(const std::string& scope, const std::string& text) {
  std::string options = text;
  AllocatorOptions base;
  if (const std::string file = take_plan_option(options); !file.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(base.plan, read_plan(file));
  } else if (text == kPlanned || text.starts_with(std::string(kPlanned) + ":")) {
    return Status(StatusCode::kInvalidArgument,
                  "allocator \"planned\": expected a plan: planned:plan=FILE.csv");
  }
  // Reports errors before a device is opened.
  SCOPEVM_RETURN_IF_ERROR(make_allocator_from_text(options, base).status());
  return ScopeAllocator{
      .scope = scope,
      .allocator = nullptr,
      .make = [options, base](std::shared_ptr<BlockSource> source, int64_t alignment) {
        AllocatorOptions of_pool = base;
        of_pool.source = std::move(source);
        of_pool.alignment = alignment;
        return make_allocator_from_text(options, std::move(of_pool));
      }};
}

}  // namespace scopevm::tool
