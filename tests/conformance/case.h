// One conformance case: a folder with model.onnx and test_data_set_N/{input,output}_M.pb.
#pragma once

#include <string>

#include "tests/conformance/outcome.h"

namespace scopevm::conformance {

// Compiles the model and runs every data set in this process.
Outcome run_case(const std::string& folder);

}  // namespace scopevm::conformance
