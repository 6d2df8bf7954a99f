// Loads the back end as Triton does, compiles modules, and runs requests.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host.h"

namespace scopevm::triton_test {

// The functions of the back end.
class Backend {
 public:
  Backend() : object_(dlopen(SCOPEVM_TRITON_BACKEND, RTLD_NOW | RTLD_LOCAL)) {
    if (object_ == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
  }

#define FUNCTION(name) \
  decltype(&::name) name = reinterpret_cast<decltype(&::name)>(dlsym(object(), #name))
  void* object() const { return object_; }

 private:
  void* object_;

 public:
  FUNCTION(TRITONBACKEND_Initialize);
  FUNCTION(TRITONBACKEND_GetBackendAttribute);
  FUNCTION(TRITONBACKEND_ModelInitialize);
  FUNCTION(TRITONBACKEND_ModelFinalize);
  FUNCTION(TRITONBACKEND_ModelInstanceInitialize);
  FUNCTION(TRITONBACKEND_ModelInstanceFinalize);
  FUNCTION(TRITONBACKEND_ModelInstanceExecute);
  FUNCTION(TRITONBACKEND_ModelBatcherInitialize);
  FUNCTION(TRITONBACKEND_ModelBatcherFinalize);
  FUNCTION(TRITONBACKEND_ModelBatchIncludeRequest);
  FUNCTION(TRITONBACKEND_ModelBatchInitialize);
  FUNCTION(TRITONBACKEND_ModelBatchFinalize);
#undef FUNCTION
};

inline const Backend& backend() {
  static const Backend loaded;
  return loaded;
}

// The message of an error, which is deleted; "" for null.
inline std::string message_of(TRITONSERVER_Error* error) {
  if (error == nullptr) return "";
  std::string message = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return message;
}

// A folder that the destructor removes.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("scopevm-triton-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The module of a graph, which is compiled once per process.
inline std::filesystem::path compiled(const std::string& graph) {
  static Folder folder;
  static std::map<std::string, std::filesystem::path> modules;
  auto& path = modules[graph];
  if (!path.empty()) return path;
  path = folder.path() / (std::to_string(modules.size()) + ".bc");
  const std::filesystem::path source = folder.path() / "graph.mlir";
  std::ofstream(source) << graph;
  const std::string command = std::string(SCOPEVM_COMMAND) + " compile " + source.string() +
                              " -o " + path.string() + " --threads 1";
  if (std::system(command.c_str()) != 0) ADD_FAILURE() << command;
  return path;
}

// A model in a repository. Version 1 has the module of the graph.
class Loaded {
 public:
  Loaded(const std::string& graph, std::string config, int instances = 1, bool completes = false) {
    std::filesystem::create_directories(folder_.path() / "1");
    std::filesystem::copy_file(compiled(graph), folder_.path() / "1" / "module.bc");
    model_.folder = folder_.path().string();
    model_.config = std::move(config);
    model_.completes = completes;
    error_ = message_of(backend().TRITONBACKEND_ModelInitialize(&model_));
    for (int i = 0; error_.empty() && i < instances; ++i) {
      auto& instance = instances_.emplace_back(std::make_unique<TRITONBACKEND_ModelInstance>());
      instance->model = &model_;
      error_ = message_of(backend().TRITONBACKEND_ModelInstanceInitialize(instance.get()));
    }
  }
  ~Loaded() {
    for (const auto& instance : instances_)
      EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelInstanceFinalize(instance.get())), "");
    EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelFinalize(&model_)), "");
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  const std::string& error() const { return error_; }
  TRITONBACKEND_Model& model() { return model_; }
  TRITONBACKEND_ModelInstance& instance(size_t i = 0) { return *instances_[i]; }

  // Executes the requests. Each must be answered, reported and released once.
  void run(std::vector<TRITONBACKEND_Request*> requests, size_t i = 0) {
    ASSERT_EQ(error_, "");
    EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelInstanceExecute(
                  &instance(i), requests.data(), static_cast<uint32_t>(requests.size()))),
              "");
    for (const TRITONBACKEND_Request* request : requests) {
      EXPECT_EQ(request->answer.responses, 1);
      EXPECT_EQ(request->answer.releases, 1);
      EXPECT_EQ(request->answer.reports, 1);
      EXPECT_EQ(request->answer.success, request->answer.error.empty());
    }
  }

 private:
  Folder folder_;
  TRITONBACKEND_Model model_;
  std::vector<std::unique_ptr<TRITONBACKEND_ModelInstance>> instances_;
  std::string error_;
};

// Checks after each test that all objects are deleted.
class TritonTest : public testing::Test {
 protected:
  void SetUp() override {
    behaviour() = {};
    take_log();
  }
  void TearDown() override {
    EXPECT_EQ(live().errors, 0);
    EXPECT_EQ(live().messages, 0);
    EXPECT_EQ(live().responses, 0);
    EXPECT_EQ(live().attributes, 0);
  }
};

// sum = a + b, product = a * b
inline const std::string kPair = R"(
!t = !sv.tensor<f32[n, m]>
func.func @main(%a: !t {sv.name = "a"}, %b: !t {sv.name = "b"})
    -> (!t {sv.name = "sum"}, !t {sv.name = "product"}) {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.mul %a, %b : (!t, !t) -> !t
  return %0, %1 : !t, !t
})";

// y = x after `count` additions of 1
inline const std::string kSlow = R"(
!i = !sv.tensor<i64[]>
!n = !sv.tensor<f32[n]>
func.func @main(%count: !i {sv.name = "count"}, %x: !n {sv.name = "x"}) -> (!n {sv.name = "y"}) {
  %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  sv.read_dims %count {symbols = ["$count"]} : !i
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>} : (!n) -> !n {
  ^bb0(%s: !n):
    %1 = sv.add %s, %one : (!n, !sv.tensor<f32[]>) -> !n
    sv.yield %1 : !n
  }
  return %0 : !n
})";

// out = in, for one element type
inline std::string copy_of(const std::string& type) {
  return "func.func @main(%x: !sv.tensor<" + type + "> {sv.name = \"in\"}) -> (!sv.tensor<" + type +
         "> {sv.name = \"out\"}) {\n  return %x : !sv.tensor<" + type + ">\n}\n";
}

inline const std::string kPairConfig = R"({"max_batch_size": 8,
  "input": [{"name": "a", "data_type": "TYPE_FP32", "dims": [-1]},
            {"name": "b", "data_type": "TYPE_FP32", "dims": ["3"]}],
  "output": [{"name": "sum", "data_type": "TYPE_FP32", "dims": [-1]},
             {"name": "product", "data_type": "TYPE_FP32", "dims": [3]}])";

}  // namespace scopevm::triton_test
