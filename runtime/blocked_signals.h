// Blocks the signals by which a user ends a command.
#pragma once

#include <pthread.h>

#include <csignal>

namespace scopevm::runtime {

// Blocks SIGINT, SIGTERM and SIGHUP in the calling thread while the object exists. In a process
// with one thread, a signal is handled afterwards: it cannot interrupt the removal of a temporary
// file.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &old_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t old_;
};

}  // namespace scopevm::runtime
