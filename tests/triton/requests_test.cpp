// Requests: single, joined, wrong ones, strings, cancellation, timeouts, failing functions.
#include <chrono>
#include <random>
#include <thread>

#include "backend.h"

namespace scopevm::triton_test {
namespace {

using Request = TRITONBACKEND_Request;

std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}

class TritonRequests : public TritonTest {};

TEST_F(TritonRequests, WritesRequestedOutputsOfOneRequest) {
  Loaded loaded(kPair, kPairConfig + "}");
  for (const int buffers : {1, 2, 5}) {
    Request request;
    request.input("b", floats({2, 3}, {1, 2, 3, 4, 5, 6}), buffers)
        .input("a", floats({2, 3}, {10, 20, 30, 40, 50, 60}))
        .output("sum");
    loaded.run({&request});
    EXPECT_EQ(request.answer.error, "");
    ASSERT_EQ(request.answer.outputs.size(), 1U);
    const Value& sum = request.answer.outputs.at("sum");
    EXPECT_EQ(sum.shape, (Shape{2, 3}));
    EXPECT_EQ(sum.type, TRITONSERVER_TYPE_FP32);
    EXPECT_EQ(floats_of(sum), (std::vector<float>{11, 22, 33, 44, 55, 66}));
  }
  EXPECT_EQ(loaded.instance().batches, (std::vector<uint64_t>{2, 2, 2}));
  EXPECT_GE(loaded.instance().memory, 0);
}

TEST_F(TritonRequests, AnswersWithoutRequestedOutputs) {
  Loaded loaded(kPair, kPairConfig + "}");
  Request request;
  request.input("a", floats({1, 3}, {1, 2, 3})).input("b", floats({1, 3}, {1, 2, 3}));
  loaded.run({&request});
  EXPECT_EQ(request.answer.error, "");
  EXPECT_TRUE(request.answer.outputs.empty());
}

TEST_F(TritonRequests, CopiesToMisalignedBuffers) {
  Loaded loaded(kPair, kPairConfig + "}");
  behaviour().has_misaligned_outputs = true;
  Request request;
  request.input("a", floats({1, 3}, {1, 2, 3})).input("b", floats({1, 3}, {4, 5, 6}));
  request.output("product").output("sum");
  loaded.run({&request});
  EXPECT_EQ(floats_of(request.answer.outputs.at("product")), (std::vector<float>{4, 10, 18}));
  EXPECT_EQ(floats_of(request.answer.outputs.at("sum")), (std::vector<float>{5, 7, 9}));
}

TEST_F(TritonRequests, JoinsRequestsOfEqualShapes) {
  Loaded loaded(kPair, kPairConfig + "}");
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<Request*> pointers;
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 3}, {2, 3}, {1, 2}, {3, 3}, {2, 2}, {4, 3}}) {
    const std::vector<float> values(static_cast<size_t>(rows * columns), static_cast<float>(rows));
    auto& request = requests.emplace_back(std::make_unique<Request>());
    request->input("a", floats({rows, columns}, values))
        .input("b", floats({rows, columns}, values));
    request->output("product");
    pointers.push_back(request.get());
  }
  loaded.run(pointers);
  for (const Request* request : pointers) {
    const Value& product = request->answer.outputs.at("product");
    const auto rows = static_cast<float>(product.shape[0]);
    EXPECT_EQ(floats_of(product), std::vector<float>(product.bytes.size() / 4, rows * rows));
  }
  const auto call = [&](size_t i) { return pointers[i]->answer.compute_start_ns; };
  EXPECT_EQ(call(1), call(0));
  EXPECT_EQ(call(3), call(0));
  EXPECT_EQ(call(4), call(2));
  EXPECT_NE(call(2), call(0));
  EXPECT_NE(call(5), call(0));  // 10 rows exceed max_batch_size
  EXPECT_EQ(loaded.instance().batches, std::vector<uint64_t>{13});
}

TEST_F(TritonRequests, JoinsTheRequestsThatAreNotCancelled) {
  Loaded loaded(kPair, kPairConfig + "}");
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 3; ++i) {
    auto& request = requests.emplace_back(std::make_unique<Request>());
    request->input("a", floats({1, 1}, {1})).input("b", floats({1, 1}, {2})).output("sum");
  }
  requests[1]->is_cancelled = true;
  loaded.run({requests[0].get(), requests[1].get(), requests[2].get()});
  EXPECT_EQ(requests[0]->answer.error, "");
  EXPECT_EQ(requests[1]->answer.error, "the client has cancelled the request");
  EXPECT_EQ(requests[2]->answer.error, "");
  EXPECT_EQ(requests[2]->answer.compute_start_ns, requests[0]->answer.compute_start_ns);
}

