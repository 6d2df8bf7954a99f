// Names findings, and passes verdicts between processes; see verdict.h.
#include "tests/property/check/verdict.h"

#include <cctype>
#include <sstream>

namespace scopevm::compiler::property {

const char* name(Finding finding) {
  constexpr const char* kNames[] = {"agrees",       "unsupported", "compile error",
                                    "run error",    "mismatch",    "wrong formula",
                                    "wrong memory", "crash",       "timeout"};
  return kNames[static_cast<int>(finding)];
}

std::string Verdict::kind() const {
  std::string kind = name(finding);
  if (is_mismatch(finding)) return kind;
  kind += ": ";
  // Removes types and places, which differ between graphs.
  int depth = 0;
  for (char c : detail) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0 && !std::isdigit(static_cast<unsigned char>(c)) && c != '\n') kind += c;
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  return kind.substr(0, 120);
}

std::string packed(const Verdict& verdict) {
  std::ostringstream text;
  text << static_cast<int>(verdict.finding) << ' ' << verdict.compile_seconds << ' '
       << verdict.compared << ' ' << verdict.skipped << ' ' << verdict.external_runs << ' '
       << verdict.parts << ' ' << verdict.omitted << ' ' << verdict.is_refused << ' '
       << verdict.plans.requests << ' ' << verdict.plans.sum << ' ' << verdict.plans.worst
       << verdict.plans.worst_request << '\n'
       << verdict.detail;
  return text.str();
}

Verdict unpacked(const std::string& text) {
  Verdict verdict;
  std::istringstream stream(text);
  int finding = 0;
  stream >> finding >> verdict.compile_seconds >> verdict.compared >> verdict.skipped >>
      verdict.external_runs >> verdict.parts >> verdict.omitted >> verdict.is_refused >>
      verdict.plans.requests >> verdict.plans.sum >> verdict.plans.worst;
  std::getline(stream, verdict.plans.worst_request);
  verdict.finding = static_cast<Finding>(finding);
  verdict.detail.assign(std::istreambuf_iterator<char>(stream), {});
  return verdict;
}

}  // namespace scopevm::compiler::property
