// Selects the largest spans and aggregates the others; see page_data.h.
#include "tools/lab/plot/page/page_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "tools/lab/plot/page/address_axis.h"
#include "tools/lab/plot/page/flame.h"

namespace scopevm::lab {
namespace {

using Json = nlohmann::ordered_json;

// A browser draws this many rectangles in one frame, 16 ms.
constexpr size_t kMaxBlocks = 5000;
constexpr size_t kColumns = 240;
constexpr size_t kRows = 120;

double area(const Span& span) {
  return static_cast<double>(span.size) * static_cast<double>(span.end - span.begin + 1);
}

// The part of each cell of a grid over time and addresses that spans fill.
class Density {
 public:
  Density(const History& history, const AddressAxis& axis)
      : axis_(axis),
        begin_(static_cast<double>(history.begin)),
        cell_width_(static_cast<double>(history.end - history.begin + 1) / kColumns),
        cell_height_(static_cast<double>(std::max<uint64_t>(1, axis.height())) / kRows),
        filled_(kColumns * kRows) {}

  void add(const Span& span) {
    const double left = (static_cast<double>(span.begin) - begin_) / cell_width_;
    const double right = (static_cast<double>(span.end) - begin_) / cell_width_;
    const double low = static_cast<double>(axis_.position(span.address)) / cell_height_;
    const double high = low + static_cast<double>(span.size) / cell_height_;
    for (auto row = static_cast<size_t>(low); row < kRows && static_cast<double>(row) < high; ++row)
      for (auto column = static_cast<size_t>(left);
           column < kColumns && static_cast<double>(column) <= right; ++column)
        filled_[row * kColumns + column] +=
            overlap(low, high, row) * std::max(overlap(left, right, column), 1e-6);
  }

  Json json() const {
    std::vector<int> cells;
    for (const double part : filled_)
      // A cell with any span is visible.
      cells.push_back(part > 0 ? std::clamp(static_cast<int>(part * 255), 8, 255) : 0);
    return {{"columns", kColumns}, {"rows", kRows}, {"cells", cells}};
  }

 private:
  static double overlap(double begin, double end, size_t cell) {
    const auto low = static_cast<double>(cell);
    return std::max(0.0, std::min(end, low + 1) - std::max(begin, low));
  }

  const AddressAxis& axis_;
  const double begin_, cell_width_, cell_height_;
  std::vector<double> filled_;
};

// The indices of names, in the order of their first use.
class Names {
 public:
  size_t index(const std::vector<std::string_view>& frames) {
    const std::string name(frames.empty() ? "unknown" : frames.back());
    const auto [entry, is_new] = indices_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  const Json& json() const { return names_; }

 private:
  Json names_ = Json::array();
  std::unordered_map<std::string, size_t> indices_;
};

Json scopes_json(const History& history) {
  Json scopes = Json::array();
  for (size_t i = 0; i < history.scopes().size(); ++i)
    scopes.push_back({{"name", history.scopes()[i]}, {"peak", history.scope_peaks[i]}});
  return scopes;
}

Json samples_json(const History& history) {
  Json samples = Json::array();
  for (size_t scope = 0; scope < history.scopes().size(); ++scope) {
    Json bytes = Json::array();
    for (const Sample& sample : history.samples) bytes.push_back(sample.by_scope[scope]);
    samples.push_back(std::move(bytes));
  }
  return samples;
}

void add_blocks(const History& history, Json& json) {
  const AddressAxis axis(history.spans);
  Density density(history, axis);
  std::vector<const Span*> spans;
  for (const Span& span : history.spans) spans.push_back(&span);
  const size_t shown = std::min(kMaxBlocks, spans.size());
  std::ranges::partial_sort(
      spans, spans.begin() + static_cast<ptrdiff_t>(shown), [](const Span* a, const Span* b) {
        return std::pair(-area(*a), a->begin_event) < std::pair(-area(*b), b->begin_event);
      });
  Names names;
  Json blocks = Json::array();
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span& span = *spans[i];
    if (i >= shown) {
      density.add(span);
      continue;
    }
    blocks.push_back({span.begin, span.end, axis.position(span.address), span.size, span.scope,
                      names.index(history.frames(span.stack))});
  }
  Json regions = Json::array();
  for (const AddressAxis::Region& region : axis.regions())
    regions.push_back({region.address, region.bytes, region.position});
  json["regions"] = std::move(regions);
  json["height"] = axis.height();
  json["names"] = names.json();
  json["blocks"] = std::move(blocks);
  json["density"] = density.json();
}

}  // namespace

std::string page_data(const History& history) {
  Json json = {{"title", history.title},
               {"first_step", history.first_step},
               {"unit", history.is_plan ? "step" : "ns"},
               {"gap", history.gap},
               {"begin", history.begin},
               {"end", history.end},
               {"allocations", history.allocations}};
  const auto live = std::ranges::count_if(
      history.spans, [&](const Span& span) { return history.is_live_at_peak(span); });
  json["peak"] = {{"bytes", history.peak_bytes}, {"time", history.peak_time}, {"blocks", live}};
  json["scopes"] = scopes_json(history);
  json["samples"] = samples_json(history);
  add_blocks(history, json);
  json["flame"] = flame_of(history);
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace scopevm::lab
