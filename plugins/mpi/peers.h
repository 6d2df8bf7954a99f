// The processes of the other ranks on this machine. MPI does not report that one of them has ended:
// a receive from it would wait for ever.
#pragma once

#include <mpi.h>

#include <chrono>
#include <string>
#include <vector>

namespace scopevm::mpi {

class Peers {
 public:
  Peers() = default;
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Exchanges the process ids of the ranks of `comm`. Every rank calls this. Returns false if MPI
  // fails.
  bool open(MPI_Comm comm);
  // Whether a rank is another process of this machine.
  bool contains(int rank) const;
  // A rank that has ended, or -1. Examines the processes at most once in kInterval.
  int ended();
  // "rank 1 (process 4711) has ended"
  std::string text(int rank) const;

 private:
  static constexpr std::chrono::milliseconds kInterval{20};
  struct Peer {
    int rank = 0;
    int process = 0;
    int descriptor = -1;  // a pidfd
  };
  std::vector<Peer> peers_;  // of this machine, without this process
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace scopevm::mpi
