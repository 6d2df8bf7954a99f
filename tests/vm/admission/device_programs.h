// Random modules with copies from, to and within a device, for tests with FakeDevice.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm::test {

inline constexpr int64_t kProgramBytes = 64;  // of each tensor

// main(x: u8[64]) -> y: each byte of y is that of x plus `added`. The module has no memory bound:
// calls need budgets of kProgramBytes in cpu.global, and of `workspace_bytes`.
struct DeviceProgram {
  std::string assembly;
  int added = 0;
  int64_t workspace_bytes = 0;  // the most live bytes in cpu.global.workspace
};

class DeviceProgramWriter {
 public:
  explicit DeviceProgramWriter(uint32_t seed) : random_(seed) {}

  DeviceProgram write(int steps) {
    std::string at = copied(make("#2"), "#2", "%r0", "#0");
    for (int i = 0; i < steps; ++i) at = step(at);
    const std::string y = copied(make("#0"), "#0", at, "#2");
    const std::string bytes = std::to_string(kProgramBytes);
    program_.workspace_bytes = most_live_ * kProgramBytes;
    program_.assembly =
        "scopevm_module 0.15 producer \"test\"\n"
        "device \"cpu\" kind \"cpu\"\n"
        "device \"dev\" kind \"opencl\" workers 2\n"
        "pool \"global\" heap device 0 limit -1\n"
        "pool \"global.workspace\" heap device 0 limit -1\n"
        "pool \"global\" heap device 1 limit -1\n"
        "function \"main\" registers " +
        std::to_string(registers_) +
        " slots 1 {\n"
        "input \"x\" u8 [\"" +
        bytes + "\"]\noutput \"y\" u8 [\"" + bytes +
        "\"]\n"
        "code {\nset_slot dst=s0 value=" +
        bytes + "\n" + code_ + "ret (" + y + ")\n}\n}\n";
    return program_;
  }

 private:
  std::string make_register() { return "%r" + std::to_string(registers_++); }
  // A tensor in its own storage, to which only the register of the tensor refers.
  std::string make(const std::string& pool) {
    const std::string storage = make_register(), tensor = make_register();
    code_ += storage + " = alloc_storage " + pool + " size=s0\n" + tensor + " = alloc_tensor " +
             storage + " offset=0 bytes=s0 u8 [s0]\nkill " + storage + "\n";
    if (pool == "#1") most_live_ = std::max(most_live_, ++live_);
    return tensor;
  }
  std::string copied(const std::string& to, const std::string& to_pool, const std::string& from,
                     const std::string& from_pool) {
    code_ += "device_copy to=" + to + " to_pool=" + to_pool + " from=" + from +
             " from_pool=" + from_pool + "\n";
    return to;
  }
  void kill_host(const std::string& tensor) {
    code_ += "kill " + tensor + "\n";
    --live_;
  }
  // Storages of the device are released at the end only: see FakeDevice.
  std::string step(const std::string& at) {
    if (random_() % 2 == 0) {
      ++program_.added;
      return copied(make("#2"), "#2", at, "#2");
    }
    std::string host = copied(make("#1"), "#1", at, "#2");
    if (random_() % 2 == 0) {  // the host reads the copy
      const std::string other = copied(make("#1"), "#1", host, "#1");
      kill_host(host);
      host = other;
    }
    const std::string back = copied(make("#2"), "#2", host, "#1");
    kill_host(host);
    return back;
  }

  std::mt19937 random_;
  DeviceProgram program_;
  std::string code_;
  int registers_ = 1;
  int64_t live_ = 0, most_live_ = 0;
};

inline Module load_program(const DeviceProgram& program) {
  Result<format::ModuleContents> contents = format::assemble(program.assembly, "program.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message() << "\n" << program.assembly;
  return load(*std::move(contents));
}

}  // namespace scopevm::test
