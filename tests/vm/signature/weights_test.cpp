// Modules that are loaded with a file of weights: from folders, from memory, and with signatures.
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
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/writer.h"
#include "vm/signature/digest.h"
#include "vm/signature/sign.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ModuleWithWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/other");
    for (const std::span<const uint8_t> piece : format::weights_of(contents_))
      weights_.insert(weights_.end(), piece.begin(), piece.end());
    file_ = {"w.bin", weights_.size(), format::checksum(weights_.data(), weights_.size())};
    const std::span<const uint8_t> piece(weights_);
    file_.digest = *signature::digest_of({&piece, 1});
    write_module();
    write(weights_path_, weights_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::string& path, const std::vector<uint8_t>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  // Writes the module and its signature.
  void write_module() {
    bytes_ = format::write_module(contents_, {&file_, 1});
    write(path_, bytes_);
    std::ofstream(path_ + ".sig") << *signature::sign(bytes_, signature::kSecretKey, "");
  }
  static std::string message(const Result<Module>& module) {
    return std::string(module.status().message());
  }
  static const uint8_t* constant(const Result<Module>& module) {
    return ModuleAccess::loaded(*module)->contents().constants[0].bytes.data;
  }

  const format::ModuleContents contents_ = format::dense_module();
  const std::string folder_ = ::testing::TempDir() + "weights_" + std::to_string(getpid());
  const std::string path_ = folder_ + "/m.bc";
  const std::string weights_path_ = folder_ + "/w.bin";
  std::vector<uint8_t> weights_;
  std::vector<uint8_t> bytes_;
  format::WeightsFile file_;
  LoadOptions signed_ = {.public_keys = {signature::kPublicKey}};
};

TEST_F(ModuleWithWeights, LoadsThemFromItsFolder) {
  const Result<Module> module = Module::load(path_);
  ASSERT_TRUE(module.ok()) << message(module);
  EXPECT_EQ(std::vector<uint8_t>(constant(module), constant(module) + weights_.size()), weights_);
  // Mapped at a page boundary, not copied.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(constant(module)) % 4096, 0);
}

