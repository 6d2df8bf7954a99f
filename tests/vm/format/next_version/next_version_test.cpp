// A release and the next one read each other's files: docs/module-format.md#versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/mapped_file.h"
#include "tests/vm/format/sample_modules.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

using ::testing::HasSubstr;

class NextVersion : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Executes the program of the next version; returns whether it succeeds.
  static bool execute(const std::string& arguments) {
    return std::system((std::string(SCOPEVM_NEXT_VERSION " ") + arguments).c_str()) == 0;
  }
  // Reads a file that the next version wrote.
  Result<ModuleContents> read(const std::string& name) {
    EXPECT_TRUE(execute("write " + folder_));
    SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file,
                             runtime::map_file(folder_ + "/" + name));
    return read_module({file.owner, file.data, file.size});
  }

  const std::string folder_ = ::testing::TempDir() + "next_version_" + std::to_string(getpid());
  const std::string next_ = version_text(kVersionMajor, kVersionMinor + 1);
};

TEST_F(NextVersion, ReadsAndVerifiesFilesOfThisVersion) {
  std::string files;
  for (const ModuleContents& module : {dense_module(), branching_module(), variant_module(),
                                       string_module(), stack_module(), external_module()}) {
    const std::string path = folder_ + "/" + std::to_string(files.size());
    ASSERT_TRUE(verify(module).ok());
    ASSERT_TRUE(write_module_file(path, module).ok());
    files += " " + path;
  }
  EXPECT_TRUE(execute("read" + files));
}

TEST_F(NextVersion, ReadsItsOwnFiles) {
  ASSERT_TRUE(execute("write " + folder_));
  for (const char* name : {"known", "section", "required_section", "feature", "opcode"})
    EXPECT_TRUE(execute("read " + folder_ + "/" + name + ".bc")) << name;
}

TEST_F(NextVersion, WritesFilesForThisVersionIfTheirContentsAreKnown) {
  const Result<ModuleContents> module = read("known.bc");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(are_equal(*module, dense_module()));
  EXPECT_TRUE(verify(*module).ok());
}

TEST_F(NextVersion, OptionalSectionIsSkipped) {
  const Result<ModuleContents> module = read("section.bc");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(verify(*module).ok());
  ASSERT_EQ(module->sections.size(), 3u);
  EXPECT_EQ(module->sections.back().name, "extra");
}

TEST_F(NextVersion, UnknownContentsAreErrorsThatNameThem) {
  EXPECT_THAT(std::string(read("opcode.bc").status().message()),
              HasSubstr("requires a reader of module format " + next_ + ","));
  EXPECT_THAT(std::string(read("required_section.bc").status().message()),
              HasSubstr("section extra is required"));
  EXPECT_THAT(std::string(read("feature.bc").status().message()),
              HasSubstr("requires feature \"new feature\""));
}

}  // namespace
}  // namespace scopevm::format
