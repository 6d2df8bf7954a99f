// Uses the C++ API from a program whose std::string and std::list have another layout than those of
// libscopevm.so (CMakeLists.txt): handles, tensors, callbacks and errors. Prints what fails.
//
//     vm_other_library_test MODULE    (sum.bc: z = x + y, twice)
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/awaitable.h"
#include "scopevm/execution_hook.h"
#include "scopevm/log.h"
#include "scopevm/memory_resource.h"
#include "scopevm/metrics.h"
#include "scopevm/module.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"

static_assert(_GLIBCXX_USE_CXX11_ABI == 0);

namespace {

using namespace scopevm;

int failures = 0;

void expect(bool condition, const char* text, int line) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: %s\n", __FILE__, line, text);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

Tensor ones() {
  Tensor tensor = *Tensor::allocate(DType::kF32, {1, 4});
  for (float& element : tensor.elements<float>()) element = 1;
  return tensor;
}

class CountingAllocator final : public Allocator {
 public:
  explicit CountingAllocator(std::shared_ptr<Allocator> inner) : inner_(std::move(inner)) {}
  void* allocate(int64_t bytes) override {
    ++allocations;
    return is_exhausted ? nullptr : inner_->allocate(bytes);
  }
  void deallocate(void* block, int64_t bytes) override { inner_->deallocate(block, bytes); }
  AllocatorStats stats() const override { return inner_->stats(); }
  void trim() override { inner_->trim(); }
  std::string describe_failure(int64_t) const override { return "the test has no memory"; }
  int allocations = 0;
  bool is_exhausted = false;

 private:
  const std::shared_ptr<Allocator> inner_;
};

class ThrowingSink final : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    if (event.kind == TraceEvent::Kind::kCall && event.dims.size() == 1) name = event.dims[0].name;
    if (throws) throw std::runtime_error("a long message, which is not stored in the object");
  }
  std::string name;
  bool throws = false;
};

class CountingHook final : public ExecutionHook {
 public:
  bool at(const ExecutionState& state) override { return (steps = state.position()) < limit; }
  int64_t steps = 0;
  int64_t limit = 1000;
};

class SerialExecutor final : public Executor {
 public:
  explicit SerialExecutor(int& alive) : alive_(alive) { ++alive_; }
  ~SerialExecutor() override { --alive_; }
  int threads() const override { return 1; }
  void parallel_for(int64_t total, int64_t, Body body, void* context) override {
    body(context, 0, total, 0);
  }

 private:
  int& alive_;
};

void check_module(const Module& module, const std::string& path) {
  EXPECT(module.signature().inputs.size() == 2 && module.signature().inputs[1].name == "y");
  EXPECT(module.signature().dimensions[0].name == "n");
  EXPECT(module.memory_bound({{"n", 2}})->scopes[0].bytes > 0);
  EXPECT(module.memory_scopes()[0].device == "cpu");
  EXPECT(module.largest_bound({{"n", {1, 3}}}).status().code() == StatusCode::kUnsupported);
  EXPECT(*module.input_shape(0, {{"n", 3}}) == (std::vector<int64_t>{3, 4}));
  const Status unknown = module.memory_bound({{"a rather long name of a dimension", 2}}).status();
  EXPECT(unknown.code() == StatusCode::kInvalidArgument);
  EXPECT(unknown.message().find("a rather long name") != std::string_view::npos);
  EXPECT(Module::load(path + ".missing").status().code() == StatusCode::kNotFound);
}

void check_calls(const Module& module) {
  std::shared_ptr<CountingAllocator> counted;
  int executors = 0;
  SessionOptions options;
  options.executor = std::make_shared<SerialExecutor>(executors);
  options.allocators.push_back(
      {"global", nullptr, [](auto source, int64_t alignment) {
         return make_allocator("pool", {.alignment = alignment, .source = std::move(source)});
       }});
  options.wrap_allocator = [&](std::string_view, std::string_view scope,
                               std::shared_ptr<Allocator> inner) -> std::shared_ptr<Allocator> {
    if (scope != "global") return inner;
    return counted = std::make_shared<CountingAllocator>(std::move(inner));
  };
  {
    const Session session = *Session::create(module, std::move(options));
    Call call = *session.make_call();
    EXPECT(call.set_input("x", ones()).ok() && call.set_input(1, ones()).ok());
    EXPECT(call.run().ok() && call.outputs()[0].elements<float>()[3] == 4);
    EXPECT(counted->allocations > 0 && call.stats().function == "main");
    EXPECT((*session.memory_stats())[0].device == "cpu");

    ThrowingSink sink;
    EXPECT(call.run({.trace = &sink}).ok() && sink.name == "n");
    sink.throws = true;
    const Status thrown = call.run({.trace = &sink});
    EXPECT(thrown.code() == StatusCode::kInternal);
    EXPECT(thrown.message() ==
           "unexpected exception: a long message, which is not stored in the object");
    CountingHook hook;
    EXPECT(call.run({.hook = &hook}).ok() && hook.steps > 0);
    hook.limit = 1;
    EXPECT(call.run({.hook = &hook}).code() == StatusCode::kCancelled);
    counted->is_exhausted = true;
    const Status exhausted = call.run();
    EXPECT(exhausted.code() == StatusCode::kOutOfMemory);
    EXPECT(exhausted.message().find("the test has no memory") != std::string_view::npos);
    const Status wrong = call.set_input(0, *Tensor::allocate(DType::kF32, {1, 5}));
    EXPECT(wrong.fields() != nullptr && wrong.fields()->subject == "x");
    EXPECT(executors == 1);
  }
  EXPECT(executors == 0);
}

void check_scheduler(const Module& module) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{"cpu.global", 99}}});
  const Session session = *Session::create(module, {.scheduler = scheduler});
  Call call = *session.make_call();
  const State state = *State::create(session, {.pairs = {{"x", "z", ones()}}, .dims = {}});
  EXPECT(call.set_state(state).ok() && call.set_input("y", ones()).ok());
  std::string result = "none";
  EXPECT(call.submit({}, [&](const Status& status) { result = status.message(); }).ok());
  EXPECT(call.wait().ok() && result.empty() && state.steps() == 1);
  EXPECT(state.value("x")->elements<float>()[0] == 4 && !state.snapshot()->empty());
  EXPECT(scheduler.stats()->pools[0].pool == "cpu.global");
  EXPECT(prometheus_text({{{"sum", session}}})->find("model=\"sum\"") != std::string::npos);
}

void check_values() {
  EXPECT(set_log([](const LogMessage&) { throw 1; }).ok() && set_log({}).ok());
  const std::vector<std::string_view> words = {"one", "a string that is not short at all"};
  const Tensor strings = *Tensor::from_strings(words, std::vector<int64_t>{2});
  EXPECT(strings.string_at(1) == words[1] && strings.element_count() == 2);
  bool is_released = false;
  float element = 1;
  {
    const auto adopted = Tensor::adopt(&element, DType::kF32, {}, [&] { is_released = true; });
  }
  EXPECT(is_released);
  EXPECT(allocator_names()[0] == "pool");
  AllocatorResource resource(*make_allocator("pool", {.limit_bytes = 1 << 20}));
  std::pmr::vector<int> numbers({1, 2, 3}, &resource);
  EXPECT(numbers[2] == 3 && make_allocator("pol").status().code() == StatusCode::kNotFound);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Result<Module> module = Module::load(argv[1]);
  if (!module.ok()) return 1;
  check_module(*module, argv[1]);
  check_calls(*module);
  check_scheduler(*module);
  check_values();
  return failures == 0 ? 0 : 1;
}
