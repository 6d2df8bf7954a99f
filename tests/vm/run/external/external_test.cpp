// External functions: how a session creates and destroys them, and how a call runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/adder.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/isa/opcodes.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A library whose callbacks a test replaces. By default its functions add.
class Library {
 public:
  explicit Library(const char* name = "test") : library_(test::kAdder) {
    library_.name = name;
    library_.context = this;
    library_.create = [](void* context, const char* symbol, const char* description,
                         void** out_function, char* message, size_t message_size) {
      auto& self = *static_cast<Library*>(context);
      self.created.push_back(std::string(symbol) + " " + description);
      *out_function = &self.created;
      return self.on_create(message, message_size);
    };
    library_.destroy = [](void* context, void* function) {
      auto& self = *static_cast<Library*>(context);
      EXPECT_EQ(function, &self.created);
      ++self.destroyed;
      self.on_destroy();
    };
    library_.run = [](void* context, void* function, const scopevm_external_run* run) {
      auto& self = *static_cast<Library*>(context);
      EXPECT_EQ(function, &self.created);
      ++self.runs;
      return self.on_run(*run);
    };
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  scopevm_external_library& c() { return library_; }

  std::function<int(char*, size_t)> on_create = [](char*, size_t) { return 0; };
  std::function<void()> on_destroy = [] {};
  std::function<int(const scopevm_external_run&)> on_run = [](const scopevm_external_run& run) {
    test::add(run);
    return 0;
  };
  std::vector<std::string> created;
  int destroyed = 0;
  int runs = 0;

 private:
  scopevm_external_library library_;
};

std::vector<Tensor> external_inputs(int64_t rows = 3) {
  std::vector<Tensor> tensors;
  for (const float first : {0.0F, 100.0F}) {
    tensors.push_back(*Tensor::allocate(DType::kF32, {rows, 4}));
    float value = first;
    for (float& element : tensors.back().elements<float>()) element = value++;
  }
  return tensors;
}

Result<Session> create(Library& library,
                       format::ModuleContents contents = test::external_contents(),
                       SessionOptions options = {}) {
  options.external_libraries.push_back(&library.c());
  return Session::create(test::load(std::move(contents)), std::move(options));
}

// Fails with `code` and the message `text`.
int fail_with(char* message, size_t size, StatusCode code, const char* text) {
  std::strncpy(message, text, size - 1);
  return static_cast<int>(code);
}

void expect_sum(const Result<std::vector<Tensor>>& results) {
  ASSERT_TRUE(results.ok()) << results.status().message();
  const std::span<float> z = (*results)[0].elements<float>();
  for (size_t i = 0; i < z.size(); ++i)
    ASSERT_EQ(z[i], 100.0F + 2 * static_cast<float>(i)) << "element " << i;
}

TEST(External, ReceivesTensorsAndAWorkspace) {
  Library library;
  library.on_run = [](const scopevm_external_run& run) {
    EXPECT_EQ(run.struct_size, sizeof run);
    EXPECT_EQ(run.operand_count, 2U);
    EXPECT_EQ(run.result_count, 1U);
    for (const DLTensor* tensor : {&run.operands[0], &run.operands[1], &run.results[0]}) {
      EXPECT_EQ(tensor->device.device_type, kDLCPU);
      EXPECT_EQ(tensor->dtype.code, kDLFloat);
      EXPECT_EQ(tensor->dtype.bits, 32);
      EXPECT_EQ(tensor->dtype.lanes, 1);
      EXPECT_EQ(tensor->ndim, 2);
      EXPECT_THAT(std::vector(tensor->shape, tensor->shape + 2), ElementsAre(3, 4));
      EXPECT_EQ(tensor->strides, nullptr);
      EXPECT_EQ(tensor->byte_offset, 0U);
    }
    EXPECT_EQ(run.threads, 2);
    EXPECT_EQ(run.workspace_bytes, 128);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(run.workspace) % 64, 0U);
    EXPECT_EQ(run.is_stopped(run.executor), 0);
    EXPECT_GE(run.message_size, 256U);
    test::add(run);
    return 0;
  };
  {
    const Session session = *create(library, test::external_contents(), {.threads = 2});
    EXPECT_THAT(library.created, ElementsAre("test.add_0 {\"ops\": []}"));
    expect_sum(session.call(external_inputs()));
    expect_sum(session.call(external_inputs()));
    EXPECT_EQ(library.destroyed, 0);
  }
  EXPECT_EQ(library.runs, 2);
  EXPECT_EQ(library.destroyed, 1);
}

