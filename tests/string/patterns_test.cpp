// Patterns and their automata: what is accepted, and patterns that are refused. tests/opsets
// compares drawn patterns with Python's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/ops/string/automaton.h"

namespace scopevm::compiler::frontend {
namespace {

using testing::HasSubstr;

Result<std::vector<int32_t>> automaton_of_text(std::string_view text) {
  SCOPEVM_ASSIGN_OR_RETURN(const Pattern pattern, parse_pattern(text));
  return automaton_of(pattern);
}

bool accepts(const std::vector<int32_t>& automaton, std::string_view text) {
  const auto columns = static_cast<size_t>(automaton.at(256));
  size_t state = 0;
  for (const char c : text) {
    const auto column = static_cast<size_t>(automaton.at(static_cast<uint8_t>(c)));
    const int32_t next = automaton.at(257 + state * columns + column);
    if (next < 0) return false;
    state = static_cast<size_t>(next);
  }
  return automaton.at(257 + state * columns) != 0;
}

bool matches(std::string_view pattern, std::string_view text) {
  return accepts(*automaton_of_text(pattern), text);
}

std::string error_of(std::string_view pattern) {
  return std::string(automaton_of_text(pattern).status().message());
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(Patterns, MatchValidUtf8) {
  for (const std::string_view text : {"", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
                                      "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(matches("(?s).?", text)) << text;
  // Parts of characters, surrogates, encodings that are too long, and values above 0x10ffff.
  for (const std::string_view text :
       {"\x80", "\xc2", "\xe0\xa0", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf0\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(matches("(?s).*", text)) << text;
    EXPECT_TRUE(matches(R"(\C*)", text)) << text;
  }
}

TEST(Patterns, HaveFewStates) {
  EXPECT_EQ(automaton_of_text("[a-z]+")->size(), 257U + 2 * 3);
  EXPECT_LE(automaton_of_text("(?:a|b|c)*abc")->size(), 257U + 8 * 5);
  // No string is accepted.
  EXPECT_EQ(automaton_of_text("a$b")->size(), 257U + 1 * 2);
  EXPECT_FALSE(matches("a$b", "ab"));
}

TEST(Patterns, DependOnAdjacentCharacters) {
  EXPECT_TRUE(matches(R"(\ba\b.\b\w+\b)", "a bc"));
  EXPECT_FALSE(matches(R"(a\bb)", "ab"));
  EXPECT_TRUE(matches(R"((?m)^a$\n^b$)", "a\nb"));
  EXPECT_FALSE(matches(R"(^a$\n^b$)", "a\nb"));
  EXPECT_TRUE(matches(R"(\A\B\z)", ""));
  EXPECT_TRUE(matches("a$", "a"));
  EXPECT_FALSE(matches("a$", "a\n"));
}

TEST(Patterns, HaveUnicodeClasses) {
  EXPECT_TRUE(matches(R"([\p{L}\p{N}]+)", "a1\xc3\xa9\xe4\xb8\xad"));
  EXPECT_TRUE(matches(R"(\p{Any}\p{^L}\PL)", "a1-"));
  EXPECT_FALSE(matches(R"(\P{Any})", "a"));
  // No string contains surrogates. U+2EBF0 and U+31EF are new in Unicode 15.1.
  EXPECT_FALSE(matches(R"(\p{Cs}*)", "\xed\xa0\x80"));
  EXPECT_TRUE(matches(R"(\p{Han}\p{So})", "\xf0\xae\xaf\xb0\xe3\x87\xaf"));
  for (const std::string_view pattern :
       {R"(\p)", R"(\p{greek})", R"(\p{L)", R"(\p{})", R"(\p{^})", R"([\pX])", "\\p\xc3\xa9"})
    EXPECT_THAT(error_of(pattern), HasSubstr("an unknown class of Unicode characters: \"\\p"));
}

TEST(Patterns, RepeatUpToAThousandTimes) {
  EXPECT_TRUE(matches("a{1000}", repeated("a", 1000)));
  EXPECT_FALSE(matches("a{1000}", repeated("a", 999)));
  EXPECT_TRUE(matches(".{2,1000}", repeated("\xc3\xa9", 1000)));
  EXPECT_THAT(error_of("a{1001}"), HasSubstr("an invalid number of repetitions: \"{1001}\""));
  EXPECT_THAT(error_of("((((a|){1000}){1000}){1000}){1000}"), HasSubstr("more than 262143 states"));
}

TEST(Patterns, AreLimited) {
  EXPECT_THAT(error_of("[ab]*a[ab]{20}"),
              HasSubstr("the pattern is too complex: its automaton has more than 16384 states"));
  EXPECT_TRUE(matches(repeated("(", 200) + "a" + repeated(")", 200), "a"));
  EXPECT_THAT(error_of(repeated("(", 201) + "a" + repeated(")", 201)),
              HasSubstr("more than 200 nested groups: \"(a))"));
  EXPECT_TRUE(matches("a" + repeated("*(?i)", 201), "aa"));
  EXPECT_THAT(error_of("a" + repeated("*(?i)", 202)),
              HasSubstr("more than 200 nested repetitions"));
  EXPECT_THAT(error_of(repeated("a", 65537)), HasSubstr("the pattern has more than 65536 bytes"));
  EXPECT_THAT(error_of("(?:a{0,1000}){100}"),
              HasSubstr("the pattern is too complex: the states of its automaton are too large"));
  // A message shows complete characters, and control characters as numbers.
  EXPECT_THAT(error_of("[\n" + repeated("\xe4\xb8\xad", 20)),
              HasSubstr("closing bracket: \"[\\x0a" + repeated("\xe4\xb8\xad", 12) + "...\""));
}

}  // namespace
}  // namespace scopevm::compiler::frontend
