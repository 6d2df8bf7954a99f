// For each module of the corpus, a run up to any position has the state that a longer run has
// there, so that a debugger can go back by running again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/mapped_file.h"
#include "runtime/tensor/shape.h"
#include "scopevm/execution_hook.h"
#include "scopevm/session.h"
#include "tests/corpus/cases.h"
#include "tests/corpus/corpus_modules.h"
#include "tests/external/negation.h"
#include "tools/execution/zeroed_memory.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/reader.h"

namespace scopevm::corpus {
namespace {

// A digest of the place, the slots and the tensors of a state. Lists contain addresses.
format::Digest digest_of(const ExecutionState& state, const format::ModuleContents& contents) {
  const InstructionPlace next = state.next();
  const format::FunctionDecl& function = contents.functions[next.function];
  format::StreamingDigest digest;
  digest.add(&next, sizeof next);
  for (uint32_t i = 0; i < function.slot_count; ++i) {
    const int64_t slot = state.slot(i);
    digest.add(&slot, sizeof slot);
  }
  for (uint32_t i = 0; i < function.register_count; ++i) {
    const RegisterValue value = state.register_value(i);
    if (value.data == nullptr || value.is_list) continue;
    digest.add(&i, sizeof i);
    digest.add(value.dims.data(), value.dims.size_bytes());
    const Result<int64_t> bytes = runtime::shape_bytes(value.dtype, value.dims);
    std::vector<std::byte> elements(static_cast<size_t>(std::min(*bytes, value.bytes)));
    EXPECT_TRUE(state.read(value, 0, elements).ok());
    digest.add(elements.data(), elements.size());
  }
  return digest.value();
}

// Records the states of a run up to a position.
class States final : public ExecutionHook {
 public:
  States(const format::ModuleContents& contents, int64_t end) : contents_(contents), end_(end) {}
  bool at(const ExecutionState& state) override {
    if (state.position() >= end_) {
      if (state.position() == end_) last = digest_of(state, contents_);
      return false;
    }
    if (end_ == INT64_MAX) all.push_back(digest_of(state, contents_));
    return true;
  }
  std::vector<format::Digest> all;
  format::Digest last;

 private:
  const format::ModuleContents& contents_;
  const int64_t end_;
};

class CorpusState : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(CorpusState, IsEqualWhenARunIsRepeatedUpToIt) {
  const Result<runtime::MappedFile> file = runtime::map_file(GetParam().string());
  const Result<format::ModuleContents> contents =
      format::read_module({file->owner, file->data, file->size});
  const Result<Module> module = Module::load(GetParam().string());
  ASSERT_TRUE(module.ok()) << module.status().message();
  scopevm_external_library external = library();
  external.patterns = nullptr;
  SessionOptions options;
  options.external_libraries = {&external};
  // A tensor has any bytes until a kernel writes it.
  options.wrap_allocator = tool::zeroed_memory(*contents);
  const Result<Session> session = Session::create(*module, std::move(options));
  ASSERT_TRUE(session.ok()) << session.status().message();
  const Cases cases =
      read_cases(std::filesystem::path(GetParam()).replace_extension(".cases").string());
  // One call of each module is enough, because the others execute the same code.
  Result<Call> call = session->make_call();
  ASSERT_TRUE(set_inputs(*call, cases.calls.at(0)).ok());
  States forward(*contents, INT64_MAX);
  ASSERT_TRUE(call->run({.hook = &forward}).ok());
  ASSERT_FALSE(forward.all.empty());
  // At most 64 positions, from the end to the start.
  const auto count = static_cast<int64_t>(forward.all.size());
  const int64_t step = count / 64 + 1;
  for (int64_t position = count - 1; position >= 0; position -= step) {
    States again(*contents, position);
    EXPECT_EQ(call->run({.hook = &again}).code(), StatusCode::kCancelled);
    EXPECT_EQ(again.last, forward.all[static_cast<size_t>(position)]) << "position " << position;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CorpusState, ::testing::ValuesIn(modules()), test_name);

}  // namespace
}  // namespace scopevm::corpus
