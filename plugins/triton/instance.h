// An instance of a model: a session, and a call that runs the requests of one execution after the
// other. Requests of equal shapes run together if the configuration has a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plugins/triton/cancellation.h"
#include "plugins/triton/model.h"
#include "plugins/triton/request.h"
#include "scopevm/session.h"

namespace scopevm::triton {

class Instance {
 public:
  // Errors: those of Session::create(), and kUnsupported (an instance for a GPU).
  static Result<std::unique_ptr<Instance>> create(TRITONBACKEND_ModelInstance* handle);

  // Answers and releases all requests. Errors: kOutOfMemory; the caller then keeps the requests.
  Status execute(std::span<TRITONBACKEND_Request* const> handles);

 private:
  Instance(TRITONBACKEND_ModelInstance* handle, const Model& model, Session session, Call call)
      : handle_(handle), model_(model), session_(std::move(session)), call_(std::move(call)) {}

  // Moves the first of `waiting`, and all others that can run together with it, to `group`.
  void take_group(std::vector<Request*>& waiting, std::vector<Request*>& group) const;
  // Removes the requests that have ended from the group.
  void run_group(std::vector<Request*>& group);
  // Runs the requests in one call and writes their results. A failure to write those of one request
  // is its status only.
  Status run(std::span<Request* const> group);
  Status set_inputs(std::span<Request* const> group);
  void report_memory();

  TRITONBACKEND_ModelInstance* handle_;
  const Model& model_;
  Session session_;
  Call call_;
  int64_t reported_bytes_ = 0;
  Cancellation cancellation_;
};

}  // namespace scopevm::triton
