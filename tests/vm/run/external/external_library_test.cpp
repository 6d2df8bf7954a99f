// Loading of plug-ins with external libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ExternalLibrary, LoadsAPlugIn) {
  const Result<ExternalLibrary> library = ExternalLibrary::load(SCOPEVM_TEST_PLUG_IN);
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_STREQ(library->get()->name, "test");
  const Session session = *Session::create(test::load(test::external_contents()),
                                           {.external_libraries = {library->get()}});
  const Tensor ones = *Tensor::allocate(DType::kF32, {2, 4});
  for (float& element : ones.elements<float>()) element = 1;
  const auto results = session.call(std::vector{ones, ones});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ((*results)[0].elements<float>()[7], 2);
}

std::string error_of(const std::string& name, StatusCode code) {
  const Status status = ExternalLibrary::load(name).status();
  EXPECT_EQ(status.code(), code);
  return std::string(status.message());
}

TEST(ExternalLibrary, ReportsAPlugInThatCannotBeLoaded) {
  EXPECT_THAT(error_of("missing", StatusCode::kNotFound),
              StartsWith("external library \"missing\": libscopevm_missing.so: cannot open"));
  EXPECT_THAT(error_of("missing.so", StatusCode::kNotFound),
              StartsWith("external library \"missing.so\": ./missing.so: cannot open"));
  EXPECT_THAT(error_of("/missing", StatusCode::kNotFound),
              StartsWith("external library \"/missing\": /missing: cannot open"));
  EXPECT_EQ(error_of(SCOPEVM_TEST_KERNELS, StatusCode::kNotFound),
            "external library \"" SCOPEVM_TEST_KERNELS "\": " SCOPEVM_TEST_KERNELS
            " does not define scopevm_external_library_entry");
  setenv("SCOPEVM_TEST_NO_ABI", "1", 1);
  EXPECT_THAT(error_of(SCOPEVM_TEST_PLUG_IN, StatusCode::kUnsupported),
              HasSubstr("does not support ABI version 1"));
  unsetenv("SCOPEVM_TEST_NO_ABI");
}

}  // namespace
}  // namespace scopevm
