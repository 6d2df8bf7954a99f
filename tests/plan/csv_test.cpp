// CSV: round trips, synonyms, and errors for hostile input.
#include "bench/memory/instances.h"
#include "tests/plan/problems.h"

namespace scopevm::plan {
namespace {

Problem parse(std::string_view text) {
  Result<Problem> problem = parse_csv(text);
  EXPECT_TRUE(problem.ok()) << problem.status().message();
  return problem.ok() ? *std::move(problem) : Problem();
}

std::string error_of(std::string_view text) {
  const Result<Problem> problem = parse_csv(text);
  if (problem.ok()) return "";
  EXPECT_EQ(problem.status().code(), StatusCode::kInvalidModel);
  return std::string(problem.status().message());
}

constexpr char kAll[] =
    "pool,fast,1024,\n"
    "pool,slow,,2.5\n"
    "id,lower,upper,size,alignment,gaps,fixed,base,base_offset,pools\n"
    "a,-4,9,64,16,-1-2 5-6,32,,,slow fast\n"
    "b,0,3,8,1,,,a,56,\n";

TEST(Csv, RoundTripKeepsEveryColumn) {
  const Problem problem = parse(kAll);
  ASSERT_EQ(problem.buffers.size(), 2u);
  const Buffer& a = problem.buffers[0];
  ASSERT_EQ(a.lifespans.size(), 3u);
  EXPECT_EQ(a.lifespans[0].upper, -1);
  EXPECT_EQ(a.lifespans[1].lower, 2);
  EXPECT_EQ(a.alignment, 16);
  EXPECT_EQ(a.offset, 32);
  EXPECT_EQ(a.pools, (std::vector<int>{1, 0}));
  EXPECT_EQ(problem.buffers[1].base, 0);
  EXPECT_EQ(problem.buffers[1].base_offset, 56);
  EXPECT_EQ(problem.pools[0].limit, 1024);
  EXPECT_EQ(problem.pools[1].cost_per_byte, 2.5);
  const Result<std::string> text = to_csv(problem);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, kAll);
}

TEST(Csv, PlansAreAppended) {
  const Problem problem = parse("id,lower,upper,size\nx,0,2,8\ny,1,3,8\n");
  const Plan plan = solve_or_fail(problem, only_heuristics());
  const Result<std::string> text = to_csv(problem, &plan);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "id,lower,upper,size,offset\nx,0,2,8,0\ny,1,3,8,8\n");
  // The offsets of a plan are not required offsets of the problem.
  EXPECT_FALSE(parse(*text).buffers[0].offset.has_value());
}

