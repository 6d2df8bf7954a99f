// The load of models: versions, configurations, completion, limits, batching callbacks, states.
#include <nlohmann/json.hpp>

#include "backend.h"

namespace scopevm::triton_test {
namespace {

using nlohmann::json;
using Request = TRITONBACKEND_Request;

class TritonModels : public TritonTest {};

// The error of a load of kPair with this configuration.
std::string error_of(const std::string& config) { return Loaded(kPair, config).error(); }

std::string input(const std::string& rest) {
  return R"({"input": [{"name": "a", "data_type": "TYPE_FP32", "dims": [-1, 3]}, )" + rest + "]}";
}

TEST_F(TritonModels, ChecksTheVersionOfTheServer) {
  const auto error_with = [](uint32_t major, uint32_t minor) {
    behaviour().major = major;
    behaviour().minor = minor;
    return message_of(backend().TRITONBACKEND_Initialize(nullptr));
  };
  EXPECT_EQ(error_with(1, 19), "");
  EXPECT_EQ(error_with(1, 25), "");
  EXPECT_EQ(error_with(1, 18),
            "the server has version 1.18 of the back end API, expected version 1.19 or later with "
            "the same major number");
  EXPECT_NE(error_with(2, 19), "");
}

TEST_F(TritonModels, PrefersInstancesOnCpus) {
  TRITONBACKEND_BackendAttribute attributes;
  EXPECT_EQ(message_of(backend().TRITONBACKEND_GetBackendAttribute(nullptr, &attributes)), "");
  EXPECT_EQ(attributes.kind, TRITONSERVER_INSTANCEGROUPKIND_CPU);
  EXPECT_TRUE(attributes.loads_in_parallel);
  behaviour().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  EXPECT_EQ(Loaded(kPair, kPairConfig + "}").error(),
            "the instance group has the kind KIND_GPU, expected KIND_CPU or KIND_MODEL");
}

TEST_F(TritonModels, ReportsAMissingModule) {
  TRITONBACKEND_Model model;
  const Folder folder;
  model.folder = folder.path().string();
  model.version = 7;
  model.config = "{}";
  EXPECT_NE(message_of(backend().TRITONBACKEND_ModelInitialize(&model)).find("7/module.bc"),
            std::string::npos);
  EXPECT_EQ(model.state, nullptr);
  behaviour().artifacts = static_cast<TRITONBACKEND_ArtifactType>(1);
  EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelInitialize(&model)),
            "the model repository is not a folder");
}

TEST_F(TritonModels, RejectsMalformedConfigurations) {
  const std::string prefix = "model configuration: ";
  EXPECT_EQ(error_of("{"), prefix + "expected a JSON object");
  EXPECT_EQ(error_of("[]"), prefix + "expected a JSON object");
  EXPECT_EQ(error_of(R"({"max_batch_size": -1})"), prefix + "max_batch_size is -1");
  EXPECT_EQ(error_of(R"({"input": 3})"), prefix + "\"input\" is not a list");
  EXPECT_EQ(error_of(R"({"input": [3]})"),
            prefix + "\"input\" has an element of another type than object");
  EXPECT_EQ(error_of(R"({"input": [{}]})"),
            prefix + "an element of \"input\" has no string \"name\"");
  EXPECT_EQ(error_of(input(R"({"name": "b", "data_type": "TYPE_FP32", "dims": [-2]})")),
            prefix + "\"b\" has the dim -2, expected -1 or a size");
  const auto parameter = [](const std::string& key, const std::string& value) {
    return error_of("{\"parameters\": {\"" + key + "\": " + value + "}}");
  };
  EXPECT_EQ(parameter("threads", "3"), prefix + "the parameter \"threads\" has no string_value");
  EXPECT_EQ(parameter("threads", R"({"string_value": "many"})"),
            prefix + "the parameter \"threads\" is \"many\", expected 0 to 4096");
  for (const char* bytes : {"", "MiB", "1 TiB", "-1", "99999999999 GiB"})
    EXPECT_EQ(
        parameter("memory_limit.global", "{\"string_value\": \"" + std::string(bytes) + "\"}"),
        prefix + "the parameter \"memory_limit.global\" is \"" + bytes +
            "\", expected bytes such as \"64 MiB\"");
}

