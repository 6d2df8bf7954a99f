// Tensors in frames: checks their contents, statistics, limits and alignment, and that they need no
// allocator calls. The modules are written in assembly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "runtime/memory/pool/pool_allocator.h"
#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/load/loaded_module.h"
#include "vm/run/frame/frame.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kStack = 1024;

// A module with main(x: u8[n]) -> y: u8[4] and its code, the functions in `more`, and the i64
// constant @minus_one. `stack` is the limit of the stack pool.
format::ModuleContents stack_contents(const std::string& code, const std::string& more = "",
                                      int64_t stack = kStack) {
  const std::string text =
      "scopevm_module 0.15 producer \"test\"\n"
      "device \"cpu\" kind \"cpu\"\n"
      "pool \"global\" heap device 0 limit -1\n"
      "pool \"global.constant\" constant device 0 limit -1\n"
      "pool \"global.stack\" stack device 0 limit " +
      std::to_string(stack) +
      "\n"
      "function \"main\" registers 8 slots 2 {\n"
      "dimension \"n\" min 1 max 100000 multiple_of 1\n"
      "input \"x\" u8 [\"n\"]\noutput \"y\" u8 [\"4\"]\n"
      "code {\n" +
      code + "}\n}\n" + more + "constant \"minus_one\" i64 [1] pool 1 bytes 8 {\n//////////8=\n}\n";
  Result<format::ModuleContents> contents = format::assemble(text, "test.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  return *std::move(contents);
}

Tensor bytes(std::vector<uint8_t> values) {
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  Tensor tensor = *Tensor::allocate(DType::kU8, dims);
  std::ranges::copy(values, tensor.elements<uint8_t>().begin());
  return tensor;
}

ScopeUse use_of(const Call& call, std::string_view scope) {
  for (const ScopeUse& use : call.stats().memory)
    if (use.scope == scope) return use;
  ADD_FAILURE() << "no scope " << scope;
  return {};
}

std::vector<uint8_t> result_of(Call& call) {
  const std::span<const uint8_t> elements = call.outputs()[0].elements<uint8_t>();
  return {elements.begin(), elements.end()};
}

// Copies the four bytes of x to the frame, calls @over with the copy, and returns the bytes of this
// copy after the call.
constexpr char kNested[] =
    "%r1 = alloc_storage @global.stack size=100\n"
    "%r2 = alloc_tensor %r1 offset=64 bytes=4 u8 [4]\n"
    "device_copy to=%r2 to_pool=@global.stack from=%r0 from_pool=@global\n"
    "%r3 = call @over (%r2)\n"
    "kill %r3\n"
    "%r4 = alloc_storage @global size=4\n"
    "%r5 = alloc_tensor %r4 offset=0 bytes=4 u8 [4]\n"
    "device_copy to=%r5 to_pool=@global from=%r2 from_pool=@global.stack\n"
    "ret (%r5)\n";
// @over copies its argument to two tensors in its own frame, and returns a copy on the heap.
constexpr char kOver[] =
    "function \"over\" registers 7 slots 0 {\n"
    "input \"a\" u8 [\"4\"] pool 2\noutput \"y\" u8 [\"4\"]\n"
    "code {\n"
    "%r1 = alloc_storage @global.stack size=4\n"
    "%r2 = alloc_storage @global.stack size=4\n"
    "%r3 = alloc_tensor %r1 offset=0 bytes=4 u8 [4]\n"
    "%r4 = alloc_tensor %r2 offset=0 bytes=4 u8 [4]\n"
    "device_copy to=%r3 to_pool=@global.stack from=%r0 from_pool=@global\n"
    "%r5 = alloc_storage @global size=4\n"
    "%r6 = alloc_tensor %r5 offset=0 bytes=4 u8 [4]\n"
    "device_copy to=%r6 to_pool=@global from=%r3 from_pool=@global.stack\n"
    "device_copy to=%r4 to_pool=@global.stack from=%r6 from_pool=@global\n"
    "ret (%r6)\n}\n}\n";

TEST(Stack, FramesDoNotOverlap) {
  const Session session = *Session::create(test::load(stack_contents(kNested, kOver)));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes({1, 2, 3, 4})).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(call.run().ok());
    EXPECT_THAT(result_of(call), ElementsAre(1, 2, 3, 4));
  }
  // While @over runs, the 128 bytes of main's frame and the two cache lines of @over are live.
  EXPECT_EQ(use_of(call, "global.stack").peak_bytes, 128 + 2 * 64);
  EXPECT_EQ(use_of(call, "global.stack").allocations, 0);
  EXPECT_EQ(use_of(call, "global").allocations, 2) << "the results of both functions";
}

