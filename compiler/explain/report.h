// Reports about a model, as functions of the pipeline's values (pipeline/stages.h). A report is one
// source file: it declares a Report<function>, which makes the report known to scopevm::explain().
// The structs of the reports are those of scopevm/compiler.h.
#pragma once

#include <string_view>

#include "compiler/pipeline/stages.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::explain {

struct ReportKind {
  std::string_view name;
  // Writes the report to `report`, a default-constructed struct of the kind. REQUIRES: the options
  // have no variants.
  Status (*make)(pipeline::Context& context, void* report);
};

// Errors: kInvalidArgument (unknown kind).
Result<ReportKind> find_report(std::string_view kind);
void add_report(const ReportKind& kind);

// Runs the stages that the report needs.
template <typename T>
using MakeReport = Result<T> (*)(pipeline::Context& context);

template <auto kMake>
class Report {
 public:
  Report() { add(kMake); }

 private:
  template <typename T>
  void add(MakeReport<T>) {
    add_report({.name = T::kKind, .make = [](pipeline::Context& context, void* report) -> Status {
                  SCOPEVM_ASSIGN_OR_RETURN(*static_cast<T*>(report), kMake(context));
                  return {};
                }});
  }
};

}  // namespace scopevm::compiler::explain
