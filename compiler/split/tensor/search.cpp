// See search.h.
#include "compiler/split/tensor/search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "compiler/graph/graph_ops.h"
#include "compiler/split/op_work.h"
#include "compiler/split/tensor/selection.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace scopevm::compiler::split {
namespace {

constexpr size_t kMostStates = 256;
constexpr double kShareOfSmallWeights = 0.02;

bool is_mask(mlir::Value value) {
  const auto tensor = mlir::dyn_cast<graph::TensorType>(value.getType());
  return tensor && tensor.getDtype() == DType::kBool;
}

// Sets of forms, each with a number.
class FormSets {
 public:
  // `forms` is in ascending order.
  unsigned number_of(const Forms& forms) {
    const auto [known, is_new] = numbers_.try_emplace(forms, static_cast<unsigned>(sets_.size()));
    if (is_new) sets_.push_back(&known->first);
    return known->second;
  }
  const Forms& operator[](unsigned number) const { return *sets_[number]; }

 private:
  std::map<Forms, unsigned> numbers_;
  std::vector<const Forms*> sets_;
};

// The values that a later op reads, by number in ascending order, and the number of the set of
// their forms.
using State = std::vector<std::pair<unsigned, unsigned>>;

State::iterator find(State& state, unsigned value) {
  const auto at = std::ranges::lower_bound(state, value, {}, &State::value_type::first);
  return at != state.end() && at->first == value ? at : state.end();
}

// The ways of the ops until now, the last one first.
struct Path {
  Path(Way own, std::shared_ptr<Path> ops_before)
      : way(std::move(own)), before(std::move(ops_before)) {}
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  // The default one would use a frame of the stack for each op.
  ~Path() {
    std::shared_ptr<Path> last = std::move(before);
    while (last && last.use_count() == 1) last = std::exchange(last->before, nullptr);
  }

  Way way;
  std::shared_ptr<Path> before;
};

struct Cost {
  double seconds = 0;
  std::shared_ptr<Path> path;
};

class Search {
 public:
  Search(mlir::Block& block, const llvm::DenseSet<mlir::Value>& weights, const Group& group,
         const BlockForms& given)
      : block_(block), weights_(weights), group_(group), forms_(given), borders_(block) {
    for (mlir::BlockArgument argument : block.getArguments()) add_given(argument);
    unsigned position = 0;
    for (mlir::Operation& op : block) {
      op.walk([&](mlir::Operation* inner) {
        for (mlir::Value operand : inner->getOperands()) {
          if (is_from_outside(operand) && !numbers_.contains(operand)) add_given(operand);
          last_use_[operand] = position;
        }
      });
      for (mlir::Value result : op.getResults()) add(result);
      ++position;
    }
  }

  std::vector<Way> run() {
    State first;
    for (mlir::Value value : given_)
      if (last_use_.contains(value))
        first.emplace_back(numbers_[value], sets_.number_of({forms_.arguments.lookup(value)}));
    std::ranges::sort(first);
    std::map<State, Cost> states;
    states[std::move(first)];
    unsigned position = 0;
    for (mlir::Operation& op : block_) {
      states = after(op, position++, states);
      drop_worst(states);
    }
    const auto least = std::ranges::min_element(
        states, {}, [](const auto& state) { return state.second.seconds; });
    std::vector<Way> ways;
    for (const Path* path = least->second.path.get(); path != nullptr; path = path->before.get())
      ways.push_back(path->way);
    std::ranges::reverse(ways);
    return ways;
  }

 private:
  void add(mlir::Value value) { numbers_[value] = static_cast<unsigned>(numbers_.size()); }
  void add_given(mlir::Value value) {
    add(value);
    if (!is_constant(value)) given_.push_back(value);
  }
  // Whether a region around the block defines the value.
  bool is_from_outside(mlir::Value value) const {
    return !block_.getParent()->isAncestor(value.getParentRegion());
  }

  std::map<State, Cost> after(mlir::Operation& op, unsigned position,
                              const std::map<State, Cost>& states) {
    const std::vector<mlir::Value> used = used_in_regions(op);
    std::map<State, Cost> next;
    for (const auto& [state, cost] : states) {
      State current = state;
      const auto forms_of = [&](mlir::Value value) -> llvm::ArrayRef<Form> {
        static const Form kWhole = Form::whole();
        const auto found = find(current, numbers_.lookup(value));
        return found == current.end() ? llvm::ArrayRef(kWhole) : sets_[found->second];
      };
      for (Way& way : ways_of(&op, forms_of, borders_, weights_, group_.ranks())) {
        if (op.hasTrait<mlir::OpTrait::IsTerminator>())
          for (const auto& [operand, form] : forms_.results) way.operands[operand] = form;
        State changed = current;
        double seconds = cost.seconds + seconds_with(op, way);
        for (const auto [operand, form] : llvm::zip_equal(op.getOperands(), way.operands))
          seconds += convert(operand, form, changed);
        for (mlir::Value value : used) seconds += convert(value, Form::whole(), changed);
        for (const auto [result, form] : llvm::zip_equal(op.getResults(), way.results))
          if (!is_constant(result)) insert(changed, numbers_[result], sets_.number_of({form}));
        drop_read(op, used, position, changed);
        const auto [known, is_new] = next.try_emplace(std::move(changed));
        if (is_new || seconds < known->second.seconds)
          known->second = {seconds, std::make_shared<Path>(std::move(way), cost.path)};
      }
    }
    return next;
  }