TEST_F(TritonModels, NamesDifferencesToTheSignature) {
  const std::string prefix = "model configuration: ";
  EXPECT_EQ(error_of(input(R"({"name": "c", "data_type": "TYPE_FP32", "dims": [-1, 3]})")),
            prefix + R"(input "c" does not exist, the module has "a", "b")");
  EXPECT_EQ(error_of(R"({"output": [{"name": "x", "data_type": "TYPE_FP32", "dims": [1]}]})"),
            prefix + R"(output "x" does not exist, the module has "sum", "product")");
  EXPECT_EQ(error_of(input(R"({"name": "b", "data_type": "TYPE_INT8", "dims": [-1, 3]})")),
            prefix + R"(input "b" has data_type TYPE_INT8, expected TYPE_FP32)");
  EXPECT_EQ(error_of(input(R"({"name": "b", "data_type": "TYPE_FP32", "dims": [-1]})")),
            prefix + R"(input "b" has dims [-1], the module has [n, m])");
  EXPECT_EQ(error_of(R"({"input": []})"), prefix + R"(input "a" of the module is not declared)");
  EXPECT_EQ(error_of(R"({"max_batch_size": 8, "input": [
                {"name": "a", "data_type": "TYPE_FP32", "dims": [0]},
                {"name": "b", "data_type": "TYPE_FP32", "dims": [1]}]})"),
            prefix + R"(input "a" has dims [0], the module has [m] after the batch)");
}

TEST_F(TritonModels, ChecksTheInputsOfSequences) {
  const std::string prefix = "model configuration: ";
  const auto error_with = [](const std::string& batching) {
    return error_of(kPairConfig + R"(, "sequence_batching": {)" + batching + "}}");
  };
  EXPECT_EQ(error_with(R"("control_input": [{"name": "START", "control": []}])"),
            prefix + R"(input "START" does not exist, the module has "a", "b")");
  EXPECT_EQ(error_with(R"("state": [{"input_name": "a", "output_name": "c"}])"),
            prefix + R"(output "c" does not exist, the module has "sum", "product")");
  EXPECT_EQ(error_with(R"("state": [{"output_name": "sum"}])"),
            prefix + R"(an element of "state" has no string "input_name")");
  EXPECT_EQ(error_with(R"("state": [{"input_name": "a", "output_name": "sum"}])"), "");
}

TEST_F(TritonModels, ChecksTheBatch) {
  const std::string prefix = "model configuration: ";
  const std::string config = R"({"max_batch_size": 9})";
  EXPECT_EQ(Loaded(kSlow, config).error(),
            prefix + "max_batch_size is above 0, but the module has no first input with a batch");
  EXPECT_EQ(
      Loaded(copy_of("f32[4]"), config).error(),
      prefix +
          R"(max_batch_size is above 0, but the first dim of input "in" is 4, expected a named dimension)");
  const std::string two_batches = R"(
!n = !sv.tensor<f32[n]>
!m = !sv.tensor<f32[m]>
func.func @main(%a: !n {sv.name = "a"}, %b: !m {sv.name = "b"})
    -> (!n {sv.name = "x"}, !m {sv.name = "y"}) {
  return %a, %b : !n, !m
})";
  EXPECT_EQ(
      Loaded(two_batches, config).error(),
      prefix +
          R"(max_batch_size is above 0, but the first dim of input "b" is m, expected the batch "n")");
  EXPECT_EQ(
      error_of(R"({"max_batch_size": 9999999999})"),
      prefix +
          R"(max_batch_size is 9999999999, the dimension "n" of the module is at most 2147483648)");
}

TEST_F(TritonModels, RejectsWhatTritonCannotRepresent) {
  const std::string list = R"(
!n = !sv.tensor<f32[n, m]>
!list = !sv.list<sequence f32[?, ?]>
func.func @main(%x: !n {sv.name = "x"}) -> (!list {sv.name = "pair"}) {
  %0 = sv.neg %x : (!n) -> !n
  %1 = sv.list %x, %0 : (!n, !n) -> !list
  return %1 : !list
})";
  EXPECT_EQ(Loaded(list, "{}").error(),
            R"(output "pair" of the module has the kind sequence, which Triton cannot represent)");
  EXPECT_EQ(Loaded(copy_of("i4[n]"), "{}").error(),
            R"(input "in" of the module has the element type i4, which Triton cannot represent)");
}

