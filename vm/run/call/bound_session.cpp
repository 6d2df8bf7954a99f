// Binds pools, limits, devices and the executor of a session; see bound_session.h.
#include "vm/run/call/bound_session.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/cpu/parallel.h"
#include "runtime/log.h"
#include "runtime/memory/policies/arena_allocator.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "runtime/nearest_name.h"
#include "vm/run/admission/capacity_names.h"
#include "vm/run/admission/scheduler_handle.h"
#include "vm/run/bound/bound.h"
#include "vm/run/frame/allocation.h"

namespace scopevm::vm {
namespace {

using runtime::count_text;

std::shared_ptr<Allocator> default_allocator(const format::ModuleContents& contents,
                                             const format::PoolDecl& pool,
                                             const BoundDevices& devices) {
  using runtime::ArenaAllocator;
  if (std::shared_ptr<BlockSource> source = devices.block_source(contents, pool))
    return std::make_shared<ArenaAllocator>(std::move(source), pool.alignment);
  if (pool.kind == format::PoolKind::kHeap)
    return std::make_shared<runtime::PoolAllocator>(AllocatorOptions{.alignment = pool.alignment});
  return std::make_shared<ArenaAllocator>(pool.alignment);
}

// The qualified name of a pool: "npu.global.workspace".
std::string name_of(const format::ModuleContents& contents, const format::PoolDecl& pool) {
  return contents.devices[pool.device].name + "." + pool.scope;
}

Result<std::shared_ptr<Allocator>> wrapped(const SessionOptions& options,
                                           const format::ModuleContents& contents,
                                           const format::PoolDecl& pool,
                                           std::shared_ptr<Allocator> allocator) {
  std::shared_ptr<Allocator> wrapper =
      options.wrap_allocator(contents.devices[pool.device].name, pool.scope, std::move(allocator));
  if (wrapper != nullptr) return wrapper;
  return Status(
      StatusCode::kInvalidArgument,
      "wrap_allocator returned no allocator for memory scope \"" + name_of(contents, pool) + "\"");
}

// For each pool: whether `scope`, from a session option, denotes the pool. "global" denotes the
// pools "global" of all devices. "npu.global" denotes only that of device npu.
std::vector<bool> pools_named(const format::ModuleContents& contents, const std::string& scope) {
  std::vector<bool> named;
  for (const format::PoolDecl& pool : contents.pools)
    named.push_back(scope == pool.scope || scope == name_of(contents, pool));
  return named;
}

// What a pool without allocated blocks contains; null for other pools.
const char* content_without_blocks(format::PoolKind kind) {
  if (kind == format::PoolKind::kStack) return "only values in the frames of calls";
  if (kind == format::PoolKind::kConstant) return "only constants of the module";
  return nullptr;
}

std::vector<std::string> qualified_names(const format::ModuleContents& contents) {
  std::vector<std::string> names;
  for (const format::PoolDecl& pool : contents.pools) names.push_back(name_of(contents, pool));
  return names;
}

Status check_scope(const format::ModuleContents& contents, const std::string& scope) {
  const std::vector<bool> named = pools_named(contents, scope);
  if (std::ranges::find(named, true) != named.end()) return {};
  std::vector<std::string> known = qualified_names(contents);
  for (const format::PoolDecl& pool : contents.pools) known.push_back(pool.scope);
  return {StatusCode::kInvalidArgument, "the module has no memory scope \"" + scope + "\"" +
                                            runtime::name_suggestion(scope, known)};
}

// Checks that the constants of each pool fit its limit. They occupy memory as long as the session
// exists.
Status check_constants(const format::ModuleContents& contents, const std::vector<int64_t>& limits) {
  std::vector<uint64_t> held(limits.size(), 0);
  for (const format::ConstantDecl& constant : contents.constants)
    held[constant.pool] += constant.bytes.size;
  for (size_t i = 0; i < limits.size(); ++i)
    if (limits[i] >= 0 && held[i] > static_cast<uint64_t>(limits[i]))
      return {StatusCode::kResourceLimit,
              contents.devices[contents.pools[i].device].name + " " + contents.pools[i].scope +
                  ": constants of " + count_text(held[i], "byte") + " exceed the limit of " +
                  count_text(limits[i], "byte")};
  return {};
}

// The size of a region for a call that needs `bytes` in a pool: each block of the call and of the
// functions that it calls is rounded up to the pool's alignment. Not 0, because a call can have
// blocks of 0 bytes in any pool.
int64_t region_bytes(const LoadedModule& module, uint32_t pool, int64_t bytes) {
  int64_t blocks = 1;
  for (const format::FunctionDecl& function : module.contents().functions)
    blocks += std::ranges::count(function.memory, pool, &format::MemoryDecl::pool);
  const int64_t rounding = blocks * module.contents().pools[pool].alignment;
  return std::min(bytes, std::numeric_limits<int64_t>::max() - rounding) + rounding;
}

}  // namespace

Result<std::shared_ptr<BoundSession>> BoundSession::create(
    std::shared_ptr<const LoadedModule> module, SessionOptions options,
    const DeviceOpener& opener) {
  std::shared_ptr<BoundSession> session(new BoundSession);
  session->module_ = std::move(module);
  SCOPEVM_RETURN_IF_ERROR(session->module_->check_rank(options.transport));
  SCOPEVM_ASSIGN_OR_RETURN(session->kernels_, session->module_->kernels());
  if (options.transport != nullptr) SCOPEVM_RETURN_IF_ERROR(session->bind_ranks(options.transport));
  SCOPEVM_RETURN_IF_ERROR(session->devices_.open(*session->module_, options.devices,
                                                 options.time_devices, opener, session->ranks()));
  SCOPEVM_RETURN_IF_ERROR(session->bind_pools(options));
  SCOPEVM_RETURN_IF_ERROR(session->bind_scheduler(options));
  SCOPEVM_RETURN_IF_ERROR(
      session->externals_.create(session->module_->contents(), options.external_libraries));
  if (options.emulate) {
    if (!can_be_emulated(session->module_->contents()))
      return Status(StatusCode::kInvalidArgument,
                    "nothing to emulate: the module has no pool with a bandwidth or "
                    "latency; compile it for a machine that defines them");
    session->emulation_ = std::make_unique<const Emulation>(session->module_->contents());
  }
  if (!options.executor && options.threads > runtime::kMaxThreads)
    return Status(StatusCode::kInvalidArgument, std::to_string(options.threads) +
                                                    " threads, expected at most " +
                                                    std::to_string(runtime::kMaxThreads));
  session->executor_ = options.executor
                           ? std::move(options.executor)
                           : runtime::make_default_executor(
                                 options.threads, session->scheduler_ ? session->scheduler_->cpus()
                                                                      : runtime::CpuSet());
  session->threads_ = session->executor_->threads();
  if (session->threads_ < 1)
    return Status(
        StatusCode::kInvalidArgument,
        "the executor has " + std::to_string(session->threads_) + " threads, expected at least 1");
  return session;
}

// The kernels of this rank's CPUs run here.
Status BoundSession::bind_ranks(const scopevm_transport* transport) {
  const format::ModuleContents& contents = module_->contents();
  SCOPEVM_ASSIGN_OR_RETURN(
      ranks_, RankGroup::create(transport, static_cast<int>(contents.ranks()), module_->digest()));
  own_kernels_ = kernels_->kernels;
  for (size_t i = 0; i < own_kernels_.size(); ++i)
    if (std::cmp_not_equal(contents.devices[contents.kernels[i].device].rank, ranks_->rank()))
      own_kernels_[i] = nullptr;
  for (uint32_t i = 0; i < contents.pools.size(); ++i)
    rank_of_pool_.push_back(static_cast<int>(contents.rank_of(i)));
  return {};
}

bool BoundSession::has_inputs_on_ranks() const {
  const std::vector<format::TensorDecl>& inputs = module_->main().decl->inputs;
  return ranks_ != nullptr && std::ranges::any_of(inputs, [&](const format::TensorDecl& input) {
           return rank_of_pool_[input.pool] != 0;
         });
}

Status BoundSession::bind_pools(const SessionOptions& options) {
  const format::ModuleContents& contents = module_->contents();
  std::vector<std::shared_ptr<Allocator>> allocators(contents.pools.size());
  for (const ScopeAllocator& binding : options.allocators)
    SCOPEVM_RETURN_IF_ERROR(bind_allocator(binding, allocators));
  std::vector<int64_t> limits;
  // The limit of a stack pool applies to each frame, and the verifier has checked it.
  for (const format::PoolDecl& pool : contents.pools)
    limits.push_back(pool.kind == format::PoolKind::kStack ? -1 : pool.limit);
  for (const ScopeLimit& limit : options.memory_limits) {
    SCOPEVM_RETURN_IF_ERROR(check_scope(contents, limit.scope));
    if (limit.bytes < 0)
      return {StatusCode::kInvalidArgument, "the limit of memory scope \"" + limit.scope +
                                                "\" is " + count_text(limit.bytes, "byte") +
                                                ", expected at least 0"};
    const std::vector<bool> named = pools_named(contents, limit.scope);
    for (size_t i = 0; i < named.size(); ++i)
      // A negative limit of a pool means no limit.
      if (named[i]) limits[i] = limits[i] < 0 ? limit.bytes : std::min(limits[i], limit.bytes);
  }
  SCOPEVM_RETURN_IF_ERROR(check_constants(contents, limits));
  for (size_t i = 0; i < contents.pools.size(); ++i) {
    const format::PoolDecl& pool = contents.pools[i];
    const runtime::Device* device = devices_.device(pool.device).get();
    if (device != nullptr && device->block_alignment() < pool.alignment)
      return {StatusCode::kUnsupported, name_of(contents, pool) + " requires an alignment of " +
                                            std::to_string(pool.alignment) + " bytes, but " +
                                            std::string(device->description()) + " aligns to " +
                                            count_text(device->block_alignment(), "byte")};
    if (allocators[i] == nullptr) allocators[i] = default_allocator(contents, pool, devices_);
    if (options.wrap_allocator) {
      SCOPEVM_ASSIGN_OR_RETURN(allocators[i],
                               wrapped(options, contents, pool, std::move(allocators[i])));
    }
    pools_.push_back(std::make_shared<runtime::ScopeMemory>(contents.devices[pool.device].name,
                                                            pool.scope, std::move(allocators[i]),
                                                            limits[i], pool.alignment));
  }
  // Constants reduce the memory that a pool has for calls. hold() cannot fail, because
  // check_constants() has compared the constants with the limits.
  for (const format::ConstantDecl& constant : contents.constants)
    if (contents.pools[constant.pool].kind != format::PoolKind::kConstant)
      pools_[constant.pool]->hold(static_cast<int64_t>(constant.bytes.size));
  return {};
}

Status BoundSession::bind_scheduler(const SessionOptions& options) {
  const format::ModuleContents& contents = module_->contents();
  scheduled_pools_.resize(contents.pools.size());
  if (!options.scheduler) return {};
  const std::shared_ptr<CallScheduler>& scheduler = options.scheduler->c_scheduler()->scheduler;
  SCOPEVM_RETURN_IF_ERROR(
      check_capacity_names(scheduler->stats().pools, qualified_names(contents)));
  for (size_t i = 0; i < contents.pools.size(); ++i) {
    const std::optional<uint32_t> index =
        scheduler->find_pool(name_of(contents, contents.pools[i]));
    if (!index) continue;
    Need& need = scheduled_pools_[i].emplace();
    need.pool = *index;
    need.user = scheduler->add_user(*index, pools_[i]);
    pools_[i]->set_release_hook([scheduler, need](int64_t bytes) {
      Need released = need;  // a copy, because threads can release storages at once
      released.bytes = bytes;
      scheduler->release(released);
    });
    int64_t bytes = 0;
    for (const format::ConstantDecl& constant : contents.constants)
      if (constant.pool == i && contents.pools[i].kind != format::PoolKind::kConstant)
        bytes += static_cast<int64_t>(constant.bytes.size);
    if (bytes > 0) held_.emplace_back(need).bytes = bytes;
  }
  if (Status held = scheduler->hold(held_, "constants"); !held.ok()) {
    held_.clear();
    return held;
  }
  scheduler_ = scheduler;
  return {};
}

BoundSession::~BoundSession() {
  for (const Need& need : held_) scheduler_->release(need);
  delete last_returned_.load(std::memory_order_relaxed);
}

Result<std::vector<bool>> BoundSession::pools_of(const std::string& scope) const {
  SCOPEVM_RETURN_IF_ERROR(check_scope(module_->contents(), scope));
  return pools_named(module_->contents(), scope);
}

Status BoundSession::bind_allocator(const ScopeAllocator& binding,
                                    std::vector<std::shared_ptr<Allocator>>& allocators) const {
  const format::ModuleContents& contents = module_->contents();
  SCOPEVM_RETURN_IF_ERROR(check_scope(contents, binding.scope));
  const std::vector<bool> named = pools_named(contents, binding.scope);
  bool is_bound = false;
  for (size_t i = 0; i < named.size(); ++i) {
    // A scope without a device prefix denotes pools of all devices. Only pools in host memory can
    // use the caller's allocator, unless another device accesses them too.
    const bool is_host = devices_.of_pool(static_cast<uint32_t>(i)) == nullptr &&
                         !contents.sharing_device(contents.pools[i]);
    if (!named[i] || (binding.allocator != nullptr && !is_host)) continue;
    if (const char* content = content_without_blocks(contents.pools[i].kind); content != nullptr)
      return {StatusCode::kInvalidArgument, "memory scope \"" +
                                                name_of(contents, contents.pools[i]) +
                                                "\" takes no allocator: it contains " + content};
    if (allocators[i] != nullptr)
      return {StatusCode::kInvalidArgument,
              "memory scope \"" + name_of(contents, contents.pools[i]) + "\" has two allocators"};
    SCOPEVM_ASSIGN_OR_RETURN(allocators[i], make_pool_allocator(binding, contents.pools[i]));
    is_bound = true;
  }
  if (is_bound) return {};
  return {StatusCode::kInvalidArgument,
          "memory scope \"" + binding.scope +
              "\" takes no allocator of host memory: the device's driver allocates its blocks"};
}

Result<std::shared_ptr<Allocator>> BoundSession::make_pool_allocator(
    const ScopeAllocator& binding, const format::PoolDecl& pool) const {
  if (binding.allocator != nullptr) return binding.allocator;
  if (!binding.make)
    return Status(StatusCode::kInvalidArgument,
                  "memory scope \"" + binding.scope + "\": the allocator is null");
  Result<std::shared_ptr<Allocator>> made =
      binding.make(devices_.block_source(module_->contents(), pool), pool.alignment);
  if (made.ok() && *made == nullptr)
    return Status(StatusCode::kInvalidArgument,
                  "memory scope \"" + binding.scope + "\": the factory returned no allocator");
  return made;
}

Status BoundSession::allocate(const CallContext& context, uint32_t pool, int64_t bytes,
                              runtime::Storage** storage) {
  SCOPEVM_RETURN_IF_ERROR(context.check_budget(pool, bytes, *pools_[pool]));
  return allocate(pool, bytes, storage, context.region(pool));
}

Status BoundSession::allocate_held(uint32_t pool, int64_t bytes, runtime::Storage** storage) {
  if (!scheduled_pools_[pool]) return allocate(pool, bytes, storage, nullptr);
  Need need = *scheduled_pools_[pool];
  need.bytes = bytes;
  SCOPEVM_RETURN_IF_ERROR(scheduler_->hold({&need, 1}, "state"));
  Status allocated = allocate(pool, bytes, storage, nullptr);
  if (allocated.ok())
    (*storage)->is_held = true;
  else
    scheduler_->release(need);
  return allocated;
}

Status BoundSession::allocate(uint32_t pool, int64_t bytes, runtime::Storage** storage,
                              runtime::Region* region) {
  using Outcome = runtime::ScopeMemory::Outcome;
  runtime::ScopeMemory& memory = *pools_[pool];
  Outcome outcome = memory.allocate(bytes, storage, region);
  if (outcome == Outcome::kNoRoom && make_room(pool))
    outcome = memory.allocate(bytes, storage, region);
  if (outcome == Outcome::kOk) return {};
  const uint32_t source = module_->contents().block_source(module_->contents().pools[pool]);
  if (const auto& device = devices_.device(source); device != nullptr)
    SCOPEVM_RETURN_IF_ERROR(device->health().with_context(
        "device \"" + module_->contents().devices[source].name + "\""));
  return allocation_failure(outcome, bytes, memory);
}

Status BoundSession::reserve(const std::map<std::string, DimRange>& dims, int calls) {
  if (calls < 1)
    return {StatusCode::kInvalidArgument,
            "memory for " + std::to_string(calls) + " calls, expected at least 1"};
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound bound, largest_bound(*module_, dims, threads_));
  // By pool. They are added only if all of them were allocated.
  std::vector<std::vector<std::unique_ptr<runtime::Region>>> regions(pools_.size());
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    runtime::ScopeMemory& memory = *pools_[i];
    const MemoryScope scope{memory.device(), memory.scope()};
    const auto found = std::ranges::find_if(bound.scopes, [&](const ScopeBound& other) {
      return other.device == scope.device && other.scope == scope.scope;
    });
    // The bytes of a stack are in the frames of calls.
    const format::PoolKind kind = module_->contents().pools[i].kind;
    if (kind != format::PoolKind::kHeap && kind != format::PoolKind::kArena) continue;
    const int64_t needed = found == bound.scopes.end() ? 0 : found->bytes;
    const int64_t bytes = region_bytes(*module_, i, needed);
    if (memory.limit() >= 0 && needed > memory.limit() / calls)
      return {StatusCode::kResourceLimit, scope.device + " " + scope.scope + ": " +
                                              count_text(calls, "call") + " of " +
                                              count_text(needed, "byte") + " exceed the limit of " +
                                              count_text(memory.limit(), "byte")};
    for (int call = 0; call < calls; ++call) {
      std::unique_ptr<runtime::Region> region = memory.make_region(bytes);
      if (region == nullptr)
        return allocation_failure(runtime::ScopeMemory::Outcome::kNoRoom, bytes, memory)
            .with_context("reserve");
      regions[i].push_back(std::move(region));
    }
  }
  for (size_t i = 0; i < pools_.size(); ++i) pools_[i]->expect_regions(regions[i].size());
  for (size_t i = 0; i < pools_.size(); ++i)
    for (std::unique_ptr<runtime::Region>& region : regions[i])
      pools_[i]->add_region(std::move(region));
  has_reserved_ = true;
  return {};
}