  double seconds_with(mlir::Operation& op, const Way& way) {
    if (is_constant_op(op)) return 0;
    const auto [known, is_new] = seconds_.try_emplace(&op, 0);
    if (is_new) known->second = seconds_of(&op);
    if (!way.divides()) return known->second;
    return known->second / group_.ranks() + (way.is_merged ? seconds_to_merge(&op, group_) : 0);
  }

  static bool is_constant_op(mlir::Operation& op) {
    return op.getNumResults() == 1 && is_constant(op.getResult(0));
  }

  static void insert(State& state, unsigned value, unsigned forms) {
    state.emplace(std::ranges::lower_bound(state, value, {}, &State::value_type::first), value,
                  forms);
  }

  // The values of the block, and from outside, that the regions of `op` use.
  std::vector<mlir::Value> used_in_regions(mlir::Operation& op) const {
    std::vector<mlir::Value> values;
    for (mlir::Region& region : op.getRegions())
      region.walk([&](mlir::Operation* inner) {
        for (mlir::Value operand : inner->getOperands())
          if (numbers_.contains(operand)) values.push_back(operand);
      });
    return values;
  }

  // The seconds of the messages. A value keeps its other forms, so that a later op can read them.
  double convert(mlir::Value value, const Form& form, State& state) {
    const auto found = find(state, numbers_[value]);
    if (found == state.end()) return 0;  // a constant
    Forms forms = sets_[found->second];
    if (llvm::is_contained(forms, form)) return 0;
    const double bytes = bytes_of(value);
    const double seconds = group_.seconds(group_.cheapest(forms, form, bytes), form, bytes);
    forms.insert(std::upper_bound(forms.begin(), forms.end(), form), form);
    found->second = sets_.number_of(forms);
    return seconds;
  }

  // Removes the values that no op after `op` reads.
  void drop_read(mlir::Operation& op, llvm::ArrayRef<mlir::Value> used_in_its_regions,
                 unsigned position, State& state) {
    const auto drop = [&](mlir::Value value) {
      const auto use = last_use_.find(value);
      if (use != last_use_.end() && use->second > position) return;
      if (const auto found = find(state, numbers_[value]); found != state.end()) state.erase(found);
    };
    for (mlir::Value operand : op.getOperands()) drop(operand);
    for (mlir::Value value : used_in_its_regions) drop(value);
    for (mlir::Value result : op.getResults()) drop(result);
  }

  static void drop_worst(std::map<State, Cost>& states) {
    if (states.size() <= kMostStates) return;
    std::vector<std::map<State, Cost>::iterator> by_cost;
    for (auto state = states.begin(); state != states.end(); ++state) by_cost.push_back(state);
    std::ranges::stable_sort(by_cost, {}, [](auto state) { return state->second.seconds; });
    for (size_t i = kMostStates; i < by_cost.size(); ++i) states.erase(by_cost[i]);
  }

  mlir::Block& block_;
  const llvm::DenseSet<mlir::Value>& weights_;
  const Group& group_;
  const BlockForms& forms_;
  FormSets sets_;
  Borders borders_;
  std::vector<mlir::Value> given_;  // arguments, and values from outside
  llvm::DenseMap<mlir::Value, unsigned> numbers_;
  llvm::DenseMap<mlir::Value, unsigned> last_use_;  // the position of the op
  llvm::DenseMap<mlir::Operation*, double> seconds_;
};

}  // namespace

llvm::DenseSet<mlir::Value> weights_of(mlir::func::FuncOp function, int ranks) {
  std::vector<std::pair<double, mlir::Value>> constants;
  double bytes = 0;
  function.walk([&](mlir::Operation* op) {
    for (mlir::Value result : op->getResults())
      if (is_constant(result) && !is_mask(result)) {
        constants.emplace_back(bytes_of(result), result);
        bytes += bytes_of(result);
      }
  });
  std::ranges::stable_sort(constants, {}, &std::pair<double, mlir::Value>::first);
  llvm::DenseSet<mlir::Value> weights;
  double small = 0;
  for (const auto& [size, constant] : constants) {
    small += size;
    if (small > kShareOfSmallWeights * bytes / ranks) weights.insert(constant);
  }
  return weights;
}

std::vector<Way> choose_ways(mlir::Block& block, const llvm::DenseSet<mlir::Value>& weights,
                             const Group& group, const BlockForms& given) {
  return Search(block, weights, group, given).run();
}

}  // namespace scopevm::compiler::split
