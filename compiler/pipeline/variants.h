// Variants: versions of main for narrower bounds of its dims. Checks the requested bounds against
// those of main, names the variants, and orders them for selection in a call.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/program.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::pipeline {

struct Variant {
  std::string label;  // the narrowed bounds: "n=1,seq<=32"
  std::map<std::string, DimBound> dims;
};

// Errors: kInvalidArgument unless 0 <= min <= max and multiple_of >= 1 for each bound.
Status check_bounds(const std::map<std::string, DimBound>& dims);

// The variants of `options.variants`, in that order, whose bounds are within the general ones.
// Errors: kInvalidArgument if the bounds of a variant are not within the general bounds, narrow no
// dim, or equal those of an earlier variant.
Result<std::vector<Variant>> check_variants(const CompileOptions& options,
                                            const std::map<std::string, DimBound>& general);

// Adds a variant for each range of a dim, with the bounds `dims` for the other dims, unless it
// exists. REQUIRES: the bounds and ranges are within the general bounds.
Status add_variants(const std::map<std::string, DimBound>& general,
                    const std::map<std::string, DimBound>& dims,
                    const std::vector<std::pair<std::string, DimBound>>& ranges,
                    std::vector<Variant>& variants);

// The module's variant table, for a program whose function i + 1 is variants[i]. The most
// constrained variant is first: the one with the most fixed dims, then the one with the fewest
// admitted sizes. Errors: kUnsupported if a result of a variant has another rank than in main, for
// example after a Squeeze of all dims that are 1.
Result<std::vector<format::VariantDecl>> variant_table(const Program& program,
                                                       const std::vector<Variant>& variants);

}  // namespace scopevm::compiler::pipeline
