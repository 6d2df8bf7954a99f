// The reports of `scopevm explain`. A report is one file of this folder, which registers it with a
// constant. Its flag is the kind of the report: `--shapes`
// (docs/adding-an-explain-report.md).
//
//   const RegisteredReport registered(Form<ShapeExplanation>{
//       .position = 10, .description = "Print the shape of each value",
//       .text = print_text, .json = print_json});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// How a report is printed.
template <typename Report>
struct Form {
  int position;             // flags are listed by ascending position
  std::string description;  // of the flag. Empty: there is none; the report of --external
  // Print to stdout, and warnings to stderr.
  void (*text)(const Report& report);
  void (*json)(const Report& report);
  std::string (*svg)(const Report& report) = nullptr;  // the drawing of --svg; null: none
  bool is_tuned = false;                               // --tune changes the report
  // The report is about a request for a planned model: --at, --threads, --inline-limit and
  // --reorder change it.
  bool has_request = false;
  // The options of models that have no effect on the report: they are an error. --tune is not
  // listed here.
  std::vector<std::string> excluded = {};
};

// A report of a model.
struct MadeReport {
  std::function<void(bool as_json)> print;
  std::function<std::string()> svg;
};

struct ReportEntry {
  int position;
  std::string kind;  // Report::kKind
  std::string description;
  bool has_svg;
  bool is_tuned;
  bool has_request;
  std::vector<std::string> excluded;
  std::function<Result<MadeReport>(const CompileOptions&)> make;
};

// The registered reports.
std::vector<ReportEntry>& reports();

struct RegisteredReport {
  template <typename Report>
  explicit RegisteredReport(const Form<Report>& form) {
    const auto make = [form](const CompileOptions& options) -> Result<MadeReport> {
      SCOPEVM_ASSIGN_OR_RETURN(Report made, scopevm::explain<Report>(options));
      const auto report = std::make_shared<const Report>(std::move(made));
      return MadeReport{.print = [=](bool as_json) { (as_json ? form.json : form.text)(*report); },
                        .svg = [=] { return form.svg(*report); }};
    };
    reports().push_back({form.position, std::string(Report::kKind), form.description,
                         form.svg != nullptr, form.is_tuned, form.has_request, form.excluded,
                         make});
  }
};

}  // namespace scopevm::tool
