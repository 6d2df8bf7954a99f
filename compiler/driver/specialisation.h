// Specialisations: the same model compiled again with narrower bounds of its dims. Here is what is
// asked for against what holds in general, the name of each, and the order in which calls try them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/program.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::compiler {

struct Specialisation {
  std::string label;  // "n=1,seq<=32": what it narrows
  std::map<std::string, DimBound> dims;
};

// In the order in which they were asked for. Errors: kInvalidArgument (reaches beyond the general
// bounds, narrows nothing, is one that was there before).
Result<std::vector<Specialisation>> check_specialisations(const CompileOptions& options);

// The module's table, for a program whose function i+1 is that of specialisation i. The most
// constrained comes first: more fixed dims, then fewer admitted sizes. Errors: kUnsupported, where
// a variant's result has another rank than main's (a Squeeze of all dims that are 1).
Result<std::vector<format::VariantDecl>> variant_table(
    const Program& program, const std::vector<Specialisation>& specialisations);

}  // namespace scopevm::compiler
