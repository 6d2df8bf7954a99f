// Modules that are loaded only with a valid signature, and modules that are loaded from memory
// without a copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "tests/vm/format/sample_modules.h"
#include "tests/vm/signature/minisign_files.h"
#include "vm/api/module_access.h"
#include "vm/format/binary/writer.h"
#include "vm/signature/sign.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SignedModule : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    write(path_, {bytes_.begin(), bytes_.end()});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string signature() const { return *signature::sign(bytes_, signature::kSecretKey, ""); }
  static std::string message(const Result<Module>& module) {
    return std::string(module.status().message());
  }

  const std::string folder_ = ::testing::TempDir() + "signed_module_" + std::to_string(getpid());
  const std::string path_ = folder_ + "/m.bc";
  const std::vector<uint8_t> bytes_ = format::write_module(format::dense_module());
  const LoadOptions options_ = {.public_keys = {signature::kPublicKey}};
};

TEST_F(SignedModule, LoadsWithTheSignatureInTheFileOfItsName) {
  write(path_ + ".sig", signature());
  const Result<Module> module = Module::load(path_, options_);
  EXPECT_TRUE(module.ok()) << message(module);
}

TEST_F(SignedModule, WithoutSignatureDoesNotLoad) {
  EXPECT_EQ(message(Module::load(path_, options_)), path_ + ".sig: No such file or directory");
  EXPECT_EQ(message(Module::load_bytes(bytes_, options_)), "malformed signature");
  EXPECT_TRUE(Module::load(path_).ok());
}

TEST_F(SignedModule, LoadsWithTheGivenSignature) {
  LoadOptions options = options_;
  options.signature = signature();
  EXPECT_TRUE(Module::load(path_, options).ok());
  EXPECT_TRUE(Module::load_bytes(bytes_, options).ok());
}

TEST_F(SignedModule, ChangedFileIsRejectedBeforeItIsRead) {
  write(path_ + ".sig", signature());
  write(path_, "no module");
  EXPECT_EQ(message(Module::load(path_, options_)),
            path_ + ": the signature does not match the module");
}

TEST_F(SignedModule, IsNotMapped) {
  write(path_ + ".sig", signature());
  const Result<Module> module = Module::load(path_, options_);
  ASSERT_TRUE(module.ok());
  const auto& constants = ModuleAccess::loaded(*module)->contents().constants;
  const std::vector<uint8_t> before(constants[0].bytes.data,
                                    constants[0].bytes.data + constants[0].bytes.size);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file << std::string(bytes_.size(), 'x');
  file.close();
  EXPECT_EQ(before, std::vector<uint8_t>(constants[0].bytes.data,
                                         constants[0].bytes.data + constants[0].bytes.size));
}

class SharedMemory : public ::testing::Test {
 protected:
  format::Bytes memory_ = [] {
    const std::vector<uint8_t> bytes = format::write_module(format::dense_module());
    return format::aligned_copy(bytes.data(), bytes.size());
  }();
};

TEST_F(SharedMemory, IsUsedInPlaceAndKeptAlive) {
  const std::weak_ptr<const void> owner = memory_.owner;
  {
    const Result<Module> module = Module::load_bytes(memory_.owner, {memory_.data, memory_.size});
    ASSERT_TRUE(module.ok()) << module.status().message();
    const uint8_t* constant = ModuleAccess::loaded(*module)->contents().constants[0].bytes.data;
    EXPECT_GE(constant, memory_.data);
    EXPECT_LT(constant, memory_.data + memory_.size);
    memory_.owner.reset();
    EXPECT_FALSE(owner.expired());
  }
  EXPECT_TRUE(owner.expired());
}

TEST_F(SharedMemory, MustBeAligned) {
  const Result<Module> module =
      Module::load_bytes(memory_.owner, {memory_.data + 8, memory_.size - 8});
  EXPECT_EQ(module.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("not aligned to 64 bytes"));
}

}  // namespace
}  // namespace scopevm
