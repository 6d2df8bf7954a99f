// Compiles a kernels module to an image. Kernels are split into parts that share no private
// function, and the parts are compiled in parallel. The split, and thus the bytes, does not depend
// on the number of threads.
#include "compiler/codegen/cpu/image.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/codegen/cpu/stages.h"
#include "compiler/kernels/target/target_attributes.h"
#include "compiler/schedule/target.h"
#include "compiler/support/leaked_on_exception.h"
#include "compiler/support/stop.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/without_exceptions.h"

namespace scopevm::compiler::codegen {
namespace {

// The number of functions without calls per part: small enough for balanced threads, large enough
// to amortise the fixed cost of a pass pipeline.
constexpr size_t kKernelsPerPart = 6;

using Part = std::vector<mlir::func::FuncOp>;

// Runs each task in the thread that adds it. The threads of MLIR's own pool would end the process
// if they cannot start, or if an exception leaves a task.
class CallingThread final : public llvm::ThreadPoolInterface {
 public:
  void wait() override {}
  void wait(llvm::ThreadPoolTaskGroup&) override {}
  unsigned getMaxConcurrency() const override { return 1; }

 private:
  void asyncEnqueue(std::function<void()> task, llvm::ThreadPoolTaskGroup*) override { task(); }
};

// While it exists, several threads can use the context.
class SharedContext {
 public:
  explicit SharedContext(mlir::MLIRContext& context) : context_(context) {
    context_.disableMultithreading();  // as setThreadPool() requires
    context_.setThreadPool(pool_);
  }
  ~SharedContext() { context_.disableMultithreading(); }
  SharedContext(const SharedContext&) = delete;
  SharedContext& operator=(const SharedContext&) = delete;

 private:
  CallingThread pool_;
  mlir::MLIRContext& context_;
};

// Groups functions so that callers and callees are together, and merges single-function groups into
// parts of at most kKernelsPerPart functions.
std::vector<Part> split(mlir::ModuleOp kernels) {
  // Connected components of the call graph, by union-find.
  llvm::EquivalenceClasses<mlir::Operation*> classes;
  std::vector<mlir::func::FuncOp> functions;
  for (auto function : kernels.getOps<mlir::func::FuncOp>())
    if (!function.isExternal()) functions.push_back(function);
  for (mlir::func::FuncOp function : functions) {
    classes.insert(function);
    function.walk([&](mlir::func::CallOp call) {
      auto callee = kernels.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal()) classes.unionSets(function, callee);
    });
  }
  // For look-ups only: the order of the pointers differs between runs.
  std::map<mlir::Operation*, size_t> part_of_leader;
  std::vector<Part> parts;
  size_t open = SIZE_MAX;  // the part that receives the next single-function group
  for (mlir::func::FuncOp function : functions) {
    mlir::Operation* leader = classes.getLeaderValue(function);
    bool is_single =
        std::next(classes.member_begin(classes.findValue(leader))) == classes.member_end();
    if (is_single) {
      if (open == SIZE_MAX || parts[open].size() >= kKernelsPerPart) {
        open = parts.size();
        parts.emplace_back();
      }
      parts[open].push_back(function);
      continue;
    }
    auto [entry, is_new] = part_of_leader.try_emplace(leader, parts.size());
    if (is_new) parts.emplace_back();
    parts[entry->second].push_back(function);
  }
  return parts;
}

Result<std::string> compile_part(mlir::ModuleOp part, const llvm::StringMap<Kernel>& entries,
                                 const schedule::Target& target, const ImageOptions& options,
                                 int64_t max_stack_bytes) {
  // Each part has its own context, because several threads must not use one context.
  const LeakedOnException<llvm::LLVMContext> context;
  SCOPEVM_ASSIGN_OR_RETURN(auto translated, to_llvm(part, entries, *context));
  const LeakedOnException<std::unique_ptr<llvm::Module>> module(std::move(translated));
  if (options.instrument) options.instrument(**module);
  const LeakedOnException<std::unique_ptr<llvm::TargetMachine>> machine(
      make_target_machine(target));
  return compile_object(**module, **machine, max_stack_bytes, options.stop_token);
}

Result<std::string> compile_added(const ImageOptions& options, const schedule::Target& target,
                                  int64_t max_stack_bytes) {
  const LeakedOnException<llvm::LLVMContext> context;
  const LeakedOnException<llvm::Module> module("functions", *context);
  options.add_functions(*module);
  const LeakedOnException<std::unique_ptr<llvm::TargetMachine>> machine(
      make_target_machine(target));
  return compile_object(*module, **machine, max_stack_bytes, options.stop_token);
}

}  // namespace

Result<std::vector<uint8_t>> compile_image(mlir::ModuleOp kernels, const std::vector<Kernel>& table,
                                           const schedule::Target& target,
                                           const ImageOptions& options) {
  const int64_t max_bytes = compiler::kernels::max_stack_bytes(kernels);
  llvm::StringMap<Kernel> entries;
  for (const Kernel& kernel : table) entries[kernel.symbol] = kernel;
  const LeakedOnException<std::vector<mlir::OwningOpRef<mlir::ModuleOp>>> modules;
  for (Part& part : split(kernels)) {
    modules->push_back(mlir::ModuleOp::create(kernels.getLoc()));
    // The attributes describe the target (target_attributes.h).
    (*modules->back())->setAttrs(kernels->getAttrDictionary());
    for (mlir::func::FuncOp function : part) {
      // Separate modules, because passes of one MLIR module must not run in several threads.
      function->remove();
      modules->back()->push_back(function);
    }
    for (auto declaration : kernels.getOps<mlir::func::FuncOp>())
      if (declaration.isExternal()) modules->back()->push_back(declaration.clone());
  }
  std::vector<std::string> objects(modules->size() + (options.add_functions ? 1 : 0));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Status failure;
  int64_t done = 0;
  auto compile_next = [&](size_t i) -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_not_stopped(options.stop_token));
    SCOPEVM_ASSIGN_OR_RETURN(std::string object,
                             i < modules->size()
                                 ? compile_part(*(*modules)[i], entries, target, options, max_bytes)
                                 : compile_added(options, target, Machine::kStackBytes));
    std::lock_guard<std::mutex> lock(mutex);
    objects[i] = std::move(object);
    if (options.progress) options.progress(++done, static_cast<int64_t>(objects.size()));
    return {};
  };
  auto work = [&]() noexcept {
    for (size_t i = next++; i < objects.size(); i = next++) {
      Status status = runtime::without_exceptions([&] { return compile_next(i); });
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex);
      if (failure.ok()) failure = std::move(status);
      // Stops the other threads after their current part.
      next = objects.size();
      return;
    }
  };
  {
    size_t threads = std::min(objects.size(), static_cast<size_t>(options.threads));
    std::optional<SharedContext> shared;
    if (threads > 1) shared.emplace(*kernels.getContext());
    // After everything that the threads use, so that they end before it is destroyed.
    std::vector<std::jthread> workers;
    while (workers.size() + 1 < threads) {
      try {
        workers.emplace_back(work);
      } catch (const std::exception&) {
        // The system limits the number of threads. The threads that exist compile all parts.
        threads = workers.size() + 1;
      }
    }
    work();
  }
  SCOPEVM_RETURN_IF_ERROR(failure);
  return link_shared(objects);
}

}  // namespace scopevm::compiler::codegen
