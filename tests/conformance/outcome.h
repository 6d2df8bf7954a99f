// The outcome of a conformance case, and the committed list of expected outcomes.
//
// The list is a sorted text file with one case per line: `node/test_abs pass`,
// `node/test_lp unsupported LpNorm`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace scopevm::conformance {

enum class Verdict {
  kPass,
  kUnsupported,  // rejected for the reason in `op`
  kFail,         // a wrong result, or an unexpected error
  kCrash,        // ended by a signal, or without an outcome
  kTimeout,
};

struct Outcome {
  Verdict verdict = Verdict::kCrash;
  // Of kUnsupported: the op type, or `data:rank` if a data set is rejected, or `data:random` if
  // its random numbers are those of another generator.
  std::string op;
  std::string detail;  // human-readable: the message, or the first wrong element
};

// Keys are case names, GROUP/CASE.
using OutcomeList = std::map<std::string, Outcome>;

// "pass", "unsupported LpNorm", ...: the words after the case name in the list, without the detail.
std::string text(const Outcome& outcome);

// Reads a list; a missing file is an empty list. Returns false on a malformed line, and describes
// the line in `error`.
bool read_list(const std::string& path, OutcomeList& list, std::string& error);
// Writes a list, after a header with the number of each verdict per group.
bool write_list(const std::string& path, const OutcomeList& list);

// One line for each case whose text differs, or that only one of the lists contains.
std::vector<std::string> differences(const OutcomeList& expected, const OutcomeList& actual);

// One line per group: "node: 431 pass, 501 unsupported, 0 fail, 0 crash, 0 timeout".
std::vector<std::string> summary(const OutcomeList& list);

}  // namespace scopevm::conformance