class CountingAllocator final : public Allocator {
 public:
  void* allocate(int64_t bytes) override {
    ++calls;
    return heap_.allocate(bytes);
  }
  void deallocate(void* block, int64_t bytes) override { heap_.deallocate(block, bytes); }
  AllocatorStats stats() const override { return heap_.stats(); }
  void trim() override { heap_.trim(); }

  std::atomic<int64_t> calls = 0;

 private:
  runtime::PoolAllocator heap_;
};

TEST(Stack, TakesNoAllocator) {
  const Module module = test::load(stack_contents(kNested, kOver));
  const auto error = [&](const char* scope) {
    SessionOptions options;
    options.allocators.push_back({scope, std::make_shared<CountingAllocator>(), {}});
    return std::string(Session::create(module, options).status().message());
  };
  EXPECT_EQ(error("global.stack"),
            "memory scope \"cpu.global.stack\" takes no allocator: it contains only values in the "
            "frames of calls");
  EXPECT_EQ(error("cpu.global.constant"),
            "memory scope \"cpu.global.constant\" takes no allocator: it contains only constants "
            "of the module");
}

TEST(Stack, DoesNotAllocate) {
  auto allocator = std::make_shared<CountingAllocator>();
  SessionOptions options;
  options.allocators.push_back({"global", allocator, {}});
  // Observes pools that take no allocator, too.
  options.wrap_allocator = [&](auto, std::string_view scope, std::shared_ptr<Allocator> given) {
    return scope == "global" ? given : allocator;
  };
  const Session session = *Session::create(test::load(stack_contents(kNested, kOver)), options);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes({1, 2, 3, 4})).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(allocator->calls, 2) << "the results of both functions";
}

// Forwards to another allocator, and counts.
class CountingWrapper final : public Allocator {
 public:
  CountingWrapper(std::shared_ptr<Allocator> inner, int64_t& calls)
      : inner_(std::move(inner)), calls_(calls) {}
  void* allocate(int64_t bytes) override {
    ++calls_;
    return inner_->allocate(bytes);
  }
  void deallocate(void* block, int64_t bytes) override { inner_->deallocate(block, bytes); }
  AllocatorStats stats() const override { return inner_->stats(); }
  void trim() override { inner_->trim(); }

 private:
  const std::shared_ptr<Allocator> inner_;
  int64_t& calls_;
};

TEST(WrapAllocator, IsCalledForEachPool) {
  std::vector<std::string> pools;
  int64_t calls = 0;
  SessionOptions options;
  options.wrap_allocator = [&](std::string_view device, std::string_view scope,
                               std::shared_ptr<Allocator> allocator) {
    pools.push_back(std::string(device) + "." + std::string(scope));
    return std::make_shared<CountingWrapper>(std::move(allocator), calls);
  };
  const Session session = *Session::create(test::load(stack_contents(kNested, kOver)), options);
  EXPECT_EQ(pools.size(), session.memory_stats()->size());
  EXPECT_EQ(pools.front(), "cpu.global");
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes({1, 2, 3, 4})).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(calls, 2) << "the results of both functions";
}

TEST(WrapAllocator, MustReturnAnAllocator) {
  SessionOptions options;
  options.wrap_allocator = [](auto...) { return std::shared_ptr<Allocator>(); };
  const auto session = Session::create(test::load(stack_contents(kNested, kOver)), options);
  EXPECT_EQ(session.status().message(),
            "wrap_allocator returned no allocator for memory scope \"cpu.global\"");
}

// A tensor that is allocated and released 1000 times uses the bytes of one tensor.
TEST(Stack, LoopReusesTheSameBytes) {
  const Session session = *Session::create(test::load(
      stack_contents("set_slot dst=s0 value=0\n"
                     "again:\n"
                     "%r1 = alloc_storage @global.stack size=1024\n"
                     "%r2 = alloc_tensor %r1 offset=1020 bytes=4 u8 [4]\n"
                     "device_copy to=%r2 to_pool=@global.stack from=%r0 from_pool=@global\n"
                     "add_slot dst=s0 by=1\n"
                     "branch_less a=s0 b=1000 then_to=again else_to=end\n"
                     "end:\n"
                     "%r4 = alloc_storage @global size=4\n"
                     "%r5 = alloc_tensor %r4 offset=0 bytes=4 u8 [4]\n"
                     "device_copy to=%r5 to_pool=@global from=%r2 from_pool=@global.stack\n"
                     "ret (%r5)\n")));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes({5, 6, 7, 8})).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_THAT(result_of(call), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(use_of(call, "global.stack").peak_bytes, 1024);
}

