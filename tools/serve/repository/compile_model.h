// Compiles an ONNX model with `scopevm compile` in a process of its own.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::serve {

// Writes the module for `model` to `output`. `options` are those of `scopevm compile`; `cache` is
// the folder of its compiled modules (empty: none). Messages of the compiler are in the message of
// the error. A request to stop ends the compiler. Errors: kNotFound (the compiler is not
// installed), kInvalidModel (it failed), kCancelled (it was stopped).
Status compile_model(const std::filesystem::path& model, const std::filesystem::path& output,
                     const std::vector<std::string>& options, const std::filesystem::path& cache,
                     const std::stop_token& stop);

}  // namespace scopevm::serve
