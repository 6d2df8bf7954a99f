#include "tests/property/check/check_copies.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <variant>

#include "tests/temporary_file.h"

namespace scopevm::compiler::property {
namespace {

using Copy = CopyExplanation::Copy;
// A rule by its index in CompileOptions::places, or an annotation by its line.
struct RuleIndex {
  size_t value;
  auto operator<=>(const RuleIndex&) const = default;
};
struct AnnotationLine {
  size_t value;
  auto operator<=>(const AnnotationLine&) const = default;
};
using Constraint = std::variant<RuleIndex, AnnotationLine>;

// std::regex recurses for each character. Longer lines are constants, which have no operands.
constexpr size_t kLongestLine = 4000;

size_t indentation(const std::string& line) { return line.find_first_not_of(' '); }

// The constraint that a reason names. Empty for reasons of the compiler, such as defaults.
Result<std::optional<Constraint>> constraint_of(const std::string& reason,
                                                const CompileOptions& options) {
  static const std::regex rule(R"(--place ([^ )]+))"), annotation(R"(sv\.on_device .*:(\d+):\d+)");
  std::smatch match;
  if (std::regex_search(reason, match, annotation))
    return std::optional<Constraint>(AnnotationLine{std::stoul(match[1])});
  if (!std::regex_search(reason, match, rule)) return std::optional<Constraint>();
  const auto found = std::ranges::find(options.places, match[1].str());
  if (found == options.places.end())
    return Status(StatusCode::kInternal, "no rule is " + match[1].str());
  return std::optional<Constraint>(RuleIndex{static_cast<size_t>(found - options.places.begin())});
}

std::string text_of(const Copy& copy) {
  return "\"" + copy.value + "\" " + copy.from + " -> " + copy.to + ": " + copy.producer_reason +
         "; " + copy.consumer_reason;
}

bool is_same(const Copy& a, const Copy& b) {
  return a.function == b.function && text_of(a) == text_of(b);
}

Result<std::vector<Copy>> copies_without(const Annotated& graph, CompileOptions options,
                                         std::optional<Constraint> left_out) {
  size_t line = 0;
  if (left_out && std::holds_alternative<AnnotationLine>(*left_out))
    line = std::get<AnnotationLine>(*left_out).value;
  else if (left_out)
    options.places.erase(options.places.begin() +
                         static_cast<ptrdiff_t>(std::get<RuleIndex>(*left_out).value));
  const TemporaryFile file(graph.text(line));
  options.model_path = file.path();
  SCOPEVM_ASSIGN_OR_RETURN(CopyExplanation explanation, explain<CopyExplanation>(options));
  // The name of the file differs between calls.
  for (Copy& copy : explanation.copies)
    for (std::string* reason : {&copy.producer_reason, &copy.consumer_reason})
      if (const size_t at = reason->find(file.path()); at != std::string::npos)
        reason->erase(at, file.path().size());
  return std::move(explanation.copies);
}

}  // namespace

Annotated::Annotated(const std::string& text, Forms forms) {
  static const std::regex placeable(R"( *%(\w+) = sv\..* -> (!sv\.tensor<[^()<>]*>))");
  static const char* const kPlaces[] = {"cpu",          "npu", "npu.global.fast",
                                        ".global.fast", "dsp", "kind:cpu"};
  constexpr int kAnnotatedOps = 6;  // one of so many
  std::mt19937_64 random(std::hash<std::string>()(text));
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines_.push_back(line);
    std::smatch match;
    if (line.size() > kLongestLine || !std::regex_match(line, match, placeable) ||
        random() % kAnnotatedOps != 0)
      continue;
    const std::string value = match[1], type = match[2];
    const char* const place = kPlaces[random() % std::size(kPlaces)];
    const auto flag = [&] { return std::string(random() % 2 == 0 ? "true" : "false"); };
    std::string op = "sv.on_device", attributes = "constrain_result = " + flag() + ", place";
    if (forms == Forms::kAll) attributes = "constrain_body = " + flag() + ", " + attributes;
    if (forms == Forms::kAll && random() % 3 == 0) {
      op = "sv.device_copy";
      attributes = "to";
    }
    lines_.push_back(std::string(indentation(line), ' ') + "%placed_" + value + " = " + op + " %" +
                     value + " {" + attributes + " = \"" + place + "\"} : (" + type + ") -> " +
                     type);
    annotations_.push_back(lines_.size());
  }
}

std::string Annotated::text(size_t left_out) const {
  std::vector<std::string> lines = lines_;
  for (size_t annotation : annotations_) {
    std::string& line = lines[annotation - 1];
    if (annotation == left_out) {
      line.clear();
      continue;
    }
    const size_t begin = line.find("%placed_") + 8;
    const std::string value = line.substr(begin, line.find(' ', begin) - begin);
    const std::regex use("%" + value + "\\b");
    // The value has uses only in the rest of its block.
    for (size_t i = annotation; i < lines.size(); ++i) {
      if (!lines[i].empty() && indentation(lines[i]) < indentation(line)) break;
      if (lines[i].size() <= kLongestLine)
        lines[i] = std::regex_replace(lines[i], use, "%placed_" + value);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Result<std::string> wrong_copy(const Annotated& graph, CompileOptions options) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Copy> copies,
                           copies_without(graph, options, std::nullopt));
  std::set<Constraint> named;
  for (const Copy& copy : copies)
    for (const std::string* reason : {&copy.producer_reason, &copy.consumer_reason}) {
      if (reason->empty()) return "a reason is missing: " + text_of(copy);
      SCOPEVM_ASSIGN_OR_RETURN(const auto constraint, constraint_of(*reason, options));
      if (constraint) named.insert(*constraint);
    }
  for (const Constraint& constraint : named) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Copy> others,
                             copies_without(graph, options, constraint));
    for (const Copy& copy : copies) {
      bool names = false;
      for (const std::string* reason : {&copy.producer_reason, &copy.consumer_reason}) {
        SCOPEVM_ASSIGN_OR_RETURN(const auto by, constraint_of(*reason, options));
        names = names || by == constraint;
      }
      if (names &&
          std::ranges::any_of(others, [&](const Copy& other) { return is_same(copy, other); }))
        return "without a constraint that it names, the copy is the same: " + text_of(copy);
    }
  }
  return std::string();
}

}  // namespace scopevm::compiler::property