TEST(External, RunsParallelLoopsOnTheSessionsExecutor) {
  Library library;
  const Session session = *create(library, test::external_contents(), {.threads = 3});
  std::vector<std::atomic<int>> visits(1000);
  library.on_run = [&](const scopevm_external_run& run) {
    const auto visit = [](void* context, int64_t begin, int64_t end, int64_t worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, 3);
      auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
      for (int64_t i = begin; i < end; ++i) ++counts[static_cast<size_t>(i)];
    };
    run.parallel_for(run.executor, 1000, 10, visit, &visits);
    run.parallel_for(run.executor, 0, 10, visit, &visits);
    test::add(run);
    return 0;
  };
  expect_sum(session.call(external_inputs()));
  EXPECT_TRUE(std::ranges::all_of(visits, [](int count) { return count == 1; }));
}

TEST(External, AModuleIsInspectedWithoutTheLibrary) {
  const Module module = test::load(test::external_contents());
  const Result<MemoryBound> bound = module.memory_bound({{"n", 3}}, 2);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  for (const ScopeBound& scope : bound->scopes)
    EXPECT_EQ(scope.bytes, scope.scope == "global"             ? 48
                           : scope.scope == "global.workspace" ? 128
                                                               : 0)
        << scope.scope;
}

TEST(External, TheLibraryMustBeRegistered) {
  Library other("other");
  const Result<Session> session = create(other);
  EXPECT_EQ(session.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(session.status().message(),
            "module calls external function \"test.add_0\" of library \"test\", which is not "
            "registered (SessionOptions::external_libraries; scopevm run --external)");
  EXPECT_THAT(other.created, ElementsAre());
}

struct InvalidLibrary {
  const char* name;
  std::function<void(scopevm_external_library&)> change;
  StatusCode code;
  std::string error;
};

void PrintTo(const InvalidLibrary& invalid, std::ostream* out) { *out << invalid.name; }

const InvalidLibrary kInvalidLibraries[] = {
    {"AbiVersion", [](auto& library) { library.abi_version = 2; }, StatusCode::kUnsupported,
     "external library 0: has ABI version 2, expected 1"},
    {"StructSize", [](auto& library) { library.struct_size = 16; }, StatusCode::kInvalidArgument,
     "external library 0: has struct_size 16, expected at least " +
         std::to_string(sizeof(scopevm_external_library))},
    {"Name", [](auto& library) { library.name = nullptr; }, StatusCode::kInvalidArgument,
     "external library 0: has no name"},
    {"EmptyName", [](auto& library) { library.name = ""; }, StatusCode::kInvalidArgument,
     "external library 0: has no name"},
    {"Create", [](auto& library) { library.create = nullptr; }, StatusCode::kInvalidArgument,
     "external library 0: \"test\": create is null"},
    {"Destroy", [](auto& library) { library.destroy = nullptr; }, StatusCode::kInvalidArgument,
     "external library 0: \"test\": destroy is null"},
    {"Run", [](auto& library) { library.run = nullptr; }, StatusCode::kInvalidArgument,
     "external library 0: \"test\": run is null"},
};

class InvalidLibraryTest : public ::testing::TestWithParam<InvalidLibrary> {};

TEST_P(InvalidLibraryTest, IsRejected) {
  Library library;
  GetParam().change(library.c());
  // Also if the module does not use the library.
  for (const auto& contents : {test::external_contents(), test::sum_contents()}) {
    const Result<Session> session = create(library, contents);
    EXPECT_EQ(session.status().code(), GetParam().code);
    EXPECT_EQ(session.status().message(), GetParam().error);
  }
}
INSTANTIATE_TEST_SUITE_P(Each, InvalidLibraryTest, ::testing::ValuesIn(kInvalidLibraries),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(External, RejectsANullLibraryAndDuplicateNames) {
  const Module module = test::load(test::external_contents());
  EXPECT_EQ(Session::create(module, {.external_libraries = {nullptr}}).status().message(),
            "external library 0: is null");
  Library first, second;
  const Result<Session> session =
      Session::create(module, {.external_libraries = {&first.c(), &second.c()}});
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.status().message(),
            "external library 1: \"test\": an earlier library has this name");
}

constexpr char kContext[] = "external function \"test.add_0\" of library \"test\": ";

TEST(External, ReportsAFailedCreation) {
  Library library;
  library.on_create = [](char* message, size_t size) {
    return fail_with(message, size, StatusCode::kUnsupported, "no such function");
  };
  const Result<Session> session = create(library);
  EXPECT_EQ(session.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(session.status().message(), std::string(kContext) + "no such function");
  EXPECT_EQ(library.destroyed, 0);
}

TEST(External, ReportsCodesAndMessagesThatAreInvalid) {
  Library library;
  library.on_create = [](char* message, size_t size) {
    std::memset(message, 'a', size);
    return 12345;
  };
  const Status status = create(library).status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), std::string(kContext) + std::string(512, 'a')) << "unterminated";
  library.on_create = [](char*, size_t) { return -1; };
  EXPECT_EQ(create(library).status().message(), std::string(kContext) + "failed with code -1");
}

