// Accessors that dispatch over the kinds of steps; see program.h.
#include "compiler/program/program.h"

#include <type_traits>

#include "runtime/name_text.h"

namespace scopevm::compiler {
namespace {

// An overload set of lambdas for std::visit.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

template <typename T, typename U>
concept same_as_decayed = std::is_same_v<std::remove_cv_t<T>, U>;

}  // namespace

std::optional<int64_t> Step::begin() const {
  return std::visit(
      [](const auto& kind) -> std::optional<int64_t> {
        if constexpr (requires { kind.begin; }) return kind.begin;
        return std::nullopt;
      },
      work);
}

void Step::set_begin(int64_t position) {
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.begin; }) kind.begin = position;
      },
      work);
}

namespace {

// Calls `visit` for a reference to each expression of the step's data.
template <typename Work, typename Visit>
void visit_expressions(Work& work, Visit visit) {
  std::visit(Overloaded{[&](same_as_decayed<step::Launch> auto& launch) {
                          for (auto& param : launch.params) visit(param);
                          visit(launch.grid);
                          visit(launch.grain);
                          for (auto& temporary : launch.temporaries) visit(temporary.bytes);
                        },
                        [&](same_as_decayed<step::Loop> auto& loop) { visit(loop.trip_count); },
                        [&](same_as_decayed<step::ListGet> auto& get) { visit(get.index); },
                        [&](same_as_decayed<step::ListInsert> auto& insert) {
                          if (insert.index) visit(*insert.index);
                        },
                        [&](same_as_decayed<step::ListErase> auto& erase) { visit(erase.index); },
                        [](auto&) {}},
             work);
}

}  // namespace

std::vector<DimExpr> Step::expressions() const {
  std::vector<DimExpr> all;
  visit_expressions(work, [&](DimExpr expr) { all.push_back(expr); });
  return all;
}

void Step::replace_expressions(const std::function<DimExpr(DimExpr)>& with) {
  visit_expressions(work, [&](DimExpr& expr) { expr = with(expr); });
  if (auto* launch = as<step::Launch>()) launch->flops = with(launch->flops);
}

std::vector<Check> Dimension::bounds_checks(DimExpr value) const {
  std::vector<Check> checks = {
      {.kind = Check::Kind::kAtLeast,
       .lhs = value,
       .rhs = min,
       .message = "dimension " + runtime::name_text(name) + " is {0}, below its minimum {1}"}};
  if (max < INT64_MAX)
    checks.push_back(
        {.kind = Check::Kind::kAtLeast,
         .lhs = max,
         .rhs = value,
         .message = "dimension " + runtime::name_text(name) + " is {1}, above its maximum {0}"});
  if (multiple_of > 1)
    checks.push_back(
        {.kind = Check::Kind::kMultipleOf,
         .lhs = value,
         .rhs = multiple_of,
         .message = "dimension " + runtime::name_text(name) + " is {0}, not a multiple of {1}"});
  return checks;
}

std::string_view Step::kind_name() const {
  return std::visit([](const auto& kind) { return std::string_view(kind.kName); }, work);
}

ValueId root_of(const Function& function, ValueId id) {
  while (function.values[id].is_view()) id = *function.values[id].view_of;
  return id;
}

PoolIndex result_pool(const Machine& machine, const Value& value) {
  const Place& place = value.place;
  const bool is_inner = place.pool == machine.workspace_pool(place.device) ||
                        machine.pools[place.pool].kind == PoolKind::kConstant;
  return is_inner ? machine.global_pool(place.device) : place.pool;
}

IndexedVector<ValueId, bool> output_roots(const Function& function) {
  IndexedVector<ValueId, bool> is_output(function.values.size());
  for (ValueId output : function.outputs) is_output[root_of(function, output)] = true;
  return is_output;
}

}  // namespace scopevm::compiler