TEST_F(TritonModels, CompletesTheConfiguration) {
  Loaded loaded(kPair, R"({"max_batch_size": 8, "name": "pair"})", 1, /*completes=*/true);
  EXPECT_EQ(loaded.error(), "");
  EXPECT_EQ(json::parse(loaded.model().config), json::parse(kPairConfig + R"(, "name": "pair",
      "input": [{"name": "a", "data_type": "TYPE_FP32", "dims": [-1]},
                {"name": "b", "data_type": "TYPE_FP32", "dims": [-1]}],
      "output": [{"name": "sum", "data_type": "TYPE_FP32", "dims": [-1]},
                 {"name": "product", "data_type": "TYPE_FP32", "dims": [-1]}]})"));
  Loaded scalar(kSlow, R"({"input": []})", 1, /*completes=*/true);
  EXPECT_EQ(json::parse(scalar.model().config)["input"][0], json::parse(R"(
      {"name": "count", "data_type": "TYPE_INT64", "dims": [1], "reshape": {"shape": []}})"));
  behaviour().failing = {"TRITONBACKEND_ModelSetConfig"};
  EXPECT_EQ(Loaded(kPair, "{}", 1, true).error(), "TRITONBACKEND_ModelSetConfig: injected");
}

TEST_F(TritonModels, ReportsFailuresOfTheServer) {
  for (const char* function :
       {"TRITONSERVER_MessageNewFromSerializedJson", "TRITONSERVER_MessageSerializeToJson",
        "TRITONBACKEND_ModelSetState", "TRITONBACKEND_ModelInstanceSetState"}) {
    behaviour().failing = {function};
    const std::string error = error_of(kPairConfig + "}");
    behaviour().failing = {};
    EXPECT_NE(error.find("injected"), std::string::npos) << function;
  }
}

TEST_F(TritonModels, ReadsParameters) {
  EXPECT_EQ(error_of(kPairConfig + R"(, "parameters": {"thread": {"string_value": "2"},
      "TRITON_BATCH_STRATEGY_PATH": {"string_value": "x"}, "threads": {"string_value": "2"},
      "memory_limit.global": {"string_value": "1GiB"}}})"),
            "");
  EXPECT_EQ(take_log(), std::vector<std::string>{R"(scopevm: the parameter "thread" is unknown)"});
  EXPECT_NE(error_of(kPairConfig + R"(, "parameters":
      {"memory_limit.nowhere": {"string_value": "1 MiB"}}})")
                .find("nowhere"),
            std::string::npos);
}

// The configuration with a limit of the memory scope of the results.
std::string limited(int bytes) {
  return kPairConfig + R"(, "parameters": {"memory_limit.global": {"string_value": ")" +
         std::to_string(bytes) + "\"}}}";
}

TEST_F(TritonModels, JoinsRequestsWithinTheMemoryLimits) {
  Loaded loaded(kPair, limited(2000));
  const std::vector<float> row(100, 1);  // results of 400 bytes each
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<Request*> pointers;
  for (int i = 0; i < 5; ++i) {
    auto& request = requests.emplace_back(std::make_unique<Request>());
    request->input("a", floats({1, 100}, row)).input("b", floats({1, 100}, row)).output("sum");
    pointers.push_back(request.get());
  }
  loaded.run(pointers);
  for (const Request* request : pointers) EXPECT_EQ(request->answer.error, "");
  const auto call = [&](size_t i) { return pointers[i]->answer.compute_start_ns; };
  EXPECT_EQ(call(1), call(0));
  EXPECT_NE(call(2), call(1));  // 3 rows need 2400 bytes
  EXPECT_EQ(call(3), call(2));
  EXPECT_NE(call(4), call(3));
  Request large;
  large.input("a", floats({4, 100}, std::vector<float>(400, 1)))
      .input("b", floats({4, 100}, std::vector<float>(400, 1)));
  loaded.run({&large});
  EXPECT_EQ(large.answer.code, TRITONSERVER_ERROR_UNAVAILABLE);
}

TEST_F(TritonModels, WritesResultsToTheBuffersOfTheResponse) {
  Loaded loaded(kPair, limited(0));  // no memory for results
  const std::vector<float> row(100, 3);
  Request request;
  request.input("a", floats({1, 100}, row)).input("b", floats({1, 100}, row));
  request.output("sum").output("product");
  loaded.run({&request});
  EXPECT_EQ(request.answer.error, "");
  EXPECT_EQ(floats_of(request.answer.outputs["product"]), std::vector<float>(100, 9));
}

