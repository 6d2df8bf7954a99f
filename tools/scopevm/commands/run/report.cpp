// Prints the results and statistics of scopevm run, as text or JSON; see run_report.h.
#include "tools/scopevm/commands/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/run/latency.h"
#include "tools/tensors/element_text.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;

constexpr int64_t kShownElements = 8;

std::string shape_text(const Tensor& tensor) {
  return fmt::format("{}[{}]", name(tensor.dtype()),
                     fmt::join(tensor.dims().begin(), tensor.dims().end(), ", "));
}

std::string place_text(std::string_view device, std::string_view scope) {
  return fmt::format("{}.{}", device, scope);
}

void print_tensor(const Tensor& output) {
  print("{}", shape_text(output));
  const int64_t shown = std::min(output.element_count(), kShownElements);
  for (int64_t e = 0; e < shown; ++e) print(" {}", element_text(output, e));
  print("{}\n", shown < output.element_count() ? " ..." : "");
}

nlohmann::ordered_json json_of(const Tensor& tensor) {
  return {{"dtype", std::string(name(tensor.dtype()))},
          {"shape", std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end())}};
}

}  // namespace

void print_text(const RunReport& report) {
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const TensorSignature& signature = report.signature->outputs[i];
    const RunOutput& output = report.outputs[i];
    if (signature.kind == ValueKind::kTensor) {
      print("{}: ", signature.name);
      print_tensor(output.elements[0]);
    } else if (!output.has_value) {
      print("{}: no value\n", signature.name);
    } else {
      print("{}: {} of {}\n", signature.name, name(signature.kind), output.elements.size());
      for (size_t e = 0; e < output.elements.size(); ++e) {
        print("  {}: ", e);
        print_tensor(output.elements[e]);
      }
    }
  }
  if (!report.has_stats) return;
  const Latency latency(report.latency_ns);
  print("module load and session, us: {:.1f}\n", static_cast<double>(report.load_ns) / 1e3);
  print("latency of {}, us: median {:.1f}, min {:.1f}, p99 {:.1f}\n",
        count_text(report.latency_ns.size(), "run"), latency.median_us(), latency.min_us(),
        latency.quantile_us(0.99));
  if (report.emulated_seconds)
    print("times are emulated: copies and launches take at least {:.1f} us per run\n",
          *report.emulated_seconds * 1e6);
  print("function {}\n", report.function);
  print("{:<8} {:<20} {:>14} {:>14} {:>14} {:>12}\n", "device", "scope", "bound", "peak",
        "lower bound", "allocations");
  for (const ScopeUse& use : report.memory)
    print("{:<8} {:<20} {:>14} {:>14} {:>14} {:>12}\n", use.device, use.scope, use.bound_bytes,
          use.peak_bytes, use.lower_bound_bytes, use.allocations);
  for (const CopyUse& use : report.copies)
    print("{} {}, {} from {} to {}\n", use.copies, use.copies == 1 ? "copy" : "copies",
          count_text(use.bytes, "byte"), place_text(use.from_device, use.from_scope),
          place_text(use.to_device, use.to_scope));
}

void print_json(const RunReport& report) {
  nlohmann::ordered_json out;
  const Latency latency(report.latency_ns);
  out["load_us"] = static_cast<double>(report.load_ns) / 1e3;
  out["latency_us"] = {{"median", latency.median_us()},
                       {"min", latency.min_us()},
                       {"p99", latency.quantile_us(0.99)}};
  if (report.emulated_seconds) out["emulated_seconds"] = *report.emulated_seconds;
  out["function"] = std::string(report.function);
  out["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const TensorSignature& signature = report.signature->outputs[i];
    const RunOutput& output = report.outputs[i];
    nlohmann::ordered_json line = {{"name", signature.name}};
    if (signature.kind == ValueKind::kTensor) {
      line.update(json_of(output.elements[0]));
    } else {
      line["kind"] = std::string(name(signature.kind));
      line["has_value"] = output.has_value;
      line["elements"] = nlohmann::ordered_json::array();
      for (const Tensor& element : output.elements) line["elements"].push_back(json_of(element));
    }
    out["outputs"].push_back(std::move(line));
  }
  out["memory"] = nlohmann::ordered_json::array();
  for (const ScopeUse& use : report.memory)
    out["memory"].push_back({{"device", std::string(use.device)},
                             {"scope", std::string(use.scope)},
                             {"bound_bytes", use.bound_bytes},
                             {"peak_bytes", use.peak_bytes},
                             {"lower_bound_bytes", use.lower_bound_bytes},
                             {"allocations", use.allocations}});
  out["copies"] = nlohmann::ordered_json::array();
  for (const CopyUse& use : report.copies)
    out["copies"].push_back({{"from", place_text(use.from_device, use.from_scope)},
                             {"to", place_text(use.to_device, use.to_scope)},
                             {"copies", use.copies},
                             {"bytes", use.bytes}});
  write_json(out);
}

std::vector<ScopeUse> concerned_scopes(const CallStats& stats) {
  std::vector<ScopeUse> concerned;
  for (const ScopeUse& use : stats.memory)
    if (use.bound_bytes > 0 || use.peak_bytes > 0 || use.allocations > 0) concerned.push_back(use);
  return concerned;
}

}  // namespace scopevm::tool
