// The transport of a job of MPI: each message is a message of a communicator of its own. A large
// one between two processes of a machine is a note that says where its bytes are in the sender's
// window (window.h), in a copy (staging.h) or where the sender has them: the receiver copies them
// and answers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/mpi/peers.h"
#include "plugins/mpi/staging.h"
#include "plugins/mpi/window.h"
#include "scopevm/c/transport.h"

namespace scopevm::mpi {

class MpiTransport {
 public:
  MpiTransport() = default;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  // Initialises MPI, if the program has not, and connects to the other ranks. Returns false on
  // failure: see error().
  bool open();
  const scopevm_transport* c() const { return &c_; }
  const std::string& error() const { return error_; }

 private:
  // Where the bytes of a large message are.
  struct Note {
    int64_t bytes = 0;
    int64_t offset = -1;  // in the window of the sender; -1: another message has the bytes
    int number = 0;       // of the note, for that message or the answer
  };
  struct Operation;

  static MpiTransport& of(void* context) { return *static_cast<MpiTransport*>(context); }
  bool open_windows();
  // Whether MPI has succeeded, else sets the error.
  bool succeeds(int code, const char* function);
  // Sets the error if a rank has ended.
  bool has_ended();
  bool start_send(Operation& operation, int to, int tag, const void* data, int64_t bytes);
  bool start_receive(Operation& operation, int tag);
  bool send_note(Operation& operation, int to, int tag, const void* data);
  // The notes of `from` that probe() has received.
  std::deque<Note>& probed(int from, int tag) { return probed_[{from, tag}]; }
  // Of a large message, whose note has arrived: the state after the next step.
  int copy(Operation& operation);
  int test_operation(Operation& operation);
  int64_t find_message(int from, int tag);

  static void* send(void* context, int to, int tag, const void* data, int64_t bytes);
  static void* receive(void* context, int from, int tag, void* data, int64_t bytes);
  static int test(void* context, void* operation);
  static void cancel(void* context, void* operation);
  static int64_t probe(void* context, int from, int tag);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm notes_ = MPI_COMM_NULL;
  MPI_Comm answers_ = MPI_COMM_NULL;  // and messages that have the bytes
  Peers peers_;
  Window window_;
  Staging staging_{window_};
  std::vector<MappedWindow> windows_;  // by rank
  std::vector<char> reads_window_;     // by rank: whether it reads window_
  int next_number_ = 0;
  std::map<std::pair<int, int>, std::deque<Note>> probed_;  // by rank and tag
  std::string error_;
  scopevm_transport c_ = {};
};

}  // namespace scopevm::mpi