TEST(Csv, PlansAreParsed) {
  const Result<PlannedProblem> parsed = parse_plan_csv(
      "pool,fast,100,\nid,lower,upper,size,pool,offset\nx,-2,2,8,fast,16\ny,1,3,8,slow,0\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->plan.offsets, (std::vector<int64_t>{16, 0}));
  EXPECT_EQ(parsed->plan.pools, (std::vector<int>{0, 1}));
  EXPECT_EQ(parsed->plan.height, 24);
  ASSERT_EQ(parsed->problem.pools.size(), 2u);
  EXPECT_EQ(parsed->problem.pools[1].name, "slow");
  EXPECT_TRUE(validate(parsed->problem, parsed->plan).ok());
}

TEST(Csv, ParsedPlansRoundTrip) {
  const Problem problem = parse(kAll);
  const Plan plan = solve_or_fail(problem, only_heuristics());
  const Result<std::string> text = to_csv(problem, &plan);
  ASSERT_TRUE(text.ok());
  const Result<PlannedProblem> parsed = parse_plan_csv(*text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->plan.offsets, plan.offsets);
  EXPECT_EQ(parsed->plan.pools, plan.pools);
  EXPECT_EQ(parsed->plan.height, plan.height);
  EXPECT_EQ(*to_csv(parsed->problem), kAll);
}

TEST(Csv, RejectsBadPlans) {
  const auto error = [](const std::string& text) {
    return std::string(parse_plan_csv(text).status().message());
  };
  EXPECT_EQ(error("id,lower,upper,size\nx,0,2,8\n"), "line 1: missing column \"offset\"");
  EXPECT_EQ(error("lower,upper,size,offset\n0,2,8,\n"),
            "line 2: offset \"\": expected a number of 64 bits");
  EXPECT_EQ(error("lower,upper,size,offset\n0,2,8,-8\n"),
            "line 2: offset -8: expected at least 0, and an end of the buffer that fits 64 bits");
}

TEST(Csv, AcceptsSynonymsOrdersAndOtherColumns) {
  const Problem problem =
      parse("\xef\xbb\xbf# comment\r\nsize,kind,end,start,buffer\r\n8,act,3,1,b7\r\n\r\n");
  ASSERT_EQ(problem.buffers.size(), 1u);
  EXPECT_EQ(problem.buffers[0].id, "b7");
  EXPECT_EQ(problem.buffers[0].lifespans[0].lower, 1);
  EXPECT_EQ(problem.buffers[0].lifespans[0].upper, 3);
  EXPECT_EQ(problem.buffers[0].size, 8);
  EXPECT_EQ(parse("lower,upper,size\n0,1,8").buffers[0].id, "0");
}

TEST(Csv, RejectsBadHeaders) {
  EXPECT_EQ(error_of(""), "expected a header line: id,lower,upper,size");
  EXPECT_EQ(error_of("id,lower,upper\n"), "line 1: missing column \"size\"");
  EXPECT_EQ(error_of("id,lower,start,upper,size\n"), "line 1: column \"start\" occurs twice");
}

TEST(Csv, RejectsBadNumbers) {
  const auto row = [](const std::string& line) {
    return error_of("id,lower,upper,size,alignment,gaps\n" + line + "\n");
  };
  EXPECT_EQ(row("a,0,1,99999999999999999999,1,"),
            "line 2: size \"99999999999999999999\": expected a number of 64 bits");
  EXPECT_EQ(row("a,0,1,1e3,1,"), "line 2: size \"1e3\": expected a number of 64 bits");
  EXPECT_EQ(row("a,0,1, 8,1,"), "line 2: size \" 8\": expected a number of 64 bits");
  EXPECT_EQ(row("a,0,1,,1,"), "line 2: size \"\": expected a number of 64 bits");
  EXPECT_EQ(row("a,0,1,-8,1,"), "line 2: size -8 is negative");
  EXPECT_EQ(row("a,2,2,8,1,"), "line 2: lifespan [2, 2): expected lower < upper");
  EXPECT_EQ(row("a,0,9,8,1"), "line 2: expected 6 fields, given 5");
  EXPECT_EQ(row("a,0,9,8,1,,"), "line 2: expected 6 fields, given 7");
  EXPECT_EQ(row("a,0,9,8,1,3"), "line 2: gap \"3\": expected LOWER-UPPER with LOWER < UPPER");
  EXPECT_EQ(row("a,0,9,8,1,4-3"), "line 2: gap \"4-3\": expected LOWER-UPPER with LOWER < UPPER");
  EXPECT_EQ(row("a,0,9,8,1,3-5 4-6"),
            "line 2: gap \"4-6\": expected ascending, disjoint gaps inside the lifespan");
  EXPECT_EQ(row("a,0,9,8,1,0-9"), "line 2: the gaps leave no step of the lifespan");
}

TEST(Csv, RejectsBadText) {
  EXPECT_EQ(error_of("id,lower,upper,size\n\"a\",0,1,8\n"),
            "line 2: quoted fields are not supported");
  EXPECT_EQ(error_of(std::string_view("id,lower,upper,size\na\0b,0,1,8\n", 29)),
            "line 2: id \"a?b\" contains a control character");
  EXPECT_EQ(error_of("id,lower,upper,size\na,0,1," + std::string(100000, '9')),
            "line 2: size \"" + std::string(40, '9') + "...\": expected a number of 64 bits");
}

TEST(Csv, RejectsBadReferences) {
  EXPECT_EQ(error_of("id,lower,upper,size,base\na,0,1,8,\nb,0,1,8,c\n"),
            "line 3: base \"c\": no such buffer");
  EXPECT_EQ(error_of("id,lower,upper,size,base\na,0,1,8,\na,0,1,8,\nb,0,1,8,a\n"),
            "line 4: base \"a\" is the id of two buffers");
  EXPECT_EQ(error_of("id,lower,upper,size,pools\na,0,1,8,x\n"),
            "line 2: pool \"x\" is not declared; expected a line pool,x before the header");
  EXPECT_EQ(error_of("pool,x,many\n"), "line 1: limit \"many\": expected a number of bytes");
  EXPECT_EQ(error_of("pool,x,,nan\n"), "line 1: cost \"nan\": expected a number");
  EXPECT_EQ(error_of("pool,x\npool,x\n"),
            "line 2: expected pool,NAME[,LIMIT[,COST]] with a new name");
  EXPECT_EQ(error_of("pool,x y\n"), "line 1: pool \"x y\": expected a name without spaces");
}

TEST(Csv, ValuesThatOverflowLaterAreErrorsOfSolve) {
  const Problem problem = parse(
      "id,lower,upper,size\na,0,1,9223372036854775807\n"
      "b,-9223372036854775808,9223372036854775807,9223372036854775807\n");
  EXPECT_FALSE(solve(problem, only_heuristics()).ok());
}

TEST(Csv, PrintingRejectsWhatCannotBeParsed) {
  const auto error = [](const Problem& problem) {
    const Result<std::string> text = to_csv(problem);
    return text.ok() ? std::string() : std::string(text.status().message());
  };
  EXPECT_NE(error({{buffer("a,b", 0, 1, 8)}, {}}), "");
  EXPECT_NE(error({{buffer("#a", 0, 1, 8)}, {}}), "");
  EXPECT_NE(error({{buffer("a", 0, 1, 8)}, {{"x y", {}, 0}}}), "");
  Problem problem{{buffer("a", 0, 1, 8)}, {}};
  problem.buffers[0].pools = {0};
  EXPECT_EQ(error(problem), "buffer \"a\": pool 0 has no declaration");
  problem = {{buffer("a", 0, 1, 8), buffer("a", 0, 1, 8)}, {}};
  problem.buffers[1].base = 0;
  EXPECT_EQ(error(problem), "buffer \"a\": its base has no unique id");
  problem.buffers[1] = buffer("b", 0, 1, 8);
  problem.buffers[1].lifespans.clear();
  EXPECT_EQ(error(problem), "buffer \"b\": has no lifespan");
}

TEST(Csv, LargeFilesAreParsed) {
  const Result<std::string> text = to_csv(bench::inference_instance(200000, 1));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(parse(*text).buffers.size(), 200000u);
}

}  // namespace
}  // namespace scopevm::plan
