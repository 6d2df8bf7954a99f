// Signatures of bytes: accepted and rejected signatures, and the files of minisign.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/vm/signature/minisign_files.h"
#include "vm/signature/sign.h"
#include "vm/signature/verify.h"

namespace scopevm::signature {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

const std::vector<uint8_t> kFile = bytes_of("a module");

Status verify_with(const std::string& signature, std::vector<std::string> keys = {kPublicKey},
                   const std::vector<uint8_t>& file = kFile) {
  return verify(file, signature, keys);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Signature, OfMinisignIsValid) {
  const Status status = verify_with(kSignature);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Signature, EqualsThatOfMinisign) {
  const Result<std::string> made = sign(kFile, kSecretKey, "trusted text");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(replaced(*made, "signature of a scopevm module", "signature from minisign secret key"),
            kSignature);
}

TEST(Signature, OfANewKeyIsValid) {
  const Result<KeyPair> pair = make_key_pair(), other = make_key_pair();
  ASSERT_TRUE(pair.ok() && other.ok());
  const Result<std::string> made = sign(kFile, pair->secret_key, "");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(verify_with(*made, {pair->public_key}).ok());
  EXPECT_TRUE(verify_with(*made, {kPublicKey, other->public_key, pair->public_key}).ok());
  EXPECT_FALSE(verify_with(*made, {kPublicKey, other->public_key}).ok());
  EXPECT_NE(pair->secret_key, other->secret_key);
}

TEST(Signature, PublicKeyCanBeItsLineOfBase64) {
  const std::string text = kPublicKey, line = text.substr(text.find('\n') + 1);
  EXPECT_TRUE(verify_with(kSignature, {line}).ok());
  EXPECT_TRUE(verify_with(kSignature, {line.substr(0, line.size() - 1)}).ok());
}

TEST(Signature, EachChangedBitOfTheFileIsDetected) {
  for (size_t bit = 0; bit < kFile.size() * 8; ++bit) {
    std::vector<uint8_t> file = kFile;
    file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    const Status status = verify_with(kSignature, {kPublicKey}, file);
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
    EXPECT_EQ(status.message(), "the signature does not match the module");
  }
  EXPECT_FALSE(verify_with(kSignature, {kPublicKey}, {}).ok());
}

TEST(Signature, OtherKeysAreRejectedByName) {
  const Result<KeyPair> other = make_key_pair();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(verify_with(kSignature, {other->public_key}).message(),
            "the signature is by key EEC60BC2CD14FD67, which is not one of the public keys");
  EXPECT_FALSE(verify_with(kSignature, {}).ok());
}

TEST(Signature, ChangedTrustedCommentIsDetected) {
  EXPECT_EQ(verify_with(replaced(kSignature, "trusted text", "other text")).message(),
            "the trusted comment of the signature does not match it");
  // The untrusted comment is not signed.
  EXPECT_TRUE(verify_with(replaced(kSignature, "from minisign", "of an unknown key")).ok());
}

TEST(Signature, OfTheFileInsteadOfItsDigestIsRejected) {
  EXPECT_EQ(verify_with(kSignatureOfFile).message(),
            "the signature is not of a digest; sign with minisign 0.10 or later");
}

TEST(Signature, MalformedTextsAreErrors) {
  const std::string good = kSignature;
  for (size_t size = 0; size + 1 < good.size(); ++size)
    EXPECT_FALSE(verify_with(good.substr(0, size)).ok()) << size;
  EXPECT_EQ(verify_with("").message(), "malformed signature");
  EXPECT_EQ(verify_with(good + "more\n").message(), "malformed signature");
  EXPECT_EQ(verify_with(replaced(good, "RURn", "RQRn")).message(), "malformed signature");
  EXPECT_EQ(verify_with(good, {""}).message(), "malformed public key");
  EXPECT_EQ(verify_with(good, {replaced(kPublicKey, "RWRn", "RURn")}).message(),
            "malformed public key");
  EXPECT_EQ(verify_with(good, {kSecretKey}).message(), "malformed public key");
  EXPECT_EQ(sign(kFile, kPublicKey, "").status().message(), "malformed secret key");
  EXPECT_EQ(sign(kFile, kSecretKey, "two\nlines").status().message(),
            "a trusted comment has one line");
}

TEST(SecretKey, DamagedOneIsRejected) {
  const Result<KeyPair> pair = make_key_pair();
  ASSERT_TRUE(pair.ok());
  std::string damaged = pair->secret_key;
  char& digit = damaged[damaged.size() - 100];
  digit = digit == 'A' ? 'B' : 'A';
  EXPECT_EQ(sign(kFile, damaged, "").status().message(), "secret key: checksum mismatch");
}

TEST(SecretKey, EncryptedOneIsAnErrorThatSaysWhatToDo) {
  EXPECT_EQ(sign(kFile, replaced(kSecretKey, "RWQAAEIy", "RWRTY0Iy"), "").status().message(),
            "the secret key is encrypted with a password; sign with minisign, or use a key of "
            "scopevm sign --new-key");
}

}  // namespace
}  // namespace scopevm::signature
