// Random changes to a protobuf message.
#pragma once

#include <google/protobuf/message.h>

#include <random>

namespace scopevm::test {

// Changes one field of the message or of a message inside it: sets a number or a string, often to
// one that occurs elsewhere in `root`, or removes, repeats or exchanges elements.
void mutate(google::protobuf::Message& root, std::mt19937& random);

}  // namespace scopevm::test
