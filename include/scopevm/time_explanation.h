/// @file
/// The predicted time of a request, as explain<TimeExplanation>() in scopevm/compiler.h reports it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm {

/// The time of a request of main (CompileOptions::memory_request) that the machine's pools and
/// links determine: a simulation with a clock for each rank. Computation itself takes no time.
/// explain() fails with kInvalidArgument if the request has an unknown dimension or violates a
/// check of the model, and with kUnsupported if data determine the steps of the request.
struct TimeExplanation {
  static constexpr std::string_view kKind = "time";  ///< for explain()

  /// The part of a rank. Its time is the sum of the three others.
  struct Rank {
    double seconds = 0;         ///< from the begin of the request to the end of the part
    double launch_seconds = 0;  ///< accesses of kernels to memory
    double copy_seconds = 0;    ///< copies within the rank
    double wait_seconds = 0;    ///< until messages have arrived
    int64_t launches = 0;       ///< number of kernels
  };

  /// The messages from one rank to another.
  struct Link {
    int from = 0;          ///< the sender
    int to = 0;            ///< the receiver
    int64_t messages = 0;  ///< their number
    int64_t bytes = 0;     ///< of all messages
    double seconds = 0;    ///< the time in which the link transfers bytes, without latencies
  };

  double seconds = 0;                   ///< until rank 0 knows that all ranks have ended
  std::vector<Rank> ranks;              ///< by number
  std::vector<Link> links;              ///< those with messages, by sender and receiver
  std::map<std::string, int64_t> dims;  ///< the sizes of the dimensions of main
  std::vector<std::string> assumed;     ///< the names in `dims` that the request does not give
  int threads = 1;                      ///< of the request
  std::vector<std::string> warnings;    ///< one message each
};

}  // namespace scopevm
