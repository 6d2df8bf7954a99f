// Streams of scopevm run: a state that calls carry, its file, and inputs that are split into steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tools/scopevm/commands/run/inputs.h"

namespace scopevm::tool {

// The options --state, --state-file and --steps.
struct StreamOptions {
  std::vector<std::string> states;  // INPUT=OUTPUT, both with or without a "*"
  std::string file;                 // of the state; empty: none
  std::vector<std::string> steps;   // INPUT=AXIS[:[+]SIZE]
};

// An input whose tensor has the elements of all steps.
struct Steps {
  std::string input;
  int64_t axis = 0;    // that is split
  int64_t size = 1;    // of the axis in one step
  bool grows = false;  // a step has the parts of all steps before it, too
};

struct StreamPlan {
  std::vector<NamedText> pairs;  // an input and its output
  std::string file;
  std::vector<Steps> steps;  // one per input
};

// `given`: the values of --input. Errors: kInvalidArgument.
Result<StreamPlan> parse_stream(const StreamOptions& options, const std::vector<NamedText>& given,
                                const Signature& signature);

class Stream {
 public:
  // The plan and the signature must outlive the stream.
  Stream(const StreamPlan& plan, const Signature& signature) : plan_(plan), signature_(signature) {}

  // Sets an input of the call. The value of a tied input is the initial value of the state, and
  // that of a split input is kept for the steps.
  Status set_input(Call& call, const std::string& name, Tensor tensor);
  // Creates the state, reads its file if there is one, and sets it. `dims`: values of dimensions.
  // REQUIRES: all inputs were set.
  Status begin(const Session& session, Call& call, std::map<std::string, int64_t> dims);
  // The number of steps; 1 without --steps.
  int64_t count() const { return count_; }
  // Sets the split inputs to the elements of a step.
  Status set_step(Call& call, int64_t step);
  // Keeps the outputs of a step.
  Status keep_outputs(const Call& call, int64_t step);
  // Keeps the tied outputs that the last call does not have, because other ranks do.
  Status keep_states(const Call& call);
  // The tensor with an output of all steps, or one that was kept; null: the output of the last
  // call.
  const Tensor* output(size_t index) const;
  // Writes the file of the state.
  Status finish() const;

 private:
  struct Sequence {
    Tensor all;   // the elements of all steps
    Tensor step;  // those of one step
  };

  Status split(const Steps& steps, Call& call);
  bool is_tied(size_t output) const;

  const StreamPlan& plan_;
  const Signature& signature_;
  std::map<std::string, int64_t> dims_;  // those that inputs determine
  std::map<std::string, Tensor> initial_;
  std::optional<State> state_;
  std::map<std::string, Sequence> sequences_;  // by split input
  int64_t count_ = 1;
  std::vector<Tensor> outputs_;  // by output, with the steps as the first axis; can be empty
};

}  // namespace scopevm::tool
