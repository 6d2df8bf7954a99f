// What became of one conformance case, and the committed list of what is expected.
//
// The list is text, a case a line, sorted: `node/test_abs pass`, `node/test_lp unsupported LpNorm`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace scopevm::conformance {

enum class Verdict {
  kPass,
  kUnsupported,  // refused with an error that names `op`
  kFail,         // a wrong result, or an error that should not be
  kCrash,        // ended by a signal, or without a verdict
  kTimeout,
};

struct Outcome {
  Verdict verdict = Verdict::kCrash;
  std::string op;      // kUnsupported: the op type, or `type:element`, `type:container`, `opset:6`
  std::string detail;  // for people: the message, the first wrong element
};

// The case's name is GROUP/CASE.
using OutcomeList = std::map<std::string, Outcome>;

// "pass", "unsupported LpNorm", ...: the words after the case's name. Leaves out the detail.
std::string text(const Outcome& outcome);

// Reads a list. A missing file is an empty list. Returns false when a line makes no sense, and says
// which in `error`.
bool read_list(const std::string& path, OutcomeList& list, std::string& error);
// Writes it with a head that counts the verdicts of each group.
bool write_list(const std::string& path, const OutcomeList& list);

// One line for each case whose text differs between the two lists, which must cover the same cases.
std::vector<std::string> differences(const OutcomeList& expected, const OutcomeList& actual);

// "node: 431 pass, 501 unsupported, 0 fail, 0 crash, 0 timeout", a line for each group.
std::vector<std::string> summary(const OutcomeList& list);

}  // namespace scopevm::conformance