TEST_F(TritonRequests, EndsARequestThatIsCancelledDuringAJoinedCall) {
  Loaded loaded(kPair, kPairConfig + "}");
  Request one;
  Request two;
  one.input("a", floats({1, 1}, {1})).input("b", floats({1, 1}, {2})).output("sum");
  two.input("a", floats({1, 1}, {3})).input("b", floats({1, 1}, {4})).output("sum");
  one.queries_until_cancelled = 1;  // the query before the call
  loaded.run({&one, &two});
  EXPECT_EQ(one.answer.error, "the client has cancelled the request");
  EXPECT_EQ(two.answer.error, "");
  EXPECT_EQ(two.answer.compute_start_ns, one.answer.compute_start_ns);
  EXPECT_EQ(floats_of(two.answer.outputs["sum"]), std::vector<float>{7});
}

TEST_F(TritonRequests, AnswersRandomRequests) {
  Loaded loaded(kPair, kPairConfig + "}");
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<Request>> requests;
    std::vector<Request*> pointers;
    std::vector<std::vector<float>> expected;
    const int count = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < count; ++i) {
      const Shape shape = {static_cast<int64_t>(random() % 4),
                           1 + static_cast<int64_t>(random() % 2)};
      std::vector<float> a;
      std::vector<float> b;
      for (int64_t k = 0; k < shape[0] * shape[1]; ++k) {
        a.push_back(static_cast<float>(random() % 100));
        b.push_back(static_cast<float>(random() % 100));
      }
      auto& request = requests.emplace_back(std::make_unique<Request>());
      request->input("a", floats(shape, a), 1 + static_cast<int>(random() % 3))
          .input("b", floats(shape, b), 1 + static_cast<int>(random() % 3))
          .output("sum");
      if (random() % 8 == 0) request->inputs.pop_back();
      if (random() % 8 == 0) request->timeout_us = 100000000;
      pointers.push_back(request.get());
      expected.push_back(sums(a, b));
    }
    std::vector<bool> is_complete;
    for (const Request* request : pointers)
      is_complete.push_back(request->inputs.size() == 2 && request->inputs[0]->value.shape[0] > 0);
    loaded.run(pointers);
    for (size_t i = 0; i < pointers.size(); ++i) {
      if (is_complete[i]) {
        ASSERT_EQ(pointers[i]->answer.error, "");
        EXPECT_EQ(floats_of(pointers[i]->answer.outputs.at("sum")), expected[i]);
      } else {
        EXPECT_NE(pointers[i]->answer.error, "");
      }
    }
  }
}

TEST_F(TritonRequests, RepeatsAFailedJoinedCallOneByOne) {
  // The bytes of one request do not fit its shape, so that the joined call fails.
  Loaded loaded(copy_of("f32[n]"), R"({"max_batch_size": 4, "input": [
      {"name": "in", "data_type": "TYPE_FP32", "dims": [1], "reshape": {"shape": []}}],
      "output": [{"name": "out", "data_type": "TYPE_FP32", "dims": [1],
                  "reshape": {"shape": []}}]})");
  Request good;
  Request wrong;
  good.input("in", floats({1}, {7})).output("out");
  wrong.input("in", {TRITONSERVER_TYPE_FP32, {1}, "abc"}).output("out");
  loaded.run({&good, &wrong});
  EXPECT_EQ(good.answer.error, "");
  EXPECT_EQ(floats_of(good.answer.outputs.at("out")), (std::vector<float>{7}));
  EXPECT_EQ(wrong.answer.error, "input \"in\": the request has 3 bytes, the shape has 4");
  EXPECT_EQ(wrong.answer.code, TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(loaded.instance().batches, (std::vector<uint64_t>{1}));
}

