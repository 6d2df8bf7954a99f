// The list of expected outcomes: reading, writing, comparing, counting.
#include "tests/conformance/outcome.h"

#include <array>
#include <fstream>
#include <sstream>

namespace scopevm::conformance {
namespace {

constexpr std::array<const char*, 5> kVerdicts = {"pass", "unsupported", "fail", "crash",
                                                  "timeout"};

bool parse_verdict(const std::string& word, Verdict& verdict) {
  for (size_t i = 0; i < kVerdicts.size(); ++i) {
    if (word != kVerdicts[i]) continue;
    verdict = static_cast<Verdict>(i);
    return true;
  }
  return false;
}

}  // namespace

std::string text(const Outcome& outcome) {
  std::string result = kVerdicts[static_cast<size_t>(outcome.verdict)];
  if (outcome.verdict == Verdict::kUnsupported) result += " " + outcome.op;
  return result;
}

bool read_list(const std::string& path, OutcomeList& list, std::string& error) {
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, verdict;
    Outcome outcome;
    words >> name >> verdict >> outcome.op;
    bool has_op = !outcome.op.empty();
    if (!parse_verdict(verdict, outcome.verdict) ||
        has_op != (outcome.verdict == Verdict::kUnsupported)) {
      error = path + ":" + std::to_string(number) + ": " + line;
      return false;
    }
    list[name] = outcome;
  }
  return true;
}

bool write_list(const std::string& path, const OutcomeList& list) {
  std::ofstream file(path);
  file << "# The outcome of each ONNX conformance case. Written by `conformance --bless`.\n";
  for (const std::string& line : summary(list)) file << "# " << line << "\n";
  for (const auto& [name, outcome] : list) file << name << " " << text(outcome) << "\n";
  return static_cast<bool>(file.flush());
}

std::vector<std::string> differences(const OutcomeList& expected, const OutcomeList& actual) {
  std::vector<std::string> lines;
  for (const auto& [name, outcome] : actual) {
    auto found = expected.find(name);
    std::string wanted = found == expected.end() ? "(not listed)" : text(found->second);
    if (wanted == text(outcome)) continue;
    lines.push_back(name + ": expected " + wanted + ", now " + text(outcome) + ": " +
                    outcome.detail);
  }
  for (const auto& [name, outcome] : expected)
    if (!actual.contains(name)) lines.push_back(name + ": listed, but there is no such case");
  return lines;
}

std::vector<std::string> summary(const OutcomeList& list) {
  std::map<std::string, std::array<int, kVerdicts.size()>> counts;
  for (const auto& [name, outcome] : list)
    ++counts[name.substr(0, name.find('/'))][static_cast<size_t>(outcome.verdict)];
  std::vector<std::string> lines;
  for (const auto& [group, by_verdict] : counts) {
    std::string line = group + ":";
    for (size_t i = 0; i < kVerdicts.size(); ++i)
      line += (i ? ", " : " ") + std::to_string(by_verdict[i]) + " " + kVerdicts[i];
    lines.push_back(line);
  }
  return lines;
}

}  // namespace scopevm::conformance
