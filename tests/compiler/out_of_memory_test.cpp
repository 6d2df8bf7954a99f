// A compilation that runs out of memory fails with kOutOfMemory and names its stage, without an
// exception. A later compilation in the same process succeeds.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "scopevm/compiler.h"
#include "tests/vm/steady_state/counted_heap.h"

namespace scopevm {
namespace {

int64_t calls_at_first_stage = 0;  // test::heap_calls() at the first stage of a run

CompileOptions options() {
  CompileOptions options;
  options.model_path = std::string(SCOPEVM_SOURCE_DIR) + "/examples/distance/distance.mlir";
  // The calls of operator new have the same order in each compilation.
  options.threads = 1;
  options.progress = [](std::string_view, int64_t, int64_t) {
    if (calls_at_first_stage == 0) calls_at_first_stage = test::heap_calls();
  };
  return options;
}

// The samples exclude the calls before the first stage and the last percent. The former are those
// of the constructor of MLIR's context, whose tables have caches per thread that std::bad_alloc can
// leave in an invalid state. The latter are those of lld, which cannot run again after an
// exception.
//
// Makes single calls of operator new in `run` fail, at `samples` points of equal distance. `run`
// returns the status of a function of the compiler.
void fail_samples(const std::function<Status()>& run, int64_t samples) {
  // The first run initialises static variables.
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run().ok());
  const int64_t before = test::heap_calls();
  calls_at_first_stage = 0;
  ASSERT_TRUE(run().ok());
  const int64_t first = calls_at_first_stage - before;
  const int64_t calls = test::heap_calls() - before - first;
  ASSERT_GT(first, 0);
  int64_t failed = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t call = first + 1 + calls * i / samples;
    SCOPED_TRACE("call " + std::to_string(call) + " of operator new fails");
    test::fail_heap_calls(call, 1);
    const Status status = run();
    test::fail_heap_calls(0, 0);
    if (status.ok()) continue;  // the caller of operator new has used other memory
    ++failed;
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
    EXPECT_TRUE(status.message().ends_with("out of memory")) << status.message();
  }
  EXPECT_GT(failed, samples / 2);
  EXPECT_TRUE(run().ok());
}

TEST(CompilerOutOfMemory, Compile) {
  fail_samples([given = options()] { return compile(given).status(); }, 40);
}

TEST(CompilerOutOfMemory, ExplainShapes) {
  fail_samples([given = options()] { return explain<ShapeExplanation>(given).status(); }, 20);
}

TEST(CompilerOutOfMemory, ExplainCopies) {
  fail_samples([given = options()] { return explain<CopyExplanation>(given).status(); }, 20);
}

TEST(CompilerOutOfMemory, StageIsNamed) {
  const CompileOptions compiled = options();
  ASSERT_TRUE(compile(compiled).ok());
  // The first call of operator new in the codegen stage.
  CompileOptions failing = compiled;
  failing.progress = [](std::string_view stage, int64_t done, int64_t) {
    if (stage == "codegen" && done == 0) test::fail_heap_calls(1, 1);
  };
  const Status status = compile(failing).status();
  test::fail_heap_calls(0, 0);
  EXPECT_EQ(status.message(), "stage codegen: out of memory");
}

TEST(CompilerExceptions, ExceptionOfACallbackIsAStatus) {
  CompileOptions throwing = options();
  throwing.progress = [](std::string_view, int64_t, int64_t) { throw std::runtime_error("stop"); };
  const Status status = compile(throwing).status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), "stage frontend: unexpected exception: stop");
}

}  // namespace
}  // namespace scopevm
