// Writes modules to memory and reads them back. Also tests write_module_file() and write_file().
#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/write_file.h"
#include "vm/format/binary/writer.h"

namespace scopevm::format {
namespace {

Result<ModuleContents> read_back(const ModuleContents& module) {
  std::vector<uint8_t> file = write_module(module);
  return read_module(aligned_copy(file.data(), file.size()));
}

TEST(RoundTrip, KeepsEveryField) {
  for (const ModuleContents& module :
       {dense_module(), branching_module(), variant_module(), string_module(), stack_module(),
        external_module(), ModuleContents()}) {
    Result<ModuleContents> read = read_back(module);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(are_equal(module, *read));
  }
}

TEST(RoundTrip, EqualContentsGiveEqualBytes) {
  EXPECT_EQ(write_module(dense_module()), write_module(dense_module()));
  Result<ModuleContents> read = read_back(branching_module());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(write_module(*read), write_module(branching_module()));
}

TEST(RoundTrip, DefaultOfAnInputIsStoredOnlyIfItIsGiven) {
  ModuleContents module = dense_module();
  const std::vector<uint8_t> without = write_module(module);
  module.functions[0].inputs[0].default_constant = 0;
  EXPECT_NE(write_module(module), without);
  const Result<ModuleContents> read = read_back(module);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(are_equal(module, *read));
  const Result<ModuleContents> assembled = assemble(disassemble(module, {}), "module.sva");
  ASSERT_TRUE(assembled.ok());
  EXPECT_TRUE(are_equal(module, *assembled));
  module.functions[0].inputs[0].default_constant = -1;
  EXPECT_EQ(write_module(module), without);
}

TEST(RoundTrip, BatchDims) {
  ModuleContents module = dense_module();
  const std::vector<uint8_t> without = write_module(module);
  module.functions[0].dimensions[0].is_batch = true;
  EXPECT_NE(write_module(module), without);
  const Result<ModuleContents> read = read_back(module);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(are_equal(module, *read));
  const std::string text = disassemble(module, {});
  EXPECT_NE(text.find("multiple_of 1 batch"), std::string::npos) << text;
  const Result<ModuleContents> assembled = assemble(text, "module.sva");
  ASSERT_TRUE(assembled.ok()) << assembled.status().message();
  EXPECT_TRUE(are_equal(module, *assembled));
}

TEST(RoundTrip, StateOfAnInputIsStoredOnlyIfItIsDeclared) {
  ModuleContents module = dense_module();
  const std::vector<uint8_t> without = write_module(module);
  module.functions[0].inputs[0].state_output = 0;
  module.functions[0].inputs[0].is_in_place = true;
  EXPECT_NE(write_module(module), without);
  const Result<ModuleContents> read = read_back(module);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(are_equal(module, *read));
  const Result<ModuleContents> assembled = assemble(disassemble(module, {}), "module.sva");
  ASSERT_TRUE(assembled.ok()) << assembled.status().message();
  EXPECT_TRUE(are_equal(module, *assembled));
}

// docs/adding-a-pool-member.md
TEST(RoundTrip, OptionalMemberOfAPoolIsStoredOnlyIfItIsGiven) {
  ModuleContents module = dense_module();
  const std::vector<uint8_t> without = write_module(module);
  module.pools[0].speed.write_latency_seconds = 2e-5;
  EXPECT_NE(write_module(module), without);
  const Result<ModuleContents> read = read_back(module);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->pools[0].speed.write_latency_seconds, 2e-5);
  const Result<ModuleContents> assembled = assemble(disassemble(module, {}), "module.sva");
  ASSERT_TRUE(assembled.ok());
  EXPECT_TRUE(are_equal(module, *assembled));
  module.pools[0].speed.write_latency_seconds = 0;
  EXPECT_EQ(write_module(module), without);
}

TEST(RoundTrip, ConstantsAndImagesPointIntoTheFileAligned) {
  std::vector<uint8_t> file = write_module(dense_module());
  Bytes memory = aligned_copy(file.data(), file.size());
  Result<ModuleContents> read = read_module(memory);
  ASSERT_TRUE(read.ok());
  auto is_inside = [&](const Bytes& bytes) {
    return bytes.data >= memory.data && bytes.data + bytes.size <= memory.data + memory.size &&
           bytes.owner == memory.owner && reinterpret_cast<uintptr_t>(bytes.data) % kAlignment == 0;
  };
  for (const ConstantDecl& constant : read->constants) EXPECT_TRUE(is_inside(constant.bytes));
  for (const ImageDecl& image : read->images) EXPECT_TRUE(is_inside(image.bytes));
}

class ModuleFile : public ::testing::Test {
 protected:
  std::string path_ = ::testing::TempDir() + "module_file_" + std::to_string(getpid()) + ".bc";
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(ModuleFile, HasTheSameBytesAsInMemory) {
  ASSERT_TRUE(write_module_file(path_, dense_module()).ok());
  std::ifstream in(path_, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<uint8_t> expected = write_module(dense_module());
  ASSERT_EQ(bytes.size(), expected.size());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST_F(ModuleFile, ReportsAFileThatCannotBeWritten) {
  Status status = write_module_file("/nowhere/module.bc", dense_module());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "/nowhere/module.bc: cannot write: No such file or directory");
}

TEST(WriteFile, ReplacesRegularFilesOnly) {
  const std::string folder = ::testing::TempDir() + "write_file_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::vector<uint8_t> first = {1, 2}, second = {3};
  const std::span<const uint8_t> pieces[] = {first, second};
  EXPECT_TRUE(write_file(folder + "/file", pieces).ok());
  EXPECT_TRUE(write_file(folder + "/file", pieces).ok());
  std::ifstream in(folder + "/file", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes, (std::vector<char>{1, 2, 3}));
  // A device file is written in place. The test uses a link, because a defective write_file() would
  // otherwise replace /dev/null of the machine.
  std::filesystem::create_symlink("/dev/null", folder + "/null");
  EXPECT_TRUE(write_file(folder + "/null", pieces).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/null"));
  EXPECT_EQ(write_file(folder + "/none/file", pieces).message(),
            folder + "/none/file: cannot write: No such file or directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
}

class WrittenFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status write(const std::string& name, std::string_view text) {
    const std::span piece(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    return write_file(folder_ + name, {&piece, 1});
  }
  std::string read(const std::string& name) {
    std::ifstream in(folder_ + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The number of files in the folder, including temporary files.
  int64_t files() { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

  const std::string folder_ =
      ::testing::TempDir() + "written_file_" + std::to_string(getpid()) + "/";
};

TEST_F(WrittenFile, KeepsItsMode) {
  constexpr auto kMode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  ASSERT_TRUE(write("file", "old").ok());
  std::filesystem::permissions(folder_ + "file", kMode);
  ASSERT_TRUE(write("file", "new").ok());
  EXPECT_EQ(read("file"), "new");
  EXPECT_EQ(std::filesystem::status(folder_ + "file").permissions(), kMode);
  EXPECT_EQ(files(), 1);
}

// The link of an open file without a name leads to no file.
TEST_F(WrittenFile, IsWrittenToIfItHasNoName) {
  ASSERT_TRUE(write("file", "").ok());
  const int descriptor = open((folder_ + "file").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  std::filesystem::remove(folder_ + "file");
  const std::string text = "text";
  const std::span piece(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  EXPECT_TRUE(write_file("/proc/self/fd/" + std::to_string(descriptor), {&piece, 1}).ok());
  std::string written(text.size(), ' ');
  EXPECT_EQ(pread(descriptor, written.data(), written.size(), 0), 4);
  EXPECT_EQ(written, text);
  EXPECT_EQ(files(), 0);
  close(descriptor);
}

TEST_F(WrittenFile, FollowsSymbolicLinks) {
  ASSERT_TRUE(write("file", "old").ok());
  std::filesystem::create_symlink("file", folder_ + "link");
  std::filesystem::create_symlink(folder_ + "link", folder_ + "outer");
  std::filesystem::create_symlink("none", folder_ + "dangling");
  ASSERT_TRUE(write("outer", "new").ok());
  ASSERT_TRUE(write("dangling", "created").ok());
  EXPECT_EQ(read("file"), "new");
  EXPECT_EQ(read("none"), "created");
  for (const char* link : {"link", "outer", "dangling"})
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + link)) << link;
  EXPECT_EQ(files(), 5);
}

TEST_F(WrittenFile, CycleOfLinksIsAnError) {
  std::filesystem::create_symlink("b", folder_ + "a");
  std::filesystem::create_symlink("a", folder_ + "b");
  EXPECT_EQ(write("a", "text").message(),
            folder_ + "a: cannot write: Too many levels of symbolic links");
  EXPECT_EQ(files(), 2);
}

TEST_F(WrittenFile, CanBeANamedPipe) {
  ASSERT_EQ(mkfifo((folder_ + "pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read("pipe"); });
  EXPECT_TRUE(write("pipe", "text").ok());
  reader.join();
  EXPECT_EQ(received, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ + "pipe"));
}

TEST_F(WrittenFile, FullDiskIsAnError) {
  std::filesystem::create_symlink("/dev/full", folder_ + "full");
  EXPECT_EQ(write("full", std::string(100000, 'x')).message(),
            folder_ + "full: cannot write: No space left on device");
}

}  // namespace
}  // namespace scopevm::format
