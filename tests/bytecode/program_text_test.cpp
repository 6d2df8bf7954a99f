// The printed form of a program has one item per line.
#include "compiler/program/program_text.h"

#include <gtest/gtest.h>

#include "tests/memory/random_functions.h"

namespace scopevm::compiler {
namespace {

TEST(ProgramText, PrintsEveryItemOnItsOwnLine) {
  DimExpr n = DimExpr::symbol("n");
  Program program;
  program.machine.devices = {{}};
  program.machine.pools = {{"global", PoolKind::kHeap}};
  program.kernels = {{"map_0", 3, 1}};
  Function f;
  ValueId x = memory::add_input(f, {n, 4});
  ValueId a = memory::add_step(f, {x}, {n, 4});
  memory::launch(f.steps[0]).params = {4 * n};
  memory::launch(f.steps[0]).grid = n;
  memory::launch(f.steps[0]).temporaries = {{64, true, {}}};
  memory::launch(f.steps[0]).in_place = {{0, 0}};
  memory::add_output(f, memory::add_step(f, {memory::add_view(f, a, {4 * n})}, {4 * n}));
  f.steps[1].work = step::Copy();
  f.checks = {{Check::Kind::kEqual, n, 4, "they are {0} and {1}"}};
  program.functions.push_back(std::move(f));
  EXPECT_EQ(str(program),
            "pool p0 global\n"
            "function main(v0) -> (v3)\n"
            "  v0: f32[n, 4] input \"in0\"\n"
            "  v1: f32[n, 4] computed \"t1\"\n"
            "  v2: f32[4*n] view of v1 \"w2\"\n"
            "  v3: f32[4*n] computed \"t3\"\n"
            "  check n, 4 \"they are {0} and {1}\"\n"
            "  launch map_0(v0) -> (v1) params [4*n] grid n grain 1 temporary 64 per worker "
            "in_place 0=0  // s1\n"
            "  copy (v2) -> (v3)  // s3\n");
}

}  // namespace
}  // namespace scopevm::compiler
