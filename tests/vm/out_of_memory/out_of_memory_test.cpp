// Makes each call of operator new in an operation fail: first alone, then together with all later
// calls. The operation must return kOutOfMemory and release its memory, without an exception. The
// next call of the session must return the expected results.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "tests/vm/modules/adder.h"
#include "tests/vm/modules/test_modules.h"
#include "tests/vm/steady_state/counted_heap.h"

namespace scopevm {
namespace {

// `count` failing calls of operator new, beginning with call `first` of an operation.
struct Failure {
  template <typename Operation>
  auto during(Operation&& operation) {
    test::fail_heap_calls(first, count);
    auto result = operation();
    has_occurred = test::failed_heap_calls() > 0;
    test::fail_heap_calls(0, 0);
    return result;
  }

  int64_t first = 1;
  int64_t count = 1;
  bool has_occurred = false;
};

// The process keeps its list of pools, and the thread its list of caches. They are allocated here,
// so that they are not counted as leaks.
void warm_up_pools() {
  constexpr size_t kMostPools = 16;  // of a session
  std::vector<std::shared_ptr<Allocator>> pools;
  while (pools.size() < kMostPools) {
    auto pool = make_allocator("pool");
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    void* const block = (*pool)->allocate(64);
    ASSERT_NE(block, nullptr);
    (*pool)->deallocate(block, 64);
    pools.push_back(*std::move(pool));
  }
}

// Calls body(failure) for every failure of the operation that `body` passes to failure.during().
// There are two sequences: failures of single calls, and failures of one call and all later ones.
// In the last body of each sequence, the operation succeeds.
template <typename Body>
void for_each_failure(Body&& body) {
  warm_up_pools();
  constexpr int64_t kAll = int64_t{1} << 60;
  for (const int64_t count : {int64_t{1}, kAll}) {
    Failure failure{.first = 0, .count = count};
    do {
      ++failure.first;
      SCOPED_TRACE("call " + std::to_string(failure.first) + " of operator new fails" +
                   (count == 1 ? "" : ", and every later one"));
      const int64_t blocks = test::heap_blocks();
      body(failure);
      if (::testing::Test::HasFailure()) return;
      EXPECT_EQ(test::heap_blocks(), blocks) << "leaked blocks";
    } while (failure.has_occurred);
    EXPECT_GT(failure.first, 1) << "the operation allocates nothing";
  }
}

// After a failure, an operation can succeed: a pool works without the cache of a thread.
void expect_out_of_memory(StatusCode code, std::string_view message, const Failure& failure) {
  if (failure.has_occurred && code == StatusCode::kOk) return;
  EXPECT_EQ(code, failure.has_occurred ? StatusCode::kOutOfMemory : StatusCode::kOk) << message;
}
void expect_out_of_memory(const Status& status, const Failure& failure) {
  expect_out_of_memory(status.code(), status.message(), failure);
}

struct Input {
  std::string_view name;
  ValueKind kind = ValueKind::kTensor;
  std::vector<Tensor> tensors;
};

struct Model {
  std::string name;
  std::vector<uint8_t> module;
  std::vector<Input> inputs;
};

void PrintTo(const Model& model, std::ostream* to) { *to << model.name; }

Tensor floats(std::initializer_list<int64_t> dims) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  float value = 0;
  for (float& element : tensor.elements<float>()) element = value++;
  return tensor;
}

std::vector<Model> models() {
  const std::string_view strings[] = {"a string that is too long for its object", "two"};
  const int64_t two[] = {2};
  return {
      // Runs the kernels of a variant and reads a constant.
      {"sum",
       test::file_of(test::variant_contents()),
       {{.name = "x", .tensors = {floats({6, 4})}}, {.name = "y", .tensors = {floats({6, 4})}}}},
      {"strings",
       test::file_of(test::upper_contents()),
       {{.name = "x", .tensors = {*Tensor::from_strings(strings, two)}}}},
      {"lists",
       test::file_of(test::sequence_contents()),
       {{"xs", ValueKind::kSequence, {floats({3}), floats({5})}},
        {"o", ValueKind::kOptional, {floats({1})}}}},
      {"external",
       test::file_of(test::external_contents()),
       {{.name = "x", .tensors = {floats({6, 4})}}, {.name = "y", .tensors = {floats({6, 4})}}}},
      {"recursion",
       test::file_of(test::recursive_contents()),
       {{.name = "x", .tensors = {floats({250})}}}}};
}

SessionOptions session_options() { return {.external_libraries = {&test::kAdder}}; }

// The bytes of all results.
std::string answer_of(const Call& call) {
  std::string answer;
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    const Result<std::span<const Tensor>> elements = call.elements(i);
    for (const Tensor& tensor : *elements)
      answer.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
  }
  return answer;
}

