// Draws the graph in layers: each node is in a layer below the layers of its operands. The nodes of
// a layer are in program order.
#include "tools/compile/reports/svg/places_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/compile/reports/svg/svg_text.h"

namespace scopevm::tool {
namespace {

using Node = CopyExplanation::Node;

constexpr int kNodeWidth = 150, kNodeHeight = 34, kGapX = 16, kGapY = 26, kMargin = 20;

class Drawing {
 public:
  explicit Drawing(const std::vector<Node>& nodes) : nodes_(nodes) {
    std::vector<int> filled;
    for (const Node& node : nodes) {
      int layer = 0;
      // `nodes` is in program order, so the operands of a node have spots already.
      for (const int read : node.reads) layer = std::max(layer, spots_[read].layer + 1);
      filled.resize(std::max<size_t>(filled.size(), layer + 1));
      spots_.push_back({layer, filled[layer]++});
      columns_ = std::max(columns_, filled[layer]);
      if (!colours_.contains(node.place)) {
        const size_t next = colours_.size() % std::size(kColours);
        colours_[node.place] = kColours[next];
        places_.push_back(node.place);
      }
    }
    layers_ = static_cast<int>(filled.size());
  }

  std::string run() {
    const int width = 2 * kMargin + std::max(columns_, 1) * (kNodeWidth + kGapX);
    const int height = y_of(layers_) + legend_height();
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
        "font-family=\"sans-serif\" "
        "font-size=\"11\">\n",
        width, height);
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const int read : nodes_[i].reads) draw_arrow(read, static_cast<int>(i));
    for (size_t i = 0; i < nodes_.size(); ++i) draw_box(static_cast<int>(i));
    for (size_t i = 0; i < places_.size(); ++i) draw_legend(i);
    return out_ + "</svg>\n";
  }

 private:
  struct Spot {
    int layer, column;
  };
  int x_of(int column) const { return kMargin + column * (kNodeWidth + kGapX); }
  int y_of(int layer) const { return kMargin + layer * (kNodeHeight + kGapY); }
  int legend_height() const { return static_cast<int>(places_.size()) * 20 + kMargin; }

  void draw_arrow(int from, int to) {
    const Spot a = spots_[from], b = spots_[to];
    const bool is_copy = nodes_[to].op == "device_copy";
    out_ += fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
        x_of(a.column) + kNodeWidth / 2, y_of(a.layer) + kNodeHeight,
        x_of(b.column) + kNodeWidth / 2, y_of(b.layer), is_copy ? "#c00" : "#999", is_copy ? 2 : 1);
  }

  void draw_box(int i) {
    const Node& node = nodes_[i];
    const int x = x_of(spots_[i].column), y = y_of(spots_[i].layer);
    const bool is_copy = node.op == "device_copy";
    out_ += fmt::format(
        "<g><title>{} {} at {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" "
        "fill=\"{}\" stroke=\"{}\"/>",
        xml_escaped(node.op), xml_escaped(node.name), xml_escaped(node.place), x, y, kNodeWidth,
        kNodeHeight, is_copy ? kNodeHeight / 2 : 3, colours_.at(node.place),
        is_copy ? "#c00" : "#333");
    out_ += fmt::format(
        "<text x=\"{0}\" y=\"{1}\">{2}</text><text x=\"{0}\" y=\"{3}\" "
        "fill=\"#333\">{4}</text></g>\n",
        x + 6, y + 14, xml_escaped(label(node.name)), y + 28, xml_escaped(label(node.op)));
  }

  void draw_legend(size_t i) {
    const int y = y_of(layers_) + static_cast<int>(i) * 20;
    const std::string place = places_[i].empty() ? "unplaced" : places_[i];
    out_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"#333\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>\n",
        kMargin, y, colours_.at(places_[i]), kMargin + 20, y + 11, xml_escaped(place));
  }

  const std::vector<Node>& nodes_;
  std::vector<Spot> spots_;
  int layers_ = 0, columns_ = 0;
  std::map<std::string, const char*> colours_;
  std::vector<std::string> places_;  // in order of appearance
  std::string out_;
};

}  // namespace

std::string places_svg(const CopyExplanation& explanation) {
  return Drawing(explanation.nodes).run();
}

}  // namespace scopevm::tool