bool BoundSession::make_room(uint32_t pool) {
  const format::ModuleContents& contents = module_->contents();
  const std::vector<format::PoolDecl>& pools = contents.pools;
  const uint32_t source = contents.block_source(pools[pool]);
  if (devices_.device(source) == nullptr) return false;
  if (runtime::is_logged(LogSeverity::kInfo))
    runtime::log(LogSeverity::kInfo, name_of(contents, pools[pool]) +
                                         ": no room, the cached blocks of device \"" +
                                         contents.devices[source].name + "\" are returned");
  for (size_t i = 0; i < pools.size(); ++i)
    // All pools of the device share its memory, so blocks cached for one pool can prevent an
    // allocation in another.
    if (contents.block_source(pools[i]) == source) pools_[i]->allocator().trim();
  return true;
}

std::unique_ptr<CallContext> BoundSession::take_context() {
  if (CallContext* last = last_returned_.exchange(nullptr, std::memory_order_acquire))
    return std::unique_ptr<CallContext>(last);
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      std::unique_ptr<CallContext> context = std::move(spare_.back());
      spare_.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<CallContext>(pools_.size());
  context->streams = devices_.make_streams();
  context->external_tensors.resize(externals_.max_tensors());
  std::lock_guard lock(mutex_);
  spare_.reserve(++context_count_);
  return context;
}

void BoundSession::return_context(std::unique_ptr<CallContext> context) {
  // Calls of one thread take and return one context without the mutex.
  context.reset(last_returned_.exchange(context.release(), std::memory_order_acq_rel));
  if (context == nullptr) return;
  std::lock_guard lock(mutex_);
  spare_.push_back(std::move(context));
}

void BoundSession::trim() {
  for (const std::shared_ptr<runtime::ScopeMemory>& pool : pools_) pool->allocator().trim();
  const std::unique_ptr<CallContext> last(
      last_returned_.exchange(nullptr, std::memory_order_acquire));
  std::vector<std::unique_ptr<CallContext>> unused;
  std::lock_guard lock(mutex_);
  // spare_ keeps its capacity, which is that of all contexts.
  context_count_ -= spare_.size() + (last != nullptr ? 1 : 0);
  try {
    unused.reserve(spare_.size());
    std::ranges::move(spare_, std::back_inserter(unused));
    spare_.clear();
  } catch (const std::bad_alloc&) {
    spare_.clear();  // the contexts are destroyed while the mutex is locked
  }
}

}  // namespace scopevm::vm
