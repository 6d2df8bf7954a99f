// The modules of the corpus.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tests/corpus/cases.h"

namespace scopevm::corpus {

// The folder of the versions.
std::filesystem::path folder();
// All modules, in alphabetical order.
std::vector<std::filesystem::path> modules();
// "0_15_dense".
std::string test_name(const ::testing::TestParamInfo<std::filesystem::path>& test);

Status set_inputs(Call& call, const Case& with);

}  // namespace scopevm::corpus