TEST_F(TritonRequests, RunsCopiesOfEveryElementType) {
  const std::vector<std::pair<std::string, TRITONSERVER_DataType>> types = {
      {"bool", TRITONSERVER_TYPE_BOOL},  {"u8", TRITONSERVER_TYPE_UINT8},
      {"u16", TRITONSERVER_TYPE_UINT16}, {"u32", TRITONSERVER_TYPE_UINT32},
      {"u64", TRITONSERVER_TYPE_UINT64}, {"i8", TRITONSERVER_TYPE_INT8},
      {"i16", TRITONSERVER_TYPE_INT16},  {"i32", TRITONSERVER_TYPE_INT32},
      {"i64", TRITONSERVER_TYPE_INT64},  {"f16", TRITONSERVER_TYPE_FP16},
      {"f32", TRITONSERVER_TYPE_FP32},   {"f64", TRITONSERVER_TYPE_FP64},
      {"bf16", TRITONSERVER_TYPE_BF16}};
  const std::map<int, size_t> sizes = {{1, 1}, {2, 1}, {3, 2},  {4, 4},  {5, 8},  {6, 1}, {7, 2},
                                       {8, 4}, {9, 8}, {10, 2}, {11, 4}, {12, 8}, {14, 2}};
  for (const auto& [name, type] : types) {
    Loaded loaded(copy_of(name + "[n]"), "{}", 1, /*completes=*/true);
    Request request;
    const std::string bytes(2 * sizes.at(type), '\1');
    request.input("in", {type, {2}, bytes}).output("out");
    loaded.run({&request});
    EXPECT_EQ(request.answer.error, "") << name;
    EXPECT_EQ(request.answer.outputs["out"].bytes, bytes) << name;
    EXPECT_EQ(request.answer.outputs["out"].type, type) << name;
  }
}

TEST_F(TritonRequests, ReadsAndWritesStrings) {
  Loaded loaded(copy_of("str[n, 2]"), R"({"max_batch_size": 4})", 1, /*completes=*/true);
  Request first;
  Request second;
  const Value two = strings({2, 2}, {"a", "", "long enough for the heap of a string", "d"});
  const Value one = strings({1, 2}, {"e", std::string("\0f", 2)});
  first.input("in", two, 3).output("out");
  second.input("in", one).output("out");
  loaded.run({&first, &second});
  EXPECT_EQ(first.answer.error, "");
  EXPECT_EQ(first.answer.outputs["out"].bytes, two.bytes);
  EXPECT_EQ(first.answer.outputs["out"].shape, (Shape{2, 2}));
  EXPECT_EQ(second.answer.outputs["out"].bytes, one.bytes);

  Request cut;
  cut.input("in", {TRITONSERVER_TYPE_BYTES, {1, 2}, "abc"}).output("out");
  Request beyond;
  beyond.input("in", {TRITONSERVER_TYPE_BYTES, {1, 2}, std::string("\5\0\0\0ab", 6)}).output("out");
  Request few;
  few.input("in", strings({1, 2}, {"a"})).output("out");
  loaded.run({&cut, &beyond, &few});
  EXPECT_EQ(cut.answer.error, "input \"in\": the bytes end inside the length of a string");
  EXPECT_EQ(beyond.answer.error, "input \"in\": a string has 5 bytes, but only 2 follow");
  EXPECT_NE(few.answer.error, "");
}

