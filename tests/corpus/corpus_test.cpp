// Loads and runs the modules of all versions of the format, with each of their images that this CPU
// can run, and compares the results (docs/testing.md). Also tests that opcodes have not changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/cpu/cpu_features.h"
#include "runtime/mapped_file.h"
#include "scopevm/session.h"
#include "tests/corpus/cases.h"
#include "tests/corpus/corpus_modules.h"
#include "tests/corpus/frozen_opcodes.h"
#include "tests/external/negation.h"
#include "vm/api/module_access.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/instruction.h"

namespace scopevm::corpus {
namespace {

namespace fs = std::filesystem;

Result<format::ModuleContents> read(const fs::path& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path.string()));
  return format::read_module({file.owner, file.data, file.size});
}

void compare_outputs(const Call& call, const Signature& signature, const Case& with,
                     double tolerance) {
  for (const TensorSignature& output : signature.outputs) {
    SCOPED_TRACE(output.name);
    const auto given = call.elements(output.name);
    ASSERT_TRUE(given.ok()) << given.status().message();
    std::vector<Tensor> expected;
    for (const NamedTensor& tensor : with.outputs)
      if (tensor.name == output.name) expected.push_back(tensor.tensor);
    ASSERT_EQ(given->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(difference((*given)[i], expected[i], tolerance), "") << "tensor " << i;
  }
}

void run(const Module& module, const Cases& cases) {
  scopevm_external_library external = library();
  external.patterns = nullptr;
  Result<Session> session = Session::create(module, {.external_libraries = {&external}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  Result<Call> call = session->make_call();
  ASSERT_TRUE(call.ok());
  for (size_t i = 0; i < cases.calls.size(); ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    const Case& with = cases.calls[i];
    Status status = set_inputs(*call, with);
    if (status.ok()) status = call->run();
    if (with.error.empty()) {
      ASSERT_TRUE(status.ok()) << status.message();
      compare_outputs(*call, module.signature(), with, cases.tolerance);
    } else {
      EXPECT_NE(status.message().find(with.error), std::string_view::npos) << status.message();
    }
  }
}

class CorpusModule : public ::testing::TestWithParam<fs::path> {
 protected:
  Cases cases() const { return read_cases(fs::path(GetParam()).replace_extension(".cases")); }
};

TEST_P(CorpusModule, LoadsAndRuns) {
  const Result<Module> module = Module::load(GetParam().string());
  ASSERT_TRUE(module.ok()) << module.status().message();
  run(*module, cases());
}

// Each image alone, so that the images for older CPUs are tested, too.
TEST_P(CorpusModule, RunsWithEachImage) {
  Result<format::ModuleContents> contents = read(GetParam());
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  std::set<std::string> targets;
  for (const format::ImageDecl& image : contents->images)
    if (runtime::missing_cpu_features(image.features).empty()) targets.insert(image.target_cpu);
  ASSERT_FALSE(targets.empty());
  for (const std::string& target : targets) {
    SCOPED_TRACE(target);
    format::ModuleContents reduced = *contents;
    std::erase_if(reduced.images,
                  [&](const format::ImageDecl& image) { return image.target_cpu != target; });
    if (!format::verify(reduced).ok()) continue;  // other devices have other targets
    const Result<Module> module = ModuleAccess::from_contents(std::move(reduced));
    ASSERT_TRUE(module.ok()) << module.status().message();
    run(*module, cases());
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CorpusModule, ::testing::ValuesIn(modules()), test_name);

// A version is added to the corpus when it is released (tests/corpus/write.sh), with all opcodes.
TEST(Corpus, NewestVersionUsesEveryOpcode) {
  fs::path newest = folder() / format::version_text(format::kVersionMajor, format::kVersionMinor);
  ASSERT_TRUE(fs::is_directory(newest)) << "execute tests/corpus/write.sh";
  std::set<std::string_view> unused;
  for (const isa::OpcodeRow& row : isa::opcode_rows()) unused.insert(row.name);
  for (const fs::path& path : modules()) {
    if (path.parent_path() != newest) continue;
    const Result<format::ModuleContents> contents = read(path);
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    for (const format::FunctionDecl& function : contents->functions)
      for (uint32_t pc = 0; pc < function.code.size(); pc += isa::word_count(function.code[pc]))
        unused.erase(isa::name(isa::opcode(function.code[pc])));
  }
  EXPECT_EQ(unused, std::set<std::string_view>());
}

TEST(Corpus, OpcodesOfEarlierVersionsHaveNotChanged) {
  ASSERT_FALSE(frozen_opcodes().empty());
  for (const FrozenOpcode& frozen : frozen_opcodes()) {
    const isa::OpcodeRow* const row = isa::find_opcode(frozen.code);
    ASSERT_NE(row, nullptr) << frozen.name;
    EXPECT_EQ(row->name, frozen.name);
    std::string fields;
    for (const isa::FieldRow& field : row->fields)
      fields += std::string(isa::name(field.type)) + " " + std::string(field.name) + " ";
    EXPECT_EQ(fields, frozen.fields) << frozen.name;
  }
}

}  // namespace
}  // namespace scopevm::corpus
