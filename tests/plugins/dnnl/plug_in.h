// Calls the plug-in libscopevm_dnnl.so as a session does: through dlopen() and the ABI.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/c/external.h"
#include "scopevm/status.h"
#include "vm/format/schema/formula.h"

// The plug-in computes matrix products on CPUs with AVX-512 only.
#define SKIP_WITHOUT_AVX512()               \
  if (!__builtin_cpu_supports("avx512f")) { \
    GTEST_SKIP() << "no AVX-512";           \
  }

namespace scopevm::onednn_test {

inline const scopevm_external_library& library() {
  static const scopevm_external_library* loaded = [] {
    void* handle = dlopen(SCOPEVM_DNNL_PLUG_IN, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      ADD_FAILURE() << dlerror();
      std::abort();
    }
    auto entry = reinterpret_cast<scopevm_external_entry>(dlsym(handle, SCOPEVM_EXTERNAL_ENTRY));
    return entry(SCOPEVM_EXTERNAL_ABI_VERSION);
  }();
  return *loaded;
}

struct Outcome {
  StatusCode code = StatusCode::kOk;
  std::string text;  // the message; the workspace formula of a successful query

  int64_t workspace_bytes(int64_t threads) const {
    return format::evaluate_formula(text, {{"$threads", threads}}).value();
  }
};

// `constants` are the constant operands of the function.
inline Outcome accept(const std::string& description,
                      const std::vector<scopevm_external_constant*>& constants = {}) {
  char workspace[1 << 16] = "0", message[1024] = "";
  std::vector<scopevm_external_constant> given;
  for (const scopevm_external_constant* constant : constants) given.push_back(*constant);
  scopevm_external_query query = {.struct_size = sizeof(query),
                                  .symbol = "f",
                                  .description = description.c_str(),
                                  .workspace = workspace,
                                  .workspace_size = sizeof(workspace),
                                  .message = message,
                                  .message_size = sizeof(message),
                                  .constants = given.data(),
                                  .constant_count = given.size()};
  const auto code = static_cast<StatusCode>(library().accept(library().context, &query));
  for (size_t i = 0; i < given.size(); ++i) *constants[i] = given[i];
  return {code, code == StatusCode::kOk ? workspace : message};
}

using Dims = std::vector<int64_t>;

struct Tensor {
  Dims dims;
  std::vector<float> data;
  std::vector<uint8_t> prepared;  // the bytes of a prepared operand, which `dims` then counts
  explicit Tensor(Dims shape) : dims(std::move(shape)), data(static_cast<size_t>(count())) {}
  int64_t count() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  DLTensor view() {
    if (!prepared.empty())
      return {prepared.data(), {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, dims.data(), nullptr, 0};
    return {data.data(),
            {kDLCPU, 0},
            static_cast<int32_t>(dims.size()),
            {kDLFloat, 32, 1},
            dims.data(),
            nullptr,
            0};
  }
};

// An op of a description; `type` is that of its result.
inline nlohmann::json op_of(const std::string& name, const std::vector<int>& operands,
                            const Dims& dims,
                            const nlohmann::json& attributes = nlohmann::json::object()) {
  return {{"op", name},
          {"operands", operands},
          {"attributes", attributes},
          {"results", {{{"dtype", "f32"}, {"dims", dims}}}}};
}

inline nlohmann::json describe(const std::vector<Dims>& operands, const nlohmann::json& ops) {
  nlohmann::json types = nlohmann::json::array();
  for (const Dims& dims : operands) types.push_back({{"dtype", "f32"}, {"dims", dims}});
  return {{"operands", types}, {"ops", ops}, {"results", {operands.size() + ops.size() - 1}}};
}

// Replaces an operand by its prepared form, and adds that to the description.
inline Outcome prepare(nlohmann::json& description, const scopevm_external_constant& constant,
                       Tensor& operand) {
  description["operands"][constant.operand]["prepared"] = {{"bytes", constant.bytes},
                                                           {"layout", constant.layout}};
  std::vector<uint8_t> bytes(static_cast<size_t>(constant.bytes));
  const DLTensor value = operand.view();
  char message[1024] = "";
  const int code =
      library().prepare(library().context, "f", description.dump().c_str(), constant.operand,
                        &value, bytes.data(), message, sizeof(message));
  operand.dims = {constant.bytes};
  operand.prepared = std::move(bytes);
  return {static_cast<StatusCode>(code), message};
}

// The arguments of a run. The bytes after the workspace are checked at the end.
class PreparedRun {
 public:
  PreparedRun(std::vector<Tensor>& operands, Tensor& result, int64_t workspace_bytes, int threads,
              bool is_stopped = false)
      : bytes_(static_cast<size_t>(workspace_bytes)),
        size_((bytes_ + 2 * kAlignment) / kAlignment * kAlignment),
        workspace_(static_cast<char*>(std::aligned_alloc(kAlignment, size_)), &std::free),
        result_(result.view()),
        is_stopped_(is_stopped) {
    std::fill_n(workspace_.get(), size_, kFiller);
    for (Tensor& operand : operands) operands_.push_back(operand.view());
    run_.struct_size = sizeof(run_);
    run_.operands = operands_.data();
    run_.operand_count = operands_.size();
    run_.results = &result_;
    run_.result_count = 1;
    run_.workspace = workspace_.get();
    run_.workspace_bytes = workspace_bytes;
    run_.threads = threads;
    run_.executor = &is_stopped_;
    run_.is_stopped = [](void* executor) { return *static_cast<bool*>(executor) ? 1 : 0; };
    run_.message = message_;
    run_.message_size = sizeof(message_);
  }
  ~PreparedRun() {
    for (size_t i = bytes_; i < size_; ++i)
      EXPECT_EQ(workspace_.get()[i], kFiller) << "written after the workspace";
  }
  PreparedRun(const PreparedRun&) = delete;
  PreparedRun& operator=(const PreparedRun&) = delete;

  const scopevm_external_run& arguments() const { return run_; }
  const char* message() const { return message_; }

 private:
  static constexpr size_t kAlignment = 64;
  static constexpr char kFiller = '\x5a';

  size_t bytes_;
  size_t size_;
  std::unique_ptr<char, decltype(&std::free)> workspace_;
  std::vector<DLTensor> operands_;
  DLTensor result_;
  bool is_stopped_;
  char message_[1024] = "";
  scopevm_external_run run_ = {};
};

// A function of a session.
class Function {
 public:
  explicit Function(const std::string& description) {
    char message[1024] = "";
    created_.code = static_cast<StatusCode>(library().create(
        library().context, "f", description.c_str(), &function_, message, sizeof(message)));
    created_.text = message;
  }
  ~Function() {
    if (function_ != nullptr) library().destroy(library().context, function_);
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const Outcome& created() const { return created_; }

  StatusCode run(PreparedRun& prepared) {
    return static_cast<StatusCode>(
        library().run(library().context, function_, &prepared.arguments()));
  }

  Outcome run(std::vector<Tensor>& operands, Tensor& result, int64_t workspace_bytes,
              int threads = 1, bool is_stopped = false) {
    PreparedRun prepared(operands, result, workspace_bytes, threads, is_stopped);
    const StatusCode code = run(prepared);
    return {code, prepared.message()};
  }

 private:
  void* function_ = nullptr;
  Outcome created_;
};

}  // namespace scopevm::onednn_test
