// Applies edits to the steps of a function; see the header.
#include "compiler/memory/explain/edit.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace scopevm::compiler::memory {
namespace {

class Editor {
 public:
  explicit Editor(EditedFunction& edited) : edited_(edited), function_(edited.function) {}

  // Runs `moved` immediately before step `before`.
  void move(const std::vector<int64_t>& moved, int64_t before) {
    Rewritten now(function_.steps.size());
    for (int64_t at = 0; at < count(); ++at) {
      if (at == before)
        for (int64_t step : moved) keep(step, now);
      if (!std::ranges::binary_search(moved, at)) keep(at, now);
    }
    replace_steps(std::move(now));
  }

  // Inserts a copy of step `made` before step `before`. Later steps read the result of the copy.
  void recompute(ValueId value, int64_t made, int64_t before) {
    const ValueId again = add(Value(function_.values[value]));
    for (int64_t at = before; at < count(); ++at)
      for (ValueId& operand : function_.steps[at].operands)
        if (root_of(function_, operand) == value) operand = rebased(operand, value, again);
    Step copy = function_.steps[made];
    copy.results = {again};
    Rewritten now(function_.steps.size());
    for (int64_t at = 0; at < count(); ++at) {
      if (at == before) {
        now.steps.push_back(copy);
        now.origin.push_back(edited_.origin[made]);
      }
      keep(at, now);
    }
    replace_steps(std::move(now));
  }

  // Replaces `value` as an operand of `steps` by a value that has no planned buffer.
  void remove_reads(ValueId value, const std::vector<int64_t>& steps) {
    Value other = function_.values[value];
    other.origin = ValueOrigin::kInput;
    const ValueId id = add(std::move(other));
    for (int64_t at : steps)
      for (ValueId& operand : function_.steps[at].operands)
        if (root_of(function_, operand) == value) operand = id;
  }

 private:
  // The new list of steps, while it is made.
  struct Rewritten {
    explicit Rewritten(size_t count) : now_at(count) {}
    std::vector<Step> steps;
    std::vector<int64_t> origin;  // by new step
    std::vector<int64_t> now_at;  // by old step
  };

  int64_t count() const { return static_cast<int64_t>(function_.steps.size()); }

  // Appends the old step.
  void keep(int64_t at, Rewritten& now) {
    now.now_at[at] = static_cast<int64_t>(now.steps.size());
    now.steps.push_back(std::move(function_.steps[at]));
    now.origin.push_back(edited_.origin[at]);
  }

  ValueId add(Value value) {
    const ValueId id = function_.values.next_index();
    function_.values.push_back(std::move(value));
    return id;
  }

  // The view of `to` that corresponds to the view `id` of `root`.
  ValueId rebased(ValueId id, ValueId root, ValueId to) {
    if (id == root) return to;
    if (const auto known = views_.find(id); known != views_.end()) return known->second;
    Value view = function_.values[id];
    view.view_of = rebased(*view.view_of, root, to);
    return views_[id] = add(std::move(view));
  }

  void replace_steps(Rewritten now) {
    for (Step& step : now.steps)
      // Else, EndIf and EndLoop refer to their opening marks by position.
      if (const std::optional<int64_t> begin = step.begin()) step.set_begin(now.now_at[*begin]);
    function_.steps = std::move(now.steps);
    edited_.origin = std::move(now.origin);
  }

  EditedFunction& edited_;
  Function& function_;
  std::map<ValueId, ValueId> views_;  // of the recomputed value
};

}  // namespace

EditedFunction::EditedFunction(const Function& unchanged)
    : function(unchanged), origin(unchanged.steps.size()) {
  std::iota(origin.begin(), origin.end(), int64_t{0});
}

void apply(const Edit& edit, const Liveness& liveness, EditedFunction& edited) {
  switch (edit.kind) {
    case Edit::Kind::kReorder:
      return Editor(edited).move(edit.steps, edit.before);
    case Edit::Kind::kReuse:
      return Editor(edited).remove_reads(edit.operand, edit.steps);
    case Edit::Kind::kRecompute:
      return Editor(edited).recompute(edit.value, edit.steps.front(), edit.before);
    case Edit::Kind::kMove:
      return move_buffer(edited.function, liveness, edit.buffer, edit.pool);
  }
}

}  // namespace scopevm::compiler::memory