TEST(Stack, TensorsAreInsideTheStorage) {
  const Session session = *Session::create(test::load(
      stack_contents("load_dim dst=s0 %r0 axis=0\n"
                     "%r1 = alloc_storage @global.stack size=64\n"
                     "%r2 = alloc_tensor %r1 offset=s0 bytes=4 u8 [4]\n"
                     "device_copy to=%r2 to_pool=@global.stack from=%r0 from_pool=@global\n"
                     "ret (%r0)\n")));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes(std::vector<uint8_t>(61))).ok());
  EXPECT_THAT(std::string(call.run().message()), HasSubstr("are outside of a storage of 64 bytes"));
}

// --- Recursion. ---------------------------------------------------------------------------------

// deeper(x: u8[n]) creates a tensor with the dim n - 1 in its frame and calls itself with this
// tensor, whose elements are never accessed. The call with n = 1 returns four bytes on the heap.
// Each frame uses `bytes` of the stack.
std::string deeper(int64_t bytes) {
  return "function \"deeper\" registers 7 slots 2 {\n"
         "input \"x\" u8 [\"n\"] pool 2\noutput \"y\" u8 [\"4\"]\n"
         "dimension \"n\" min 1 max 100000 multiple_of 1\n"
         "code {\n"
         "%r1 = alloc_storage @global.stack size=" +
         std::to_string(bytes) +
         "\n"
         "load_dim dst=s0 %r0 axis=0\n"
         "%r2 = load_const @minus_one\n"
         "load_element dst=s1 %r2 index=0\n"
         "add_slot dst=s0 by=s1\n"
         "branch condition=s0 then_to=more else_to=end\n"
         "more:\n"
         "%r3 = alloc_tensor %r1 offset=0 bytes=4 u8 [s0]\n"
         "%r4 = call @deeper (%r3)\n"
         "ret (%r4)\n"
         "end:\n"
         "%r5 = alloc_storage @global size=4\n"
         "%r6 = alloc_tensor %r5 offset=0 bytes=4 u8 [4]\n"
         "ret (%r6)\n}\n}\n";
}

constexpr char kCallsDeeper[] = "%r1 = call @deeper (%r0)\nret (%r1)\n";

TEST(Stack, RecursionReleasesTheBytesOfEachFrame) {
  const Session session =
      *Session::create(test::load(stack_contents(kCallsDeeper, deeper(kStack))));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input(0, bytes(std::vector<uint8_t>(1000))).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(use_of(call, "global.stack").peak_bytes, 1000 * kStack);
  EXPECT_EQ(use_of(call, "global.stack").allocations, 0);
  for (const ScopeStats& stats : *session.memory_stats())
    if (stats.scope == "global.stack") {
      EXPECT_EQ(stats.memory.peak_bytes, 1000 * kStack);
      EXPECT_EQ(stats.memory.live_bytes, 0);
    }
}

std::string error_of(const Session& session, int64_t depth, StatusCode code) {
  Call call = *session.make_call();
  EXPECT_TRUE(call.set_input(0, bytes(std::vector<uint8_t>(static_cast<size_t>(depth)))).ok());
  Status status = call.run();
  EXPECT_EQ(status.code(), code);
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
  // The session is still usable.
  EXPECT_TRUE(call.set_input(0, bytes({1})).ok());
  EXPECT_TRUE(call.run().ok());
  return std::string(status.message());
}

TEST(Stack, FramesOfACallShareALimit) {
  const Session session = *Session::create(test::load(
      stack_contents(kCallsDeeper, deeper(format::kMaxStackBytes), format::kMaxStackBytes)));
  EXPECT_THAT(error_of(session, 1000, StatusCode::kResourceLimit),
              HasSubstr("deeper: the frames of nested calls exceed 268435456 bytes"));
}

TEST(Stack, SessionLimitAppliesToAllFrames) {
  SessionOptions options;
  options.memory_limits = {{"global.stack", 10 * kStack + 64}};
  const Session session =
      *Session::create(test::load(stack_contents(kCallsDeeper, deeper(kStack))), options);
  EXPECT_THAT(error_of(session, 11, StatusCode::kResourceLimit),
              HasSubstr("deeper: cpu global.stack: 1024 bytes requested, 64 bytes free"));
}

TEST(Stack, IsCacheLineAlignedInEveryFrame) {
  Result<std::shared_ptr<const vm::LoadedModule>> module =
      vm::LoadedModule::create(stack_contents(kCallsDeeper, deeper(1)));
  ASSERT_TRUE(module.ok());
  vm::FrameStack frames;
  for (uint32_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(frames.push((*module)->function(i % 2)).ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(frames.top().stack) % vm::kFrameAlignment, 0u);
  }
  while (frames.depth() > 0) frames.pop();
}

}  // namespace
}  // namespace scopevm
