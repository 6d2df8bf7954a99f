// Runs one conformance case: a folder with model.onnx and test_data_set_N/{input,output}_M.pb.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/outcome.h"
#include "tests/conformance/reference_tensor.h"

namespace scopevm::conformance {

// Machine description and placement rules, as in CompileOptions. Default: the host's CPU.
struct Target {
  std::string machine_json;
  std::vector<std::string> places;
  std::vector<std::string> target_cpus;
  Tolerance tolerance;
};

// Compiles the model and runs its data sets in this process. Returns the first outcome that is not
// kPass.
Outcome run_case(const std::string& folder, const Target& target = {});

}  // namespace scopevm::conformance