Status set_inputs(Call& call, std::vector<Input> inputs) {
  for (Input& input : inputs)
    SCOPEVM_RETURN_IF_ERROR(input.kind == ValueKind::kSequence
                                ? call.set_sequence(input.name, std::move(input.tensors))
                                : call.set_input(input.name, input.tensors[0]));
  return {};
}

std::string answer_of(const Session& session, const Model& model) {
  Call call = *session.make_call();
  EXPECT_TRUE(set_inputs(call, model.inputs).ok());
  const Status status = call.run();
  EXPECT_TRUE(status.ok()) << status.message();
  return answer_of(call);
}

class OutOfMemory : public ::testing::TestWithParam<Model> {
 protected:
  const Model& model_ = GetParam();
};

TEST_P(OutOfMemory, LoadBytes) {
  for_each_failure([&](Failure& failure) {
    const Result<Module> module = failure.during([&] { return Module::load_bytes(model_.module); });
    expect_out_of_memory(module.status(), failure);
  });
}

TEST_P(OutOfMemory, LoadFile) {
  const std::string path = ::testing::TempDir() + "/out_of_memory_" + model_.name + ".bc";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(model_.module.data()),
             static_cast<std::streamsize>(model_.module.size()));
  for_each_failure([&](Failure& failure) {
    const Result<Module> module = failure.during([&] { return Module::load(path); });
    expect_out_of_memory(module.status(), failure);
  });
  std::remove(path.c_str());
}

TEST_P(OutOfMemory, CreateASession) {
  const std::string expected =
      answer_of(*Session::create(*Module::load_bytes(model_.module), session_options()), model_);
  for_each_failure([&](Failure& failure) {
    const Module module = *Module::load_bytes(model_.module);
    {
      SessionOptions options = session_options();
      const Result<Session> session =
          failure.during([&] { return Session::create(module, std::move(options)); });
      expect_out_of_memory(session.status(), failure);
    }
    EXPECT_EQ(answer_of(*Session::create(module, session_options()), model_), expected);
  });
}

