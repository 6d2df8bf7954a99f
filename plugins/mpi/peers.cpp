// See peers.h. A pidfd becomes readable when its process ends, also while the parent has not waited
// for it yet.
#include "plugins/mpi/peers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace scopevm::mpi {
namespace {

// What the ranks exchange.
struct Process {
  std::array<char, 64> machine = {};  // boot id
  int id = 0;
};

Process this_process() {
  Process self;
  self.id = getpid();
  // A host name is not unique: machines can be cloned.
  if (FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    const size_t read = std::fread(self.machine.data(), 1, self.machine.size() - 1, file);
    self.machine[read] = '\0';
    std::fclose(file);
  }
  return self;
}

}  // namespace

Peers::~Peers() {
  for (const Peer& peer : peers_) close(peer.descriptor);
}

bool Peers::open(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS || MPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
    return false;
  const Process self = this_process();
  std::vector<Process> all(static_cast<size_t>(ranks));
  if (MPI_Allgather(&self, sizeof self, MPI_BYTE, all.data(), sizeof self, MPI_BYTE, comm) !=
      MPI_SUCCESS)
    return false;
  for (int i = 0; i < ranks; ++i) {
    const Process& other = all[static_cast<size_t>(i)];
    if (i == rank || other.machine != self.machine) continue;
    const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, other.id, 0));
    // In another namespace of processes it has another number. mpirun then ends the job.
    if (descriptor >= 0) peers_.push_back({i, other.id, descriptor});
  }
  return true;
}

bool Peers::contains(int rank) const {
  return std::ranges::find(peers_, rank, &Peer::rank) != peers_.end();
}

int Peers::ended() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return -1;
  next_ = now + kInterval;
  std::vector<pollfd> polled;
  for (const Peer& peer : peers_) polled.push_back({peer.descriptor, POLLIN, 0});
  if (poll(polled.data(), polled.size(), 0) <= 0) return -1;
  for (size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0) return peers_[i].rank;
  return -1;
}

std::string Peers::text(int rank) const {
  std::string text = "rank " + std::to_string(rank);
  for (const Peer& peer : peers_)
    if (peer.rank == rank) text += " (process " + std::to_string(peer.process) + ")";
  return text + " has ended";
}

}  // namespace scopevm::mpi