TEST_F(TritonRequests, RejectsWrongRequests) {
  Loaded loaded(kPair, kPairConfig + "}");
  const Value row = floats({1, 3}, {1, 2, 3});
  const auto error_of = [&](Request& request) {
    loaded.run({&request});
    return request.answer.error;
  };
  const auto run_valid = [&] {
    Request good;
    good.input("a", row).input("b", row).output("sum");
    EXPECT_EQ(error_of(good), "");
  };
  run_valid();  // its inputs do not become those of later requests
  Request unknown;
  unknown.input("a", row).input("b", row).input("c", row).output("sum");
  EXPECT_EQ(error_of(unknown), "input \"c\" does not exist in the module");
  Request twice;
  twice.input("a", row).input("b", row).input("a", row);
  EXPECT_EQ(error_of(twice), "input \"a\" occurs twice in the request");
  Request invalid;
  invalid.input("a", {TRITONSERVER_TYPE_INVALID, {1, 3}, row.bytes}).input("b", row);
  EXPECT_EQ(error_of(invalid), "input \"a\" has no valid data type");
  Request output;
  output.input("a", row).input("b", row).output("difference");
  EXPECT_EQ(error_of(output), "output \"difference\" does not exist in the module");
  Request missing;
  missing.input("a", row).output("sum");
  EXPECT_NE(error_of(missing).find("\"b\""), std::string::npos);
  Request type;
  type.input("a", {TRITONSERVER_TYPE_INT32, {1, 3}, row.bytes}).input("b", row).output("sum");
  EXPECT_NE(error_of(type).find("i32"), std::string::npos);
  Request rank;
  rank.input("a", floats({3}, {1, 2, 3})).input("b", row).output("sum");
  EXPECT_NE(error_of(rank), "");
  Request dims;
  dims.input("a", row).input("b", floats({1, 2}, {1, 2})).output("sum");
  EXPECT_NE(error_of(dims), "");
  Request negative;
  negative.input("a", {TRITONSERVER_TYPE_FP32, {-1, 3}, row.bytes}).input("b", row).output("sum");
  EXPECT_EQ(error_of(negative),
            "input \"a\": the size of the shape is negative or exceeds 64 bits");
  Request huge;
  huge.input("a", {TRITONSERVER_TYPE_FP32, {INT64_MAX, 3}, row.bytes}).input("b", row);
  EXPECT_EQ(error_of(huge), "input \"a\": the size of the shape is negative or exceeds 64 bits");
  Request rank_zero;
  rank_zero.input("a", {TRITONSERVER_TYPE_FP32, {}, "abcd"}).input("b", row).output("sum");
  EXPECT_NE(error_of(rank_zero), "");
  run_valid();
}

TEST_F(TritonRequests, RejectsBuffersOfGpusAndMissingBuffers) {
  Loaded loaded(kPair, kPairConfig + "}");
  const Value row = floats({1, 3}, {1, 2, 3});
  const auto error_of = [&] {
    Request request;
    request.input("a", row).input("b", row).output("sum");
    loaded.run({&request});
    return request.answer.error;
  };
  behaviour().has_gpu_inputs = true;
  EXPECT_EQ(error_of(), "input \"a\": the buffer is in the memory of a GPU, expected host memory");
  behaviour() = {.has_gpu_outputs = true};
  EXPECT_EQ(error_of(),
            "output \"sum\": the buffer is in the memory of a GPU, expected host memory");
  behaviour() = {.has_null_outputs = true};
  EXPECT_EQ(error_of(), "output \"sum\": the server returned no buffer");
  behaviour() = {.added_bytes = {{"b", 4}}};
  EXPECT_EQ(error_of(), "input \"b\": the request has 16 bytes, the shape has 12");
}

TEST_F(TritonRequests, RejectsBuffersThatDifferFromTheirInput) {
  Loaded loaded(copy_of("f32[n]"), "{}", 1, /*completes=*/true);
  Request fewer;
  fewer.input("in", floats({2}, {1, 2}), 2).output("out");
  fewer.inputs[0]->buffers[1].resize(3);
  Request more;
  more.input("in", floats({2}, {1, 2}), 2).output("out");
  more.inputs[0]->buffers[1].resize(5);
  loaded.run({&fewer, &more});
  EXPECT_EQ(fewer.answer.error, "input \"in\": the buffers have fewer bytes than their input");
  EXPECT_EQ(more.answer.error, "input \"in\": the buffers have more bytes than their input");
}

