#include "vm/run/bound_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/cpu/parallel.h"
#include "runtime/memory/arena_allocator.h"
#include "runtime/memory/heap_allocator.h"
#include "runtime/nearest_name.h"

namespace scopevm::vm {
namespace {

std::shared_ptr<Allocator> default_allocator(format::PoolKind kind,
                                             std::shared_ptr<runtime::Device> device) {
  if (device != nullptr) return std::make_shared<runtime::ArenaAllocator>(std::move(device));
  if (kind == format::PoolKind::kHeap) return std::make_shared<runtime::HeapAllocator>();
  return std::make_shared<runtime::ArenaAllocator>();
}

// The tighter of two limits, where negative is none.
int64_t tighter(int64_t a, int64_t b) {
  if (a < 0) return b;
  return b < 0 ? a : std::min(a, b);
}

Status check_scope(const std::vector<format::PoolDecl>& pools, const std::string& scope) {
  if (std::ranges::any_of(pools, [&](const auto& pool) { return pool.scope == scope; })) return {};
  std::vector<std::string> known;
  for (const format::PoolDecl& pool : pools) known.push_back(pool.scope);
  return {StatusCode::kInvalidArgument, "the module has no memory scope \"" + scope + "\"" +
                                            runtime::name_suggestion(scope, known)};
}

}  // namespace

Result<std::shared_ptr<BoundSession>> BoundSession::create(
    std::shared_ptr<const LoadedModule> module, SessionOptions options,
    const DeviceOpener& opener) {
  std::shared_ptr<BoundSession> session(new BoundSession);
  session->module_ = std::move(module);
  SCOPEVM_ASSIGN_OR_RETURN(session->kernels_, session->module_->kernels());
  SCOPEVM_RETURN_IF_ERROR(session->devices_.open(*session->module_, options.devices, opener));
  SCOPEVM_RETURN_IF_ERROR(session->bind_pools(options));
  if (options.emulate) {
    if (!can_be_emulated(session->module_->contents()))
      return Status(StatusCode::kInvalidArgument,
                    "nothing to emulate: the module's machine says no bytes_per_second and no "
                    "latency_seconds of any pool");
    session->emulation_ = std::make_unique<const Emulation>(session->module_->contents());
  }
  session->executor_ = options.executor ? std::move(options.executor)
                                        : runtime::make_default_executor(options.threads);
  session->threads_ = session->executor_->threads();
  if (session->threads_ < 1)
    return Status(StatusCode::kInvalidArgument, "the executor has no threads");
  return session;
}

Status BoundSession::bind_pools(const SessionOptions& options) {
  const format::ModuleContents& contents = module_->contents();
  for (const ScopeAllocator& binding : options.allocators)
    SCOPEVM_RETURN_IF_ERROR(check_scope(contents.pools, binding.scope));
  for (const ScopeLimit& limit : options.memory_limits)
    SCOPEVM_RETURN_IF_ERROR(check_scope(contents.pools, limit.scope));
  for (const format::PoolDecl& pool : contents.pools) {
    std::shared_ptr<Allocator> allocator;
    for (const ScopeAllocator& binding : options.allocators)
      if (binding.scope == pool.scope) allocator = binding.allocator;
    if (allocator == nullptr)
      allocator = default_allocator(pool.kind, devices_.device(pool.device));
    // A stack's own limit is a frame's, and the verifier's affair.
    int64_t limit = pool.kind == format::PoolKind::kStack ? -1 : pool.limit;
    for (const ScopeLimit& asked : options.memory_limits)
      if (asked.scope == pool.scope) limit = tighter(limit, asked.bytes);
    pools_.push_back(std::make_shared<runtime::ScopeMemory>(
        contents.devices[pool.device].name, pool.scope, std::move(allocator), limit));
  }
  return {};
}

bool BoundSession::make_room(uint32_t pool) {
  const runtime::Device* device = devices_.of_pool(pool);
  if (device == nullptr) return false;
  for (uint32_t i = 0; i < pools_.size(); ++i)
    if (devices_.of_pool(i) == device) pools_[i]->allocator().trim();
  return true;
}

std::unique_ptr<CallContext> BoundSession::take_context() {
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      std::unique_ptr<CallContext> context = std::move(spare_.back());
      spare_.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<CallContext>(pools_.size());
  context->inputs.resize(module_->signature().inputs.size());
  context->dimensions.resize(module_->signature().dimensions.size());
  context->outputs.resize(module_->signature().outputs.size());
  context->output_storages.resize(module_->signature().outputs.size());
  context->list_inputs.resize(module_->signature().inputs.size());
  context->list_results.resize(module_->signature().outputs.size());
  context->streams = devices_.make_streams();
  return context;
}

void BoundSession::give_back(std::unique_ptr<CallContext> context) {
  for (Tensor& input : context->inputs) input = Tensor();
  for (size_t i = 0; i < context->outputs.size(); ++i) context->set_output(i, Tensor());
  context->results.clear();
  for (ListValue& input : context->list_inputs) input = {};
  context->clear_list_results();
  std::lock_guard lock(mutex_);
  spare_.push_back(std::move(context));
}

}  // namespace scopevm::vm
