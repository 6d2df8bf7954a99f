// Checks, names and orders variants.
#include "compiler/pipeline/variants.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/name_text.h"

namespace scopevm::compiler::pipeline {
namespace {

using Bounds = std::map<std::string, DimBound>;

DimBound bound_of(const Bounds& bounds, const std::string& name) {
  auto found = bounds.find(name);
  return found == bounds.end() ? DimBound() : found->second;
}

// REQUIRES: size >= 0, step >= 1.
int64_t rounded_up(int64_t size, int64_t step) {
  return size == 0 ? 0 : ((size - 1) / step + 1) * step;
}

bool is_fixed(const DimBound& bound) { return bound.least() == bound.max; }

bool are_equal(const DimBound& a, const DimBound& b) {
  bool both_fixed = is_fixed(a) && is_fixed(b);
  return a.formula == b.formula && a.least() == b.least() && a.max == b.max &&
         (both_fixed || a.multiple_of == b.multiple_of);
}

bool is_within(const DimBound& inner, const DimBound& outer) {
  // A single size is within bounds with a factor if it is a multiple of the factor.
  int64_t step = is_fixed(inner) ? inner.max : inner.multiple_of;
  return inner.least() >= outer.least() && inner.least() <= inner.max && inner.max <= outer.max &&
         inner.multiple_of >= 1 && (is_fixed(outer) || step % outer.multiple_of == 0);
}

std::string range_text(const DimBound& bound) {
  std::string text = std::to_string(bound.least());
  if (!is_fixed(bound)) text += ".." + std::to_string(bound.max);
  if (!is_fixed(bound) && bound.multiple_of > 1)
    text += ", a multiple of " + std::to_string(bound.multiple_of);
  return text;
}

// The constraints of `bound` that are not constraints of `general`, in the syntax of --dim.
std::string claims(const std::string& name, const DimBound& bound, const DimBound& general) {
  if (is_fixed(bound)) return name + "=" + std::to_string(bound.least());
  const int64_t step = bound.multiple_of;
  // The general bounds, rounded to multiples of the step, follow from the step and are not printed.
  bool has_min = bound.least() != rounded_up(general.least(), step);
  bool has_max = bound.max != general.max / step * step;
  std::string text;
  if (has_min && has_max)
    text = "," + name + "=" + std::to_string(bound.least()) + ".." + std::to_string(bound.max);
  else if (has_min)
    text = "," + name + ">=" + std::to_string(bound.least());
  else if (has_max)
    text = "," + name + "<=" + std::to_string(bound.max);
  if (step != general.multiple_of) text += "," + name + "%" + std::to_string(step) + "==0";
  return text.empty() ? text : text.substr(1);
}

Result<Variant> check_one(const Bounds& general, const Bounds& narrowed) {
  Variant result{"", general};
  for (const auto& [name, given] : narrowed) {
    const DimBound outer = bound_of(general, name);
    DimBound bound = given;
    if (!bound.min) bound.min = rounded_up(outer.least(), std::max<int64_t>(bound.multiple_of, 1));
    if (!is_within(bound, outer))
      return Status(StatusCode::kInvalidArgument,
                    "dimension " + name + ": range " + range_text(bound) +
                        " is not within the general range " + range_text(outer));
    result.dims[name] = bound;
    // A dim with its general bounds does not distinguish the variant.
    if (are_equal(bound, outer)) continue;
    result.label +=
        (result.label.empty() ? "" : ",") + claims(runtime::name_text(name), bound, outer);
  }
  if (result.label.empty())
    return Status(StatusCode::kInvalidArgument, "no dimension has a narrower range than in main");
  return result;
}

// The number of sizes that the bounds admit, if both ends are multiples of the factor. It is a
// double, because a product of such numbers may overflow 64 bits.
double size_count(const format::DimensionDecl& dimension) {
  const int64_t steps = (dimension.max - dimension.min) / dimension.multiple_of;
  return static_cast<double>(steps) + 1;
}

// The sort key of a variant; smaller keys come first.
std::tuple<int64_t, double> rank(const format::VariantDecl& variant) {
  int64_t fixed = 0;
  double sizes = 1;
  for (const format::DimensionDecl& dimension : variant.dimensions) {
    fixed += dimension.min == dimension.max ? 1 : 0;
    sizes *= size_count(dimension);
  }
  // The runtime runs the first variant that admits the dims, so the most constrained one is first.
  return {-fixed, sizes};
}

// Callers use main's signature, so a variant must have results of the same ranks.
Status check_results(const Function& variant, const Function& main) {
  for (size_t i = 0; i < main.outputs.size(); ++i) {
    const size_t rank = variant.values[variant.outputs[i]].shape.size();
    const size_t expected = main.values[main.outputs[i]].shape.size();
    if (rank != expected)
      return Status(StatusCode::kUnsupported, "result \"" + main.output_names[i] + "\" has rank " +
                                                  std::to_string(rank) + ", expected rank " +
                                                  std::to_string(expected) + " as in main; " +
                                                  "--dim can exclude one of them");
  }
  return {};
}

}  // namespace

Status check_bounds(const Bounds& dims) {
  for (const auto& [name, bound] : dims)
    if (bound.min.value_or(0) < 0 || bound.min.value_or(0) > bound.max || bound.multiple_of < 1)
      return Status(StatusCode::kInvalidArgument,
                    "dimension " + name + ": min is " + std::to_string(bound.min.value_or(0)) +
                        ", max is " + std::to_string(bound.max) + " and multiple_of is " +
                        std::to_string(bound.multiple_of) +
                        ", expected 0 <= min <= max and multiple_of >= 1");
  return {};
}

Result<std::vector<Variant>> check_variants(const CompileOptions& options, const Bounds& general) {
  std::vector<Variant> result;
  std::set<std::string> labels;
  for (const Bounds& narrowed : options.variants) {
    const std::string context = "variant " + std::to_string(result.size() + 1);
    Result<Variant> one = check_one(general, narrowed);
    if (!one.ok()) return std::move(one).status().with_context(context);
    if (!labels.insert(one->label).second)
      return Status(StatusCode::kInvalidArgument, context + " duplicates variant " + one->label);
    result.push_back(*std::move(one));
  }
  return result;
}

Status add_variants(const Bounds& general, const Bounds& dims,
                    const std::vector<std::pair<std::string, DimBound>>& ranges,
                    std::vector<Variant>& variants) {
  for (const auto& [name, range] : ranges) {
    Bounds narrowed = dims;
    narrowed[name] = range;
    SCOPEVM_ASSIGN_OR_RETURN(Variant variant, check_one(general, narrowed));
    if (std::ranges::find(variants, variant.label, &Variant::label) == variants.end())
      variants.push_back(std::move(variant));
  }
  return {};
}

Result<std::vector<format::VariantDecl>> variant_table(const Program& program,
                                                       const std::vector<Variant>& variants) {
  const Function& main = program.functions.front();
  std::vector<format::VariantDecl> table;
  for (const Variant& variant : variants) {
    format::VariantDecl decl{static_cast<uint32_t>(table.size() + 1), {}};
    SCOPEVM_RETURN_IF_ERROR(check_results(program.functions[{decl.function}], main)
                                .with_context("variant " + variant.label));
    for (const Dimension& dimension : main.dimensions) {
      const DimBound bound = bound_of(variant.dims, dimension.name);
      decl.dimensions.push_back(
          {dimension.name, bound.least(), bound.max, is_fixed(bound) ? 1 : bound.multiple_of});
    }
    table.push_back(std::move(decl));
  }
  std::ranges::stable_sort(table, {}, rank);
  return table;
}

}  // namespace scopevm::compiler::pipeline