TEST_P(OutOfMemory, Call) {
  const Module module = *Module::load_bytes(model_.module);
  const std::string expected = answer_of(*Session::create(module, session_options()), model_);
  for_each_failure([&](Failure& failure) {
    const Session session = *Session::create(module, session_options());
    std::optional<Call> call;
    std::vector<Input> inputs = model_.inputs;
    const Status status = failure.during([&]() -> Status {
      SCOPEVM_ASSIGN_OR_RETURN(call, session.make_call());
      SCOPEVM_RETURN_IF_ERROR(set_inputs(*call, std::move(inputs)));
      return call->run();
    });
    expect_out_of_memory(status, failure);
    if (!status.ok())
      for (const ScopeStats& stats : *session.memory_stats())
        EXPECT_EQ(stats.memory.live_bytes, 0) << status.message();
    if (call) {
      EXPECT_TRUE(set_inputs(*call, model_.inputs).ok());
      EXPECT_TRUE(call->run().ok());
      EXPECT_EQ(answer_of(*call), expected);
    }
    EXPECT_EQ(answer_of(session, model_), expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, OutOfMemory, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param.name; });

TEST(OutOfMemory, SessionFunctions) {
  const Module module = test::load(test::sum_contents());
  const std::vector<Tensor> inputs{floats({6, 4}), floats({6, 4})};
  EXPECT_TRUE(Session::create(module).ok());  // loads the kernels, which the module keeps
  for_each_failure([&](Failure& failure) {
    const Session session = *Session::create(module);
    const Result<std::vector<Tensor>> results =
        failure.during([&] { return session.call(inputs); });
    expect_out_of_memory(results.status(), failure);
    EXPECT_TRUE(session.call(inputs).ok());
  });
  const Session session = *Session::create(module);
  for_each_failure([&](Failure& failure) {
    const auto stats = failure.during([&] { return session.memory_stats(); });
    expect_out_of_memory(stats.status(), failure);
  });
  const std::map<std::string, int64_t> dims{{"n", 6}};
  for_each_failure([&](Failure& failure) {
    const auto bound = failure.during([&] { return module.memory_bound(dims); });
    expect_out_of_memory(bound.status(), failure);
  });
}

// If the message of an error cannot be allocated, the status is kOutOfMemory.
TEST(OutOfMemory, Messages) {
  const Session session = *Session::create(test::load(test::sum_contents()));
  Call call = *session.make_call();
  for_each_failure([&](Failure& failure) {
    const Status status =
        failure.during([&] { return call.set_input("a name that is too long", Tensor()); });
    EXPECT_EQ(status.code(),
              failure.has_occurred ? StatusCode::kOutOfMemory : StatusCode::kNotFound);
  });
  for_each_failure([&](Failure& failure) {
    const Result<Tensor> tensor =
        failure.during([] { return Tensor::allocate(DType::kF32, {-1}); });
    EXPECT_EQ(tensor.status().code(),
              failure.has_occurred ? StatusCode::kOutOfMemory : StatusCode::kInvalidArgument);
  });
}

TEST(OutOfMemory, StatusKeepsItsCode) {
  const Status status(StatusCode::kNotFound, "a message that is too long for its string object");
  Failure failure{.first = 1, .count = int64_t{1} << 60};
  const Status copy = failure.during([&] { return Status(status).with_context("context"); });
  EXPECT_TRUE(failure.has_occurred);
  EXPECT_EQ(copy.code(), StatusCode::kNotFound);
  EXPECT_EQ(copy.message(), status.message());
}

TEST(OutOfMemory, Tensors) {
  const std::string_view strings[] = {"one", "two"};
  const int64_t two[] = {2};
  int released = 0;
  float data[2] = {};
  const auto expect_clean = [](const std::function<Result<Tensor>()>& create) {
    for_each_failure([&](Failure& failure) {
      const Result<Tensor> tensor = failure.during(create);
      expect_out_of_memory(tensor.status(), failure);
    });
  };
  expect_clean([] { return Tensor::allocate(DType::kF32, {1000}); });
  expect_clean([&] { return Tensor::from_strings(strings, two); });
  expect_clean([&] { return Tensor::adopt(data, DType::kF32, two, [&] { ++released; }); });
  // The deleter runs once per successful operation, which is the last one of each sequence.
  EXPECT_EQ(released, 2);
  const Tensor tensor = floats({2});
  for_each_failure([&](Failure& failure) {
    const Result<DLManagedTensor*> managed = failure.during([&] { return tensor.to_dlpack(); });
    expect_out_of_memory(managed.status(), failure);
    if (managed.ok()) (*managed)->deleter(*managed);
  });
}

// Owns handles of the C API.
struct Handles {
  ~Handles() {
    if (output != nullptr) output->deleter(output);
    scopevm_call_free(call);
    scopevm_session_free(session);
    scopevm_module_free(module);
  }
  scopevm_module* module = nullptr;
  scopevm_session* session = nullptr;
  scopevm_call* call = nullptr;
  DLManagedTensor* output = nullptr;
};

scopevm_status* run(const std::vector<uint8_t>& module, const DLTensor& x, Handles& handles) {
  if (auto* status =
          scopevm_module_load_bytes(module.data(), module.size(), nullptr, &handles.module))
    return status;
  scopevm_session_options options{};
  const scopevm_memory_limit limit{"global.workspace", 1 << 20};
  options.struct_size = sizeof options;
  options.limits = &limit;
  options.limit_count = 1;
  options.limit_size = sizeof limit;
  if (auto* status = scopevm_session_create(handles.module, &options, &handles.session))
    return status;
  if (auto* status = scopevm_call_create(handles.session, &handles.call)) return status;
  for (const char* input : {"x", "y"})
    if (auto* status = scopevm_call_set_input(handles.call, input, &x)) return status;
  if (auto* status = scopevm_call_run(handles.call, nullptr)) return status;
  return scopevm_call_output(handles.call, 0, &handles.output);
}

TEST(OutOfMemory, CApi) {
  const std::vector<uint8_t> module = test::file_of(test::sum_contents());
  float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t shape[] = {2, 4};
  DLTensor x{};
  x.data = data;
  x.device = {kDLCPU, 0};
  x.ndim = 2;
  x.dtype = {kDLFloat, 32, 1};
  x.shape = shape;
  for_each_failure([&](Failure& failure) {
    Handles handles;
    scopevm_status* status = failure.during([&] { return run(module, x, handles); });
    expect_out_of_memory(static_cast<StatusCode>(scopevm_status_code(status)),
                         status ? scopevm_status_message(status) : "", failure);
    scopevm_status_free(status);
    if (handles.output != nullptr)
      EXPECT_EQ(static_cast<float*>(handles.output->dl_tensor.data)[7], 32);
  });
}

}  // namespace
}  // namespace scopevm
