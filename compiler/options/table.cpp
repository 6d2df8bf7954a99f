// The compile options with a name, in the order of the help of `scopevm compile`.
#include "compiler/options/table.h"

#include "compiler/options/dim_bounds.h"
#include "compiler/options/rows.h"
#include "compiler/options/split.h"

namespace scopevm::compiler::options {
namespace {

std::string stage_names() {
  std::string names;
  for (std::string_view stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage);
  return names;
}

Status named(Status status, const char* option) {
  if (status.ok()) return status;
  return {status.code(), std::string(option) + " " + std::string(status.message())};
}

// Combines the values of "dim", and those of each "variant" with them.
Status combine_bounds(const Target& target) {
  auto bounds = parse_dim_bounds(target.dims);
  if (!bounds.ok()) return named(bounds.status(), "dim");
  target.compile.dims = *std::move(bounds);
  target.compile.variants.clear();
  for (const std::string& variant : target.variants) {
    std::vector<std::string> values = target.dims;
    values.push_back(variant);
    auto narrowed = parse_dim_bounds(values);
    if (!narrowed.ok()) return named(narrowed.status(), "variant");
    target.compile.variants.push_back(*std::move(narrowed));
  }
  return {};
}

// A later value can make a contradictory bound valid, such as one above the default upper bound.
Status add_bounds(const Target& target, std::vector<std::string>& values, const Value& value) {
  if (value.text.empty()) {
    values.clear();
  } else {
    SCOPEVM_RETURN_IF_ERROR(check_dim_bounds(value.text));
    values.push_back(value.text);
  }
  target.bounds = combine_bounds(target);
  return {};
}

void add_bounds_to_key(const std::map<std::string, DimBound>& bounds, Key& key) {
  key.add(std::to_string(bounds.size()));
  for (const auto& [name, bound] : bounds) {
    key.add(name);
    key.add(bound.min ? std::to_string(*bound.min) : "");
    for (const int64_t number : {bound.max, bound.multiple_of}) key.add(std::to_string(number));
    key.add(bound.formula);
  }
}

Row dims() {
  return {{"dim", Kind::kList,
           "Constraint on a dimension: n=4, n=1..512, n<=512, n>=2, n%8==0 or n=m+k", ""},
          [](const Target& target, const Value& value) {
            return add_bounds(target, target.dims, value);
          },
          [](const CompileOptions& options, Key& key) { add_bounds_to_key(options.dims, key); }};
}

Row variants() {
  return {{"variant", Kind::kList,
           "Add a variant for requests within these bounds: n=1 or n<=8,seq=128 (one variant per "
           "option)",
           ""},
          [](const Target& target, const Value& value) {
            return add_bounds(target, target.variants, value);
          },
          [](const CompileOptions& options, Key& key) {
            key.add(std::to_string(options.variants.size()));
            for (const auto& variant : options.variants) add_bounds_to_key(variant, key);
          }};
}

// Checks stage names only. The compiler checks names of MLIR passes.
Row dump_after() {
  Row row = text("dump-after", &CompileOptions::dump_after,
                 "Print the result of a pipeline stage: " + stage_names() +
                     "; or of an MLIR pass: sv-simplify, ...");
  row.set = [](const Target& target, const Value& value) -> Status {
    if (!value.text.empty() && !value.text.starts_with("sv-") &&
        std::ranges::find(kStages, value.text) == std::end(kStages))
      return invalid_value(value, "unknown stage; expected one of " + stage_names());
    target.compile.dump_after = value.text;
    return {};
  };
  return row;
}

// Checks that the value has a pattern and a place. The compiler checks these.
Row places() {
  Row row = list("place", &CompileOptions::places,
                 "Placement rule: \"conv_*=gpu\", \"type:matmul=gpu\", \"input:x=gpu\", "
                 "\"output:y=cpu.global.fast\" (later rules take precedence)");
  row.set = [add = row.set](const Target& target, const Value& value) -> Status {
    // Names of nodes can contain '='.
    const size_t equals = value.text.rfind('=');
    if (!value.text.empty() &&
        (equals == std::string::npos || equals == 0 || equals + 1 == value.text.size()))
      return invalid_value(value, "expected PATTERN=PLACE, such as \"conv_*=gpu\"");
    return add(target, value);
  };
  return row;
}

Row split() {
  Row row = text("split", &CompileOptions::split,
                 "Split the model over the ranks of the machine (docs/ranks.md): tensor=N, N ranks "
                 "share each op; pipeline=N, N consecutive parts; or both, with a comma");
  row.set = [set = row.set](const Target& target, const Value& value) -> Status {
    SCOPEVM_RETURN_IF_ERROR(parse_split(value.text).status());
    return set(target, value);
  };
  return row;
}

std::vector<Row> make_table() {
  using Options = CompileOptions;
  return {
      dims(),
      list("keep-output", &Options::outputs,
           "Omit the other outputs of the model, and what only they need (one output per option; "
           "default: all outputs)"),
      list("state", &Options::states,
           "Keep a cache in one buffer: INPUT=OUTPUT, where OUTPUT is INPUT with further elements "
           "along an axis; a * matches any text (docs/state.md)"),
      compile_only(variants()),
      compile_only(list("target-cpu", &Options::target_cpus,
                        "Target CPU: host, x86-64, x86-64-v3, ..., optionally with features, such "
                        "as x86-64-v3,+avxvnni (one image per option)")),
      file("machine", &Options::machine_json, &Options::machine_name,
           "Machine description, a JSON file (default: one CPU)"),
      places(),
      split(),
      flag("allow-unmatched", &Options::allow_unmatched,
           "Warn about a --place rule that matches nothing, do not fail"),
      file("external-functions", &Options::external_functions, &Options::external_functions_name,
           "A file that declares the external functions of an ONNX model's ops "
           "(docs/external.md)"),
      flag("allow-newer-opset", &Options::allow_newer_opset,
           "Import a model of a newer opset than the compiler knows, with the newest definitions "
           "that it knows"),
      flag("freeze-inputs", &Options::freeze_inputs,
           "Inputs of an ONNX model with an initializer are constants, not inputs with a default"),
      flag("float-products", &Options::float_products,
           "Compute the products and convolutions of dequantised operands in f32, not in "
           "integers"),
      without_effect_on_module(compile_only(dump_after())),
      without_effect_on_module(
          compile_only(number("threads", &Options::threads,
                              "Number of kernels to compile in parallel; 0: one per CPU"))),
      number("inline-limit", &Options::inline_limit,
             "Inline a call if its caller has at most this number of steps afterwards; 0: inline "
             "no call"),
      flag("reorder", &Options::reorder,
           "Run steps in another order than the model's if this lowers the peak memory"),
      choice<ImageLayout>("image-layout", &Options::image_layout,
                          {{"auto", ImageLayout::kAuto},
                           {"by-channel", ImageLayout::kByChannel},
                           {"blocked", ImageLayout::kBlocked}},
                          "Layout of images inside the model: by-channel, in blocks of 16 "
                          "channels, or auto: the layouts with the least estimated time"),
      flag("fast-conv", &Options::fast_conv,
           "Winograd's algorithm for 3x3 convolutions: about 0.4 times the time, 4 times the "
           "weights, 1.8 times the rounding errors"),
      without_effect_on_module(
          compile_only(text("cache", &Options::cache_folder,
                            "Folder of compiled modules: take the module from it if it has that of "
                            "an equal model with equal options, else add the module"))),
      without_effect_on_module(
          compile_only(text("crash-reproducer", &Options::reproducer_path,
                            "Write the graph and the passes to this file if an MLIR pass fails "
                            "(for scopevm-opt --run-reproducer)"))),
  };
}

}  // namespace

const std::vector<Row>& table() {
  static const std::vector<Row> rows = make_table();
  return rows;
}

void add_to_key(const CompileOptions& options, Key& key) {
  for (const Row& row : table()) {
    if (!row.add_to_key) continue;
    key.add(row.option.name);
    row.add_to_key(options, key);
  }
}

}  // namespace scopevm::compiler::options
