// scopevm compare-runs: compares the results of two runs, tensor by tensor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/tensor/shape.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/compare_runs/run_results.h"
#include "tools/tensors/difference.h"
#include "tools/tensors/element_text.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;
using runtime::type_text;

struct CompareOptions {
  std::string first;
  std::string second;
  Tolerance tolerance;
  bool json = false;
};

// Accepts finite numbers of at least 0.
CLI::Validator tolerance_value() {
  return {[](const std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (!text.empty() && *end == '\0' && std::isfinite(value) && value >= 0) return "";
            return "\"" + text + "\": expected a number of at least 0";
          },
          ""};
}

void declare(CLI::App& command, CompareOptions& options) {
  command
      .add_option("FIRST", options.first,
                  "File of run --record (also -), folder of .npy files, or .npz or .npy file")
      ->required();
  command.add_option("SECOND", options.second, "Like FIRST: the expected values")->required();
  command
      .add_option("--atol", options.tolerance.absolute,
                  "Accept |a - b| <= ATOL + RTOL * |b|, for elements a of FIRST and b of SECOND")
      ->check(tolerance_value())
      ->capture_default_str();
  command.add_option("--rtol", options.tolerance.relative, "See --atol")
      ->check(tolerance_value())
      ->capture_default_str();
  command
      .add_option("--ulp", options.tolerance.ulp,
                  "Also accept this distance in units in the last place")
      ->check(integer_in<uint64_t>(0))
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print JSON");
}

// A tensor that at least one of the runs has.
struct Compared {
  std::string name;
  const Tensor* first = nullptr;  // null: the run does not have it
  const Tensor* second = nullptr;
  TensorDifference difference;

  bool is_within() const { return first != nullptr && second != nullptr && difference.is_within(); }
};

// Pairs the tensors by name, in the order of the first run. Equal names are paired in order.
std::vector<Compared> compare(const std::vector<RunTensor>& first,
                              const std::vector<RunTensor>& second, const Tolerance& tolerance) {
  std::vector<Compared> compared;
  for (const RunTensor& tensor : first)
    compared.push_back({tensor.name, &tensor.tensor, nullptr, {}});
  for (const RunTensor& tensor : second) {
    const auto match = std::ranges::find_if(compared, [&](const Compared& other) {
      return other.name == tensor.name && other.second == nullptr && other.first != nullptr;
    });
    if (match != compared.end())
      match->second = &tensor.tensor;
    else
      compared.push_back({tensor.name, nullptr, &tensor.tensor, {}});
  }
  for (Compared& pair : compared)
    if (pair.first != nullptr && pair.second != nullptr)
      pair.difference = compare_tensors(*pair.first, *pair.second, tolerance);
  return compared;
}

std::string type_of(const Tensor& tensor) { return type_text(tensor.dtype(), tensor.dims()); }

void print_measures(const Compared& pair) {
  const TensorDifference& difference = pair.difference;
  const Tensor &first = *pair.first, &second = *pair.second;
  const auto where = [&](int64_t index) { return index_text(first.dims(), index); };
  print("  {} of {} different", difference.different, count_text(difference.elements, "element"));
  print(", {} outside of the tolerance\n", difference.outside);
  if (first.dtype() != DType::kStr) {
    print("  largest absolute {:.6g} at {}, relative {:.6g} at {}", difference.absolute.value,
          where(difference.absolute.index), difference.relative.value,
          where(difference.relative.index));
    if (difference.ulp)
      print(", {} ulp at {}", difference.ulp->value, where(difference.ulp->index));
    print("\n");
  }
  if (difference.nans_of_first + difference.nans_of_second > 0)
    print("  NaNs: {} and {}\n", difference.nans_of_first, difference.nans_of_second);
  if (const auto index = difference.first_outside)
    print("  first outside at {}: {} and {}\n", where(*index), exact_element_text(first, *index),
          exact_element_text(second, *index));
}

void print_tensor(const Compared& pair) {
  if (pair.first == nullptr || pair.second == nullptr) {
    print("{}: only in the {} run\n", pair.name, pair.first != nullptr ? "first" : "second");
    return;
  }
  const TensorDifference& difference = pair.difference;
  const std::string first = type_of(*pair.first), second = type_of(*pair.second);
  if (!difference.has_equal_shapes || !difference.has_equal_dtypes) {
    print("{}: {} and {}: {} differ\n", pair.name, first, second,
          !difference.has_equal_shapes ? "shapes" : "element types");
    if (difference.elements > 0 && difference.has_equal_shapes) print_measures(pair);
    return;
  }
  print("{}: {}: {}\n", pair.name, first,
        difference.different == 0 ? "equal"
        : difference.is_within()  ? "within the tolerance"
                                  : "different");
  if (difference.different > 0) print_measures(pair);
}

nlohmann::ordered_json json_of(const Compared& pair) {
  nlohmann::ordered_json out = {{"name", pair.name}, {"is_within", pair.is_within()}};
  if (pair.first != nullptr) out["first"] = type_of(*pair.first);
  if (pair.second != nullptr) out["second"] = type_of(*pair.second);
  if (pair.first == nullptr || pair.second == nullptr) return out;
  const TensorDifference& difference = pair.difference;
  const auto measure = [&](const auto& largest) {
    nlohmann::ordered_json value = {{"value", largest.value}};
    if (difference.elements > 0) value["at"] = index_text(pair.first->dims(), largest.index);
    return value;
  };
  out["elements"] = difference.elements;
  out["different"] = difference.different;
  out["outside"] = difference.outside;
  out["absolute"] = measure(difference.absolute);
  out["relative"] = measure(difference.relative);
  if (difference.ulp) out["ulp"] = measure(*difference.ulp);
  out["nans"] = {difference.nans_of_first, difference.nans_of_second};
  if (difference.first_outside)
    out["first_outside"] = index_text(pair.first->dims(), *difference.first_outside);
  return out;
}

int compare_runs(const CompareOptions& options) {
  const Result<std::vector<RunTensor>> first = read_run(options.first);
  if (!first.ok()) return report(first.status());
  const Result<std::vector<RunTensor>> second = read_run(options.second);
  if (!second.ok()) return report(second.status());
  const std::vector<Compared> compared = compare(*first, *second, options.tolerance);
  const auto outside =
      std::ranges::count_if(compared, [](const Compared& pair) { return !pair.is_within(); });
  if (options.json) {
    nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
    for (const Compared& pair : compared) tensors.push_back(json_of(pair));
    write_json({{"is_within", outside == 0}, {"tensors", std::move(tensors)}});
  } else {
    for (const Compared& pair : compared) print_tensor(pair);
    print("{} compared, {} outside of the tolerance\n", count_text(compared.size(), "tensor"),
          outside);
  }
  return outside == 0 ? kExitOk : kExitWrong;
}

const Command<CompareOptions> compare_runs_command(
    {.position = 44, .name = "compare-runs", .description = "Compare the results of two runs"},
    declare, compare_runs);

}  // namespace
}  // namespace scopevm::tool