TEST_F(ModuleWithWeights, LoadsThemFromTheGivenFolder) {
  LoadOptions options;
  options.weights_folder = folder_ + "/other";
  EXPECT_EQ(message(Module::load(path_, options)),
            path_ + ": weights: " + folder_ + "/other/w.bin: No such file or directory");
  std::filesystem::rename(weights_path_, folder_ + "/other/w.bin");
  EXPECT_TRUE(Module::load(path_, options).ok());
  EXPECT_TRUE(Module::load_bytes(bytes_, options).ok());
  const Result<Module> without = Module::load(path_);
  EXPECT_EQ(without.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(message(without),
            path_ + ": weights: " + weights_path_ + ": No such file or directory");
}

TEST_F(ModuleWithWeights, LoadsThemFromMemory) {
  EXPECT_EQ(message(Module::load_bytes(bytes_)),
            "weights: the module needs the file w.bin; set weights or weights_folder of the "
            "options of loading");
  LoadOptions options;
  std::vector<uint8_t> given = weights_;
  options.weights = given;
  const Result<Module> module = Module::load_bytes(bytes_, options);
  ASSERT_TRUE(module.ok()) << message(module);
  given.assign(given.size(), 0);
  EXPECT_EQ(std::vector<uint8_t>(constant(module), constant(module) + weights_.size()), weights_);
  EXPECT_THAT(message(Module::load(path_, options)), HasSubstr("weights w.bin: checksum "));
  // A module that contains its weights ignores them.
  EXPECT_TRUE(Module::load_bytes(format::write_module(contents_), options).ok());
}

TEST_F(ModuleWithWeights, SharesTheMemoryOfTheOwner) {
  const format::Bytes weights = format::aligned_copy(weights_.data(), weights_.size());
  const format::Bytes bytes = format::aligned_copy(bytes_.data(), bytes_.size());
  auto owner = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  *owner = {weights.owner, bytes.owner};
  LoadOptions options;
  options.weights = {weights.data, weights.size};
  const std::weak_ptr<const void> watched = owner;
  {
    const Result<Module> module = Module::load_bytes(owner, {bytes.data, bytes.size}, options);
    ASSERT_TRUE(module.ok()) << message(module);
    EXPECT_EQ(constant(module), weights.data);
    owner.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST_F(ModuleWithWeights, UnreadableFileIsAnError) {
  std::filesystem::remove(weights_path_);
  std::filesystem::create_directory(weights_path_);
  EXPECT_EQ(message(Module::load(path_)),
            path_ + ": weights: " + weights_path_ + ": is a directory");
}

TEST_F(ModuleWithWeights, DamagedFileIsAnError) {
  weights_[3] ^= 1;
  write(weights_path_, weights_);
  const Result<Module> module = Module::load(path_);
  EXPECT_EQ(module.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(message(module), StartsWith(path_ + ": weights w.bin: checksum "));
  weights_.resize(10);
  write(weights_path_, weights_);
  EXPECT_EQ(message(Module::load(path_)), path_ +
                                              ": weights w.bin: 10 bytes, expected 192; the file "
                                              "is truncated or belongs to another module");
}

TEST_F(ModuleWithWeights, SignatureCoversThem) {
  ASSERT_TRUE(Module::load(path_, signed_).ok()) << message(Module::load(path_, signed_));
  // An attacker can make other weights with the same checksum. Only the digest detects that.
  weights_[3] ^= 1;
  file_.checksum = format::checksum(weights_.data(), weights_.size());
  write(weights_path_, weights_);
  write_module();
  EXPECT_TRUE(Module::load(path_).ok());
  const Result<Module> module = Module::load(path_, signed_);
  EXPECT_EQ(module.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(message(module),
              ::testing::MatchesRegex(
                  ".*/m.bc: weights w.bin: BLAKE2b digest [0-9a-f]{64}, expected [0-9a-f]{64}; the "
                  "file has been changed after the module was signed"));
  EXPECT_THAT(message(module), HasSubstr("expected " + format::text_of(file_.digest)));
}

TEST_F(ModuleWithWeights, SignatureCoversThemInMemory) {
  signed_.signature = *signature::sign(bytes_, signature::kSecretKey, "");
  signed_.weights = weights_;
  EXPECT_TRUE(Module::load_bytes(bytes_, signed_).ok());
  std::vector<uint8_t> changed = weights_;
  changed[3] ^= 1;
  signed_.weights = changed;
  EXPECT_FALSE(Module::load_bytes(bytes_, signed_).ok());
}

TEST_F(ModuleWithWeights, OfASignedModuleAreNotMapped) {
  const Result<Module> module = Module::load(path_, signed_);
  ASSERT_TRUE(module.ok());
  std::fstream file(weights_path_, std::ios::in | std::ios::out | std::ios::binary);
  file << std::string(weights_.size(), 'x');
  file.close();
  EXPECT_EQ(std::vector<uint8_t>(constant(module), constant(module) + weights_.size()), weights_);
}

// Rank 1 needs its own file only, and its module cannot be used elsewhere.
TEST_F(ModuleWithWeights, OfARankAreSufficientForIt) {
  format::ModuleContents contents = contents_;
  contents.required_features = {std::string(format::kRanksFeature)};
  contents.devices.push_back(contents.devices[0]);
  contents.devices[1].name = "one";
  contents.devices[1].rank = 1;
  contents.pools.push_back(contents.pools[2]);
  contents.pools.back().device = 1;
  contents.constants[1].pool = static_cast<uint32_t>(contents.pools.size()) - 1;
  std::vector<format::WeightsFile> files;
  for (const uint32_t rank : {0u, 1u}) {
    std::vector<uint8_t> bytes;
    for (const std::span<const uint8_t> piece : format::weights_of(contents, rank))
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    const std::span<const uint8_t> piece(bytes);
    files.push_back({"w.bin.rank" + std::to_string(rank), bytes.size(),
                     format::checksum(bytes.data(), bytes.size()),
                     *signature::digest_of({&piece, 1}), rank});
    if (rank == 1) write(folder_ + "/" + files.back().name, bytes);
  }
  bytes_ = format::write_module(contents, files);
  write(path_, bytes_);
  std::ofstream(path_ + ".sig") << *signature::sign(bytes_, signature::kSecretKey, "");
  EXPECT_THAT(message(Module::load(path_)), HasSubstr("w.bin.rank0: No such file or directory"));
  for (const bool is_signed : {false, true}) {
    LoadOptions options = is_signed ? signed_ : LoadOptions();
    options.rank = 1;
    const Result<Module> module = Module::load(path_, options);
    ASSERT_TRUE(module.ok()) << message(module);
    EXPECT_EQ(Session::create(*module).status().message(),
              "the module was loaded with the weights of rank 1 only, and the session has no "
              "transport");
    scopevm_transport transport{};
    transport.rank = 0;
    SessionOptions session;
    session.transport = &transport;
    EXPECT_EQ(Session::create(*module, session).status().message(),
              "the module was loaded with the weights of rank 1 only, but this process is rank 0");
  }
  LoadOptions negative;
  negative.rank = -5;
  EXPECT_EQ(message(Module::load(path_, negative)),
            path_ + ": rank -5 of the options of loading: expected a rank from 0");
  // The bytes of one buffer are those of the rank.
  LoadOptions options;
  options.rank = 1;
  std::ifstream file(folder_ + "/w.bin.rank1", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::vector<uint8_t> given(text.begin(), text.end());
  options.weights = given;
  EXPECT_TRUE(Module::load_bytes(bytes_, options).ok());
  options.rank = 0;
  EXPECT_THAT(message(Module::load_bytes(bytes_, options)),
              HasSubstr("weights w.bin.rank0: 12 bytes, expected"));
}

}  // namespace
}  // namespace scopevm
