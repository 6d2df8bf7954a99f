// Loads the models that models/make_models.py writes, for tests with data-dependent sizes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control_flow/run_graph.h"

namespace scopevm {

inline Graph model(const std::string& name) {
  return Graph::of_file(SCOPEVM_TEST_MODELS + name + ".onnx");
}

// Expects that the call fails with kInvalidArgument and a message that contains `message`.
inline void expect_refused(Graph& graph, const std::vector<Tensor>& inputs,
                           const std::string& message) {
  Status status = graph.status_of(inputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(message));
}

}  // namespace scopevm
