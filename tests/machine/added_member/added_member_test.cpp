// The member of docs/adding-a-pool-member.md in machine descriptions, module files, assembly and
// the time of copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/machine/device_kind.h"
#include "compiler/machine/machine.h"
#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/writer.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;

struct HostKind : compiler::DeviceKind {
  std::string_view name() const override { return format::kHostKind; }
};

Result<compiler::Machine> parse(std::string_view seconds) {
  const HostKind host;
  const compiler::DeviceKind* const kinds[] = {&host};
  return compiler::parse_machine(
      R"({"devices": [{"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"}],
          "pools": [{"device": "a", "scope": "global", "latency_seconds": 1e-6},
                    {"device": "b", "scope": "global", "latency_seconds": 2e-6,
                     "read_latency_seconds": )" +
          std::string(seconds) + "}]}",
      "m.json", kinds);
}

TEST(AddedMember, IsReadFromTheMachineAndDeterminesTheTimeOfCopies) {
  const Result<compiler::Machine> machine = parse("5e-4");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  const compiler::PoolIndex a = machine->global_pool(*machine->find_device("a")),
                            b = machine->global_pool(*machine->find_device("b"));
  EXPECT_EQ(machine->pools[b].speed.read_latency_seconds, 5e-4);
  EXPECT_DOUBLE_EQ(machine->copy_seconds(b, a, 0), 5e-4 + 1e-6);
  EXPECT_DOUBLE_EQ(machine->copy_seconds(a, b, 0), 1e-6 + 2e-6);
}

TEST(AddedMember, OutOfRangeIsAnErrorThatNamesIt) {
  EXPECT_THAT(parse("1e9").status().message(), HasSubstr("pools[1].read_latency_seconds"));
}

TEST(AddedMember, IsStoredOnlyIfItIsGiven) {
  format::ModuleContents module = format::dense_module();
  const std::vector<uint8_t> without = format::write_module(module);
  module.pools[0].speed.read_latency_seconds = 2e-5;
  const std::vector<uint8_t> file = format::write_module(module);
  EXPECT_NE(file, without);
  const Result<format::ModuleContents> read =
      format::read_module(format::aligned_copy(file.data(), file.size()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->pools[0].speed.read_latency_seconds, 2e-5);

  const std::string assembly = format::disassemble(module, {});
  EXPECT_THAT(assembly, HasSubstr("read_latency_seconds"));
  const Result<format::ModuleContents> assembled = format::assemble(assembly, "module.sva");
  ASSERT_TRUE(assembled.ok()) << assembled.status().message();
  EXPECT_EQ(format::write_module(*assembled), file);
}

}  // namespace
}  // namespace scopevm
