// Finds the blocks of a function; see the header.
#include "compiler/memory/blocks.h"

#include <algorithm>
#include <ranges>

namespace scopevm::compiler::memory {
namespace {

double trips(DimExpr count, const Request& request) {
  // kUnknown is assumed for a data-dependent trip count. Other counts are clamped to [1, kMost].
  constexpr double kUnknown = 64, kMost = 4096;
  const std::optional<int64_t> trips = evaluate(count, request);
  return trips ? std::clamp(static_cast<double>(*trips), 1.0, kMost) : kUnknown;
}

}  // namespace

Blocks::Blocks(const Function& function, const Request& request) {
  int current = 0;
  for (size_t i = 0; i < function.steps.size(); ++i) {
    const Step& step = function.steps[i];
    const auto at = static_cast<int64_t>(i);
    // The steps that open and close a block belong to its parent. A closing step is therefore
    // recorded after `current` becomes the parent, and an opening step before `current` becomes the
    // new block.
    if (step.is<step::Else, step::EndIf, step::EndLoop>()) current = blocks[current].parent;
    of_step.push_back(current);
    if (step.is<step::If>()) current = add(current, at, 1);
    if (const auto* otherwise = step.as<step::Else>()) current = add(current, otherwise->begin, 1);
    if (const auto* loop = step.as<step::Loop>())
      current = add(current, at, trips(loop->trip_count, request));
    if (step.is<step::EndIf, step::EndLoop>())
      for (Block& block : blocks | std::views::drop(1))
        // Both branches of an if begin at its If and end at its EndIf. A value that only one branch
        // reads must be reloaded before the If.
        if (block.begin == step.begin()) block.end = at;
  }
}

int Blocks::add(int parent, int64_t begin, double trips) {
  blocks.push_back({parent, begin, begin, blocks[parent].times * trips});
  return static_cast<int>(blocks.size()) - 1;
}

Blocks::Access Blocks::access_from(int home, int64_t step) const {
  Access access{step, step};
  for (int block = of_step[step]; block != home; block = blocks[block].parent)
    // A reload before the If or Loop step is executed once and on every path, so the reloaded value
    // is defined at each later use.
    access = {blocks[block].begin, blocks[block].end};
  return access;
}

bool Blocks::contains(int block, int64_t step) const {
  int of = of_step[step];
  while (of != block && of != 0) of = blocks[of].parent;
  return of == block;
}

}  // namespace scopevm::compiler::memory