// Two functions of two libraries; the creation of the second one fails.
TEST(External, DestroysTheCreatedFunctionsAfterAFailure) {
  format::ModuleContents contents = test::external_contents();
  contents.kernels.push_back(contents.kernels.back());
  contents.kernels.back().external->library = "second";
  const Module module = test::load(std::move(contents));
  Library first, second("second");
  second.on_create = [](char* message, size_t size) {
    return fail_with(message, size, StatusCode::kOutOfMemory, "no memory");
  };
  const Result<Session> session =
      Session::create(module, {.external_libraries = {&second.c(), &first.c()}});
  EXPECT_EQ(session.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(first.created.size(), 1U);
  EXPECT_EQ(first.destroyed, 1);
  EXPECT_EQ(second.destroyed, 0);
}

TEST(External, ReportsAFailedRun) {
  Library library;
  const Session session = *create(library);
  const auto run = std::exchange(library.on_run, [](const scopevm_external_run& run) {
    return fail_with(run.message, run.message_size, StatusCode::kDevice, "broken");
  });
  const Status status = session.call(external_inputs()).status();
  EXPECT_EQ(status.code(), StatusCode::kDevice);
  EXPECT_EQ(status.message(), "main: pc 30: call_extern: " + std::string(kContext) + "broken");
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
  library.on_run = run;
  expect_sum(session.call(external_inputs()));
}

TEST(External, AnExceptionIsAnError) {
  Library library;
  const auto broken = [](auto&&...) -> int { throw std::runtime_error("thrown"); };
  const auto bad_alloc = [](auto&&...) -> int { throw std::bad_alloc(); };
  library.on_create = broken;
  EXPECT_EQ(create(library).status().code(), StatusCode::kInternal);
  EXPECT_THAT(std::string(create(library).status().message()), HasSubstr("thrown"));
  library.on_create = bad_alloc;
  EXPECT_EQ(create(library).status().code(), StatusCode::kOutOfMemory);
  library.on_create = [](char*, size_t) { return 0; };
  library.on_destroy = broken;
  const Session session = *create(library);
  library.on_run = broken;
  const Status status = session.call(external_inputs()).status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(kContext)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("thrown"));
  library.on_run = bad_alloc;
  EXPECT_EQ(session.call(external_inputs()).status().code(), StatusCode::kOutOfMemory);
  // From a worker of a parallel loop.
  library.on_run = [](const scopevm_external_run& run) {
    run.parallel_for(
        run.executor, 4, 1, [](void*, int64_t, int64_t, int64_t) { throw std::bad_alloc(); },
        nullptr);
    return 0;
  };
  EXPECT_EQ(session.call(external_inputs()).status().code(), StatusCode::kOutOfMemory);
}

TEST(External, ACancelledCallDoesNotRunIt) {
  Library library;
  const Session session = *create(library);
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(session.call(external_inputs(), {.cancel = &cancel}).status().code(),
            StatusCode::kCancelled);
  EXPECT_EQ(library.runs, 0);
}

