// Sums the blocks of each call stack; see flame.h.
#include "tools/lab/plot/page/flame.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace scopevm::lab {
namespace {

using Json = nlohmann::ordered_json;

struct Node {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::map<std::string, Node> children;

  void add(const Span& span) {
    bytes += span.size;
    ++blocks;
  }
};

Json json_of(const std::string& name, const Node& node, uint64_t least) {
  std::vector<std::pair<const std::string*, const Node*>> children;
  Node others;
  for (const auto& [child_name, child] : node.children) {
    if (child.bytes >= least) {
      children.emplace_back(&child_name, &child);
    } else {
      others.bytes += child.bytes;
      others.blocks += child.blocks;
    }
  }
  std::ranges::stable_sort(
      children, [](const auto& a, const auto& b) { return a.second->bytes > b.second->bytes; });
  Json json = {{"name", name}, {"bytes", node.bytes}, {"blocks", node.blocks}};
  json["children"] = Json::array();
  for (const auto& [child_name, child] : children)
    json["children"].push_back(json_of(*child_name, *child, least));
  if (others.blocks > 0) json["children"].push_back(json_of("others", others, least));
  return json;
}

}  // namespace

Json flame_of(const History& history) {
  Node root;
  for (const Span& span : history.spans) {
    if (!history.is_live_at_peak(span)) continue;
    root.add(span);
    Node* node = &root;
    if (history.scopes().size() > 1) {
      node = &node->children[history.scopes()[span.scope]];
      node->add(span);
    }
    for (const std::string_view frame : history.frames(span.stack)) {
      node = &node->children[std::string(frame)];
      node->add(span);
    }
  }
  return json_of("all blocks at the peak", root, std::max<uint64_t>(1, root.bytes / 2000));
}

}  // namespace scopevm::lab
