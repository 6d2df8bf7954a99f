// Steps -> lifespans. A view keeps what it shows alive; a result may take the buffer of an operand
// that dies at its step.
#include <algorithm>

#include "compiler/memory/plan.h"

namespace scopevm::memory {

ValueId root_of(const Function& function, ValueId id) {
  while (function.values[id].origin == ValueOrigin::kView) id = function.values[id].view_of;
  return id;
}

std::vector<int> output_of_root(const Function& function) {
  std::vector<int> output(function.values.size(), -1);
  for (size_t i = function.outputs.size(); i-- > 0;)
    output[root_of(function, function.outputs[i])] = static_cast<int>(i);
  return output;
}

std::vector<int64_t> last_uses(const Function& function) {
  std::vector<int64_t> last(function.values.size(), -1);
  for (size_t step = 0; step < function.steps.size(); ++step)
    for (ValueId operand : function.steps[step].operands)
      last[root_of(function, operand)] = static_cast<int64_t>(step);
  for (ValueId output : function.outputs)
    last[root_of(function, output)] = static_cast<int64_t>(function.steps.size());
  return last;
}

namespace {

class LifespanFinder {
 public:
  explicit LifespanFinder(const Function& function)
      : function_(function), outputs_(output_of_root(function)), last_(last_uses(function)) {}

  Liveness run() {
    result_.buffer_of_value.assign(function_.values.size(), -1);
    for (size_t step = 0; step < function_.steps.size(); ++step) {
      visit(function_.steps[step], static_cast<int64_t>(step));
      std::vector<int>& temporaries = result_.buffer_of_temporary.emplace_back();
      for (const Temporary& temporary : function_.steps[step].temporaries)
        temporaries.push_back(add_temporary(temporary, static_cast<int64_t>(step)));
    }
    for (size_t id = 0; id < function_.values.size(); ++id)
      if (function_.values[id].origin == ValueOrigin::kView)
        result_.buffer_of_value[id] =
            result_.buffer_of_value[root_of(function_, static_cast<ValueId>(id))];
    return std::move(result_);
  }

 private:
  void visit(const Step& step, int64_t at) {
    for (size_t r = 0; r < step.results.size(); ++r) {
      ValueId id = step.results[r];
      if (outputs_[id] >= 0) continue;  // a storage of its own
      int64_t upper = std::max(last_[id], at) + 1;
      int buffer = reusable_buffer(step, static_cast<int>(r), at);
      if (buffer >= 0) {
        result_.buffers[buffer].upper = upper;
      } else {
        buffer = static_cast<int>(result_.buffers.size());
        result_.buffers.push_back({at, upper, round_up(function_.values[id].bytes(), kAlignment)});
      }
      result_.buffer_of_value[id] = buffer;
    }
  }

  // The buffer of an operand that result r may take, or -1.
  int reusable_buffer(const Step& step, int r, int64_t at) const {
    for (const Step::InPlace& permission : step.in_place) {
      if (permission.result != r) continue;
      ValueId operand = root_of(function_, step.operands[permission.operand]);
      int buffer = result_.buffer_of_value[operand];
      bool dies_here = last_[operand] == at;
      bool is_read_once = std::count_if(step.operands.begin(), step.operands.end(), [&](ValueId o) {
                            return root_of(function_, o) == operand;
                          }) == 1;
      bool is_taken = std::any_of(step.results.begin(), step.results.begin() + r,
                                  [&](ValueId o) { return result_.buffer_of_value[o] == buffer; });
      if (buffer >= 0 && dies_here && is_read_once && !is_taken &&
          function_.values[operand].bytes() == function_.values[step.results[r]].bytes())
        return buffer;
    }
    return -1;
  }

  int add_temporary(const Temporary& temporary, int64_t at) {
    DimExpr bytes = round_up(temporary.bytes, kAlignment);
    if (temporary.per_worker) bytes = bytes * DimExpr::symbol(kThreadsSymbol);
    result_.buffers.push_back({at, at + 1, bytes});
    return static_cast<int>(result_.buffers.size()) - 1;
  }

  const Function& function_;
  std::vector<int> outputs_;
  std::vector<int64_t> last_;
  Liveness result_;
};

}  // namespace

Liveness find_lifespans(const Function& function) { return LifespanFinder(function).run(); }

}  // namespace scopevm::memory