TEST_F(TritonModels, FormsBatchesWithinTheMemoryLimits) {
  Loaded loaded(kPair, limited(2000));
  TRITONBACKEND_Batcher* batcher = nullptr;
  ASSERT_EQ(message_of(backend().TRITONBACKEND_ModelBatcherInitialize(&batcher, &loaded.model())),
            "");
  const auto included = [&](void* batch, int64_t rows, int64_t columns) {
    Request request;
    const std::vector<float> values(static_cast<size_t>(rows * columns), 1);
    request.input("a", floats({rows, columns}, values)).input("b", floats({rows, columns}, values));
    bool should_include = false;
    EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelBatchIncludeRequest(&request, batch,
                                                                          &should_include)),
              "");
    return should_include;
  };
  for (int round = 0; round < 2; ++round) {
    void* batch = nullptr;
    ASSERT_EQ(message_of(backend().TRITONBACKEND_ModelBatchInitialize(batcher, &batch)), "");
    EXPECT_TRUE(included(batch, 1, 100));
    EXPECT_TRUE(included(batch, 1, 100));
    EXPECT_FALSE(included(batch, 1, 100));  // 2400 bytes
    EXPECT_TRUE(included(batch, 1, 50));    // of another shape
    EXPECT_TRUE(included(batch, 1, 50));
    EXPECT_TRUE(included(batch, 9, 200));  // the first of its shape reports its error itself
    EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelBatchFinalize(batch)), "");
  }
  EXPECT_EQ(message_of(backend().TRITONBACKEND_ModelBatcherFinalize(batcher)), "");
}

TEST_F(TritonModels, WritesTheStatesOfSequences) {
  const std::string sum = R"(
!t = !sv.tensor<f32[n, 2]>
func.func @main(%x: !t {sv.name = "x"}, %h: !t {sv.name = "h"})
    -> (!t {sv.name = "y"}, !t {sv.name = "hn"}) {
  %0 = sv.add %x, %h : (!t, !t) -> !t
  %1 = sv.mul %0, %0 : (!t, !t) -> !t
  return %1, %0 : !t, !t
})";
  const std::string config = R"({"max_batch_size": 4, "sequence_batching": {"state": [
      {"input_name": "h", "output_name": "hn", "data_type": "TYPE_FP32", "dims": [2]}]}})";
  Loaded loaded(sum, config, 1, /*completes=*/true);
  ASSERT_EQ(loaded.error(), "");
  const json complete = json::parse(loaded.model().config);
  EXPECT_EQ(complete["input"].size(), 1U);
  EXPECT_EQ(complete["output"].size(), 1U);
  Request one;
  Request two;
  one.input("x", floats({1, 2}, {1, 2})).input("h", floats({1, 2}, {10, 20})).output("y");
  two.input("x", floats({1, 2}, {3, 4})).input("h", floats({1, 2}, {0, 0})).output("y");
  loaded.run({&one, &two});
  EXPECT_EQ(one.answer.error, "");
  EXPECT_EQ(floats_of(one.answer.states["hn"]), (std::vector<float>{11, 22}));
  EXPECT_EQ(floats_of(one.answer.outputs["y"]), (std::vector<float>{121, 484}));
  EXPECT_EQ(floats_of(two.answer.states["hn"]), (std::vector<float>{3, 4}));
  behaviour().failing = {"TRITONBACKEND_StateUpdate"};
  Request failed;
  failed.input("x", floats({1, 2}, {1, 2})).input("h", floats({1, 2}, {1, 2})).output("y");
  loaded.run({&failed});
  EXPECT_EQ(failed.answer.error, "TRITONBACKEND_StateUpdate: injected");
  behaviour() = {};
  behaviour().has_gpu_outputs = true;
  Request on_gpu;
  on_gpu.input("x", floats({1, 2}, {1, 2})).input("h", floats({1, 2}, {1, 2}));
  loaded.run({&on_gpu});
  EXPECT_EQ(on_gpu.answer.error,
            "state \"hn\": the buffer is in the memory of a GPU, expected host memory");
}

}  // namespace
}  // namespace scopevm::triton_test