TEST_F(TritonRequests, AnswersWhenFunctionsOfTheServerFail) {
  Loaded loaded(kPair, kPairConfig + "}");
  const Value row = floats({1, 3}, {1, 2, 3});
  for (const char* function :
       {"TRITONBACKEND_RequestIsCancelled", "TRITONBACKEND_InferenceRequestTimeoutMicroseconds",
        "TRITONBACKEND_RequestInputCount", "TRITONBACKEND_RequestInputByIndex",
        "TRITONBACKEND_RequestOutputCount", "TRITONBACKEND_RequestOutputName",
        "TRITONBACKEND_InputProperties", "TRITONBACKEND_InputBuffer",
        "TRITONBACKEND_ResponseOutput", "TRITONBACKEND_OutputBuffer"}) {
    behaviour().failing = {function};
    Request one;
    Request two;
    one.input("a", row).input("b", row).output("sum");
    two.input("a", row).input("b", row).output("sum");
    loaded.run({&one, &two});
    const std::string expected = std::string(function) + ": injected";
    EXPECT_NE(one.answer.error.find(expected), std::string::npos) << one.answer.error;
    EXPECT_NE(two.answer.error.find(expected), std::string::npos) << two.answer.error;
  }
  // Without a response, the request is released, and the error is logged.
  for (const char* function : {"TRITONBACKEND_ResponseNew", "TRITONBACKEND_ResponseSend"}) {
    behaviour().failing = {function};
    Request request;
    request.input("a", row).input("b", row).output("sum");
    Request* pointer = &request;
    EXPECT_EQ(
        message_of(backend().TRITONBACKEND_ModelInstanceExecute(&loaded.instance(), &pointer, 1)),
        "");
    EXPECT_EQ(request.answer.releases, 1);
    EXPECT_EQ(take_log(), std::vector<std::string>{std::string(function) + ": injected"});
  }
  // The server keeps the requests of an execution that fails.
  behaviour().failing = {"TRITONBACKEND_ModelInstanceState"};
  Request kept;
  Request* pointer = &kept;
  EXPECT_EQ(
      message_of(backend().TRITONBACKEND_ModelInstanceExecute(&loaded.instance(), &pointer, 1)),
      "TRITONBACKEND_ModelInstanceState: injected");
  EXPECT_EQ(kept.answer.responses + kept.answer.releases, 0);
  behaviour().failing = {};
}

const std::string kSlowConfig = R"({
  "input": [{"name": "count", "data_type": "TYPE_INT64", "dims": [1], "reshape": {"shape": []}},
            {"name": "x", "data_type": "TYPE_FP32", "dims": [-1]}],
  "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [-1]}]})";

void add_slow_inputs(Request& request, int64_t count) {
  request.input("count", {TRITONSERVER_TYPE_INT64,
                          {},
                          std::string(reinterpret_cast<const char*>(&count), sizeof count)});
  request.input("x", floats({2}, {1, 2})).output("y");
}

TEST_F(TritonRequests, CancelsBeforeAndDuringARun) {
  Loaded loaded(kSlow, kSlowConfig);
  Request before;
  add_slow_inputs(before, 1);
  before.is_cancelled = true;
  loaded.run({&before});
  EXPECT_EQ(before.answer.error, "the client has cancelled the request");
  EXPECT_EQ(before.answer.code, TRITONSERVER_ERROR_CANCELLED);

  Request during;
  add_slow_inputs(during, INT64_C(1) << 40);
  std::thread client([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    during.is_cancelled = true;
  });
  loaded.run({&during});
  client.join();
  EXPECT_EQ(during.answer.code, TRITONSERVER_ERROR_CANCELLED);

  Request after;
  add_slow_inputs(after, 3);
  loaded.run({&after});
  EXPECT_EQ(floats_of(after.answer.outputs["y"]), (std::vector<float>{4, 5}));
}

TEST_F(TritonRequests, EndsRequestsAtTheirTimeouts) {
  Loaded loaded(kSlow, kSlowConfig);
  Request slow;
  add_slow_inputs(slow, INT64_C(1) << 40);
  slow.timeout_us = 20000;
  Request waiting;  // its timeout passes while the first one runs
  add_slow_inputs(waiting, 1);
  waiting.timeout_us = 1000;
  Request unlimited;
  add_slow_inputs(unlimited, 1);
  unlimited.timeout_us = UINT64_MAX;
  loaded.run({&slow, &waiting, &unlimited});
  EXPECT_EQ(slow.answer.code, TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_NE(slow.answer.error, "");
  EXPECT_EQ(waiting.answer.error, "the timeout of the request has passed");
  EXPECT_EQ(unlimited.answer.error, "");
}

TEST_F(TritonRequests, RunsInstancesOnSeveralThreads) {
  constexpr size_t kInstances = 4;
  Loaded loaded(kPair, kPairConfig + "}", kInstances);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kInstances; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) {
        const auto value = static_cast<float>(k + 1000 * static_cast<int>(i));
        Request one;
        Request two;
        one.input("a", floats({1, 1}, {value})).input("b", floats({1, 1}, {1})).output("sum");
        two.input("a", floats({1, 1}, {value})).input("b", floats({1, 1}, {2})).output("sum");
        loaded.run({&one, &two}, i);
        EXPECT_EQ(floats_of(one.answer.outputs["sum"]), std::vector<float>{value + 1});
        EXPECT_EQ(floats_of(two.answer.outputs["sum"]), std::vector<float>{value + 2});
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace scopevm::triton_test
