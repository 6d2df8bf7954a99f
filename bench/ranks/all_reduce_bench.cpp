// What does a sum over two ranks take, compared with MPI_Allreduce? A module adds the tensors of
// both ranks on each of them, kSums times one after the other: what --split tensor=2 makes of a
// partial value. The time of one sum is the difference from a module with one sum, divided by their
// number. Both are measured in alternating rounds, with tensors in the caches.
//   mpirun -n 2 build/release/bin/all_reduce_bench
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

constexpr int kSums = 64;
constexpr int kRounds = 7;

// The sums of a on rank 0 and b on rank 1: x + -x, then 0.
std::string graph(int64_t count, int sums) {
  const std::string type = "!sv.tensor<f32[" + std::to_string(count) + "]>";
  const auto place = [&](const std::string& name, const char* device) {
    return "  %" + name + " = sv.on_device %" + name + "_any {place = \"" + device + "\"} : (" +
           type + ") -> " + type + "\n";
  };
  std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n";
  text += "  %a0 = sv.on_device %x {place = \"cpu\"} : (" + type + ") -> " + type + "\n";
  text += "  %b0_any = sv.neg %x : (" + type + ") -> " + type + "\n" + place("b0", "cpu1");
  for (int i = 0; i < sums; ++i)
    for (const char* name : {"a", "b"}) {
      const std::string next = name + std::to_string(i + 1), operand = std::to_string(i);
      text += "  %" + next + "_any = sv.add %a" + operand + ", %b" + operand + " : (" + type +
              ", " + type + ") -> " + type + "\n" + place(next, *name == 'a' ? "cpu" : "cpu1");
    }
  return text + "  return %a" + std::to_string(sums) + " : " + type + "\n}\n";
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Rank 0 compiles the module for both.
Result<Module> compile_sums(const Transport& transport, int64_t count, int sums) {
  const TemporaryFile file(graph(count, sums));
  CompileOptions options;
  options.model_path = file.path();
  options.machine_json = R"({"devices": [{"name": "cpu", "kind": "cpu"},
                                         {"name": "cpu1", "kind": "cpu", "rank": 1}]})";
  std::vector<uint8_t> bytes;
  if (transport.get()->rank == 0) {
    SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, compile(options));
    bytes = std::move(output.module);
  }
  uint64_t size = bytes.size();
  MPI_Bcast(&size, sizeof size, MPI_BYTE, 0, MPI_COMM_WORLD);
  bytes.resize(size);
  MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, MPI_COMM_WORLD);
  return Module::load_bytes(bytes);
}

// The median seconds of a call on rank 0; 0 on rank 1.
Result<double> seconds_of_call(const Transport& transport, const Module& module, int64_t count,
                               int calls) {
  SessionOptions options;
  options.threads = 1;
  options.transport = transport.get();
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, options));
  if (transport.get()->rank > 0) {
    SCOPEVM_RETURN_IF_ERROR(session.follow());
    return 0.0;
  }
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_ASSIGN_OR_RETURN(Tensor x, Tensor::allocate(DType::kF32, {count}));
  std::fill_n(static_cast<float*>(x.data()), count, 1.0f);
  SCOPEVM_RETURN_IF_ERROR(call.set_input(0, x));
  std::vector<double> seconds;
  for (int i = -calls / 10; i < calls; ++i) {
    const double began = MPI_Wtime();
    SCOPEVM_RETURN_IF_ERROR(call.run());
    if (i >= 0) seconds.push_back(MPI_Wtime() - began);
  }
  return median(seconds);
}

double seconds_of_all_reduce(int64_t count, int calls) {
  std::vector<float> from(static_cast<size_t>(count), 1.0f), to(from.size());
  std::vector<double> seconds;
  for (int i = -calls / 10; i < calls; ++i) {
    const double began = MPI_Wtime();
    MPI_Allreduce(from.data(), to.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    if (i >= 0) seconds.push_back(MPI_Wtime() - began);
  }
  return median(seconds);
}

Status compare(const Transport& transport, int64_t count) {
  const int calls = count < 100'000 ? 2000 : 100;
  SCOPEVM_ASSIGN_OR_RETURN(const Module one, compile_sums(transport, count, 1));
  SCOPEVM_ASSIGN_OR_RETURN(const Module many, compile_sums(transport, count, 1 + kSums));
  std::vector<double> own, mpi, ratios;
  for (int round = 0; round < kRounds; ++round) {
    SCOPEVM_ASSIGN_OR_RETURN(const double least, seconds_of_call(transport, one, count, calls));
    SCOPEVM_ASSIGN_OR_RETURN(const double most, seconds_of_call(transport, many, count, calls));
    own.push_back((most - least) / kSums);
    mpi.push_back(seconds_of_all_reduce(count, calls));
    ratios.push_back(own.back() / mpi.back());
  }
  if (transport.get()->rank > 0) return {};
  const auto [lowest, highest] = std::ranges::minmax(ratios);
  std::printf("%8lld bytes: %8.2f us, MPI_Allreduce %8.2f us, ratio %.2f (%.2f to %.2f)\n",
              static_cast<long long>(count) * 4, median(own) * 1e6, median(mpi) * 1e6,
              median(ratios), lowest, highest);
  return {};
}

Status run() {
  SCOPEVM_ASSIGN_OR_RETURN(const Transport transport, Transport::load("mpi"));
  if (transport.get()->ranks != 2)
    return {StatusCode::kInvalidArgument, "usage: mpirun -n 2 all_reduce_bench"};
  for (const int64_t bytes : {4 << 10, 64 << 10, 1 << 20})
    SCOPEVM_RETURN_IF_ERROR(compare(transport, bytes / 4));
  return {};
}

}  // namespace
}  // namespace scopevm

int main() {
  const scopevm::Status status = scopevm::run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
