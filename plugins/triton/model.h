// A model of Triton: the module of its version, and the configuration that was checked against it.
// Immutable after load(); instances on several threads use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/triton/api.h"
#include "plugins/triton/config.h"
#include "scopevm/module.h"
#include "scopevm/session.h"

namespace scopevm::triton {

// The inputs of a request, one for each of the signature.
struct InputView {
  TRITONBACKEND_Input* handle = nullptr;  // null: the request does not have the input
  DType dtype = DType::kF32;
  std::span<const int64_t> dims;  // owned by the request
  uint64_t bytes = 0;
  uint32_t buffers = 0;
};

class Model {
 public:
  // Loads VERSION/module.bc of the model's folder, and completes and checks the configuration.
  // Errors: those of Module::load(), Session::create() and read_config(), check_module() and
  // check_config().
  static Result<std::unique_ptr<Model>> load(TRITONBACKEND_Model* handle);

  const Module& module() const { return module_; }
  const Signature& signature() const { return module_.signature(); }
  const Config& config() const { return config_; }
  bool joins_requests() const { return config_.max_batch_size > 0; }
  SessionOptions session_options() const;

  // The inputs of a request. Errors: kInvalidArgument (an input that the module does not have, or
  // of a type that it does not know, or two inputs with one name).
  Result<std::vector<InputView>> inputs_of(TRITONBACKEND_Request* request) const;
  // One value for each dimension of the signature; none if the shapes do not determine them.
  std::optional<std::vector<int64_t>> dims_of(std::span<const InputView> inputs) const;
  // The first dim of the inputs, with max_batch_size above 0 and an input of rank 1 or more;
  // else 1.
  int64_t batch_of(std::span<const InputView> inputs) const;
  // Replaces the value of the batch in dims. REQUIRES: joins_requests().
  void set_batch(std::span<int64_t> dims, int64_t batch) const;
  // True if a call with these dims stays within the memory limits of the configuration, in addition
  // to the constants. False also if the bound is not known.
  bool fits(std::span<const int64_t> dims) const noexcept;

 private:
  Model(Module module, Config config) : module_(std::move(module)), config_(std::move(config)) {}
  Status measure_constants();

  Module module_;
  Config config_;
  int threads_ = 1;  // of a session, also if the configuration has 0
  // For each of module_.memory_scopes(): the bytes that a call can use, at most INT64_MAX.
  std::vector<int64_t> available_;
};

}  // namespace scopevm::triton