// The error of a run that was stopped is that of the interrupt.
TEST(External, ARunSeesCancellationAndDeadline) {
  Library library;
  const Session session = *create(library);
  std::atomic<bool> cancel{false};
  library.on_run = [&](const scopevm_external_run& run) {
    EXPECT_EQ(run.is_stopped(run.executor), 0);
    cancel = true;
    EXPECT_NE(run.is_stopped(run.executor), 0);
    return fail_with(run.message, run.message_size, StatusCode::kInternal, "stopped");
  };
  EXPECT_EQ(session.call(external_inputs(), {.cancel = &cancel}).status().code(),
            StatusCode::kCancelled);
  library.on_run = [](const scopevm_external_run& run) {
    while (run.is_stopped(run.executor) == 0) std::this_thread::yield();
    return 0;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(session.call(external_inputs(), {.deadline = deadline}).status().code(),
            StatusCode::kDeadlineExceeded);
}

TEST(External, IsTracedAndEmulated) {
  struct Recorder final : TraceSink {
    void record(const TraceEvent& event) override {
      if (event.kind == TraceEvent::Kind::kLaunch) kernels.emplace_back(event.kernel);
    }
    std::vector<std::string> kernels;
  };
  Library library;
  format::ModuleContents contents = test::external_contents();
  for (format::PoolDecl& pool : contents.pools)
    pool.speed.read_bytes_per_second = pool.speed.write_bytes_per_second = 1e9;
  const Session session = *create(library, std::move(contents), {.emulate = true});
  Call call = *session.make_call();
  const std::vector<Tensor> tensors = external_inputs();
  for (size_t i = 0; i < tensors.size(); ++i) ASSERT_TRUE(call.set_input(i, tensors[i]).ok());
  Recorder recorder;
  ASSERT_TRUE(call.run({.trace = &recorder}).ok());
  EXPECT_THAT(recorder.kernels, ElementsAre("test.add_0"));
  EXPECT_DOUBLE_EQ(call.stats().emulated_seconds, (3 * 48 + 64) / 1e9);
}

// The first word of instruction `index` with this opcode.
uint32_t* find(format::ModuleContents& contents, isa::Opcode opcode, int index) {
  std::vector<uint32_t>& code = contents.functions[0].code;
  for (size_t at = 0; at < code.size(); at += isa::word_count(code[at]))
    if (isa::opcode(code[at]) == opcode && index-- == 0) return &code[at];
  return nullptr;
}

// The status of a call of a module whose storages are large enough for every change.
Status status_after(const std::function<void(format::ModuleContents&)>& change) {
  format::ModuleContents contents = test::external_contents();
  for (const int index : {0, 1}) find(contents, isa::Opcode::alloc_storage, index)[3] = 4096;
  change(contents);
  Library library;
  const Status status = create(library, std::move(contents))->call(external_inputs()).status();
  EXPECT_EQ(library.runs, status.ok() ? 1 : 0);
  return status;
}

TEST(External, ChecksTheBytesOfBuffers) {
  // Word 3 of alloc_tensor is the offset and word 4 the number of bytes.
  const auto tensor = [](format::ModuleContents& contents, int index, uint32_t word) -> uint32_t& {
    return find(contents, isa::Opcode::alloc_tensor, index)[word];
  };
  EXPECT_EQ(status_after([](auto&) {}).message(), "");
  EXPECT_EQ(status_after([&](auto& contents) { tensor(contents, 1, 4) = 47; }).message(),
            "main: pc 30: call_extern: kernel test.add_0: buffer 2 has 47 bytes, expected at least "
            "48");
  EXPECT_EQ(status_after([&](auto& contents) { tensor(contents, 0, 4) = 63; }).message(),
            "main: pc 30: call_extern: kernel test.add_0: buffer 3 has 63 bytes, expected at least "
            "64");
  const Status status = status_after([&](auto& contents) {
    tensor(contents, 1, 4) = 44;
    contents.launches[0].bytes[2] = {44};
  });
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_EQ(status.message(), "main: pc 30: call_extern: " + std::string(kContext) +
                                  "buffer 2 has 44 bytes, but f32[3, 4] has 48");
}

TEST(External, ChecksTheAlignmentOfBuffers) {
  const auto offset = [](int index, uint32_t bytes) {
    return [=](format::ModuleContents& contents) {
      find(contents, isa::Opcode::alloc_tensor, index)[3] = bytes;
    };
  };
  EXPECT_EQ(status_after(offset(1, 4)).message(), "");
  EXPECT_EQ(status_after(offset(1, 2)).message(),
            "main: pc 30: call_extern: " + std::string(kContext) +
                "buffer 2 is not aligned to its elements");
  EXPECT_EQ(status_after(offset(0, 32)).message(),
            "main: pc 30: call_extern: " + std::string(kContext) +
                "the workspace is not aligned to 64 bytes");
}

}  // namespace
}  // namespace scopevm
