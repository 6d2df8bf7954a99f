// The report of scopevm explain --ops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "runtime/count_text.h"
#include "tools/compile/reports/report.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;
using Op = OpsExplanation::Op;
using Support = OpsExplanation::Support;

constexpr const char* kSupport[] = {"none", "op", "function", "external"};

bool is_supported(const Op& op) { return op.support != Support::kNone; }

// The nodes of an op that is not supported: "a, b, c and 12 more".
std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr size_t kMostListed = 3;
  const std::span<const std::string> listed(nodes.data(), std::min(nodes.size(), kMostListed));
  const size_t more = nodes.size() - listed.size();
  return fmt::format("{}{}", fmt::join(listed, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void print_text(const OpsExplanation& explanation) {
  size_t nodes = 0, open_nodes = 0, open_ops = 0;
  for (const Op& op : explanation.ops) {
    nodes += op.nodes.size();
    print("{:>6}  {}, {}{}\n", op.nodes.size(), op.name,
          op.opset > 0 ? fmt::format("opset {}", op.opset) : "no opset",
          op.support == Support::kFunction   ? ": its function"
          : op.support == Support::kExternal ? ": an external function"
                                             : "");
    if (is_supported(op)) continue;
    ++open_ops;
    open_nodes += op.nodes.size();
    print("        not supported: {}\n        in {}\n", op.reason, nodes_text(op.nodes));
  }
  print("{}, {}", count_text(explanation.ops.size(), "op"), count_text(nodes, "node"));
  if (open_ops > 0)
    print("; not supported: {}, {}\n", count_text(open_ops, "op"), count_text(open_nodes, "node"));
  else
    print("; all are supported\n");
}

void print_json(const OpsExplanation& explanation) {
  nlohmann::ordered_json out{{"ops", nlohmann::ordered_json::array()}};
  for (const Op& op : explanation.ops) {
    nlohmann::ordered_json& item = out["ops"].emplace_back();
    item = {{"name", op.name},
            {"opset", op.opset > 0 ? nlohmann::ordered_json(op.opset) : nullptr},
            {"support", kSupport[static_cast<int>(op.support)]},
            {"nodes", op.nodes}};
    if (!is_supported(op)) item["reason"] = op.reason;
  }
  write_json(out);
}

const RegisteredReport ops_report(Form<OpsExplanation>{
    .position = 5,
    .description = "Print the ops of an ONNX model, and those that the "
                   "compiler does not support, with their nodes",
    .text = print_text,
    .json = print_json,
    .excluded = {"--dim", "--machine", "--place", "--allow-unmatched", "--external", "--reorder",
                 "--image-layout", "--fast-conv"}});

}  // namespace
}  // namespace scopevm::tool
