// Accessors that dispatch over the kinds of steps; see program.h.
#include "compiler/program.h"

namespace scopevm::compiler {
namespace {

// An overload set of lambdas for std::visit.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

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

std::vector<DimExpr> Step::expressions() const {
  using Expressions = std::vector<DimExpr>;
  return std::visit(
      Overloaded{[](const step::Launch& launch) {
                   Expressions all = launch.params;
                   all.push_back(launch.grid);
                   all.push_back(launch.grain);
                   for (const Temporary& temporary : launch.temporaries)
                     all.push_back(temporary.bytes);
                   return all;
                 },
                 [](const step::Loop& loop) { return Expressions{loop.trip_count}; },
                 [](const step::ListGet& get) { return Expressions{get.index}; },
                 [](const step::ListInsert& insert) {
                   return insert.index ? Expressions{*insert.index} : Expressions();
                 },
                 [](const step::ListErase& erase) { return Expressions{erase.index}; },
                 [](const auto&) { return Expressions(); }},
      work);
}

std::string_view Step::kind_name() const {
  return std::visit([](const auto& kind) { return std::string_view(kind.kName); }, work);
}

}  // namespace scopevm::compiler
