// The arguments of a Python call as the inputs, buffers and options of a call of the C API, the
// run, and its results.
#include <cmath>
#include <cstring>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

bool equals(PyObject* text, const char* name) {
  return PyUnicode_CompareWithASCIIString(text, name) == 0;
}

// The index of the value with the name, or -1.
Py_ssize_t find(const std::vector<Value>& values, PyObject* name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].text.get() == name) return static_cast<Py_ssize_t>(i);
  for (size_t i = 0; i < values.size(); ++i)
    if (PyUnicode_Check(name) != 0 && PyUnicode_Compare(values[i].text.get(), name) == 0)
      return static_cast<Py_ssize_t>(i);
  return -1;
}

// The index of an input, or -1 with the library's error, which suggests the nearest name.
Py_ssize_t find_input(const SessionObject& session, const CallSlot& slot, PyObject* name) {
  const Py_ssize_t index = find(*session.module->inputs, name);
  if (index >= 0) return index;
  const char* const text = text_of(name);
  size_t found = 0;
  if (text == nullptr || !check(scopevm_call_find_input(slot.call, text, &found))) return -1;
  return static_cast<Py_ssize_t>(found);
}

// Binds the arguments of one call.
class Binder {
 public:
  Binder(SessionObject& session, CallSlot& slot) : session_(session), slot_(slot) {}

  bool positional(PyObject* args) {
    const Py_ssize_t count = PyTuple_Size(args);
    if (count == 1 && PyDict_Check(PyTuple_GetItem(args, 0)) != 0)
      return named_inputs(PyTuple_GetItem(args, 0));
    if (static_cast<size_t>(count) > inputs().size()) {
      PyErr_Format(PyExc_TypeError, "the module has %zd input%s, given %zd",
                   static_cast<Py_ssize_t>(inputs().size()), inputs().size() == 1 ? "" : "s",
                   count);
      return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!set(static_cast<size_t>(i), PyTuple_GetItem(args, i))) return false;
    return true;
  }

  bool named(PyObject* dict, RunArguments& out) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(dict, &position, &key, &value) != 0) {
      const Py_ssize_t index = find(inputs(), key);
      const int used = index >= 0 && !is_option(key) ? 0 : option(key, value, out);
      if (used < 0) return false;
      if (used == 0 && !input(key, value)) return false;
    }
    return true;
  }

 private:
  const std::vector<Value>& inputs() const { return *session_.module->inputs; }

  static bool is_option(PyObject* key) {
    for (const char* name : {"out", "state", "timeout", "request_id", "priority", "budget", "done"})
      if (equals(key, name)) return true;
    return false;
  }

  bool named_inputs(PyObject* dict) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    // A conversion of a value can run any Python code, so that the dict must not be iterated then.
    std::vector<std::pair<Ref, Ref>> items;
    while (PyDict_Next(dict, &position, &key, &value) != 0)
      items.emplace_back(Ref::borrowed(key), Ref::borrowed(value));
    for (const auto& [name, given] : items) {
      if (PyUnicode_Check(name.get()) == 0) {
        PyErr_SetString(PyExc_TypeError, "names of inputs are strings");
        return false;
      }
      if (!input(name.get(), given.get())) return false;
    }
    return true;
  }

  bool input(PyObject* name, PyObject* value) {
    const Py_ssize_t index = find_input(session_, slot_, name);
    if (index < 0) return false;
    for (const size_t earlier : slot_.set_inputs)
      if (earlier == static_cast<size_t>(index)) {
        PyErr_Format(PyExc_TypeError, "input \"%U\" has two values", name);
        return false;
      }
    return set(static_cast<size_t>(index), value);
  }

  // 1: the option is read; 0: no option; -1: a Python error.
  int option(PyObject* key, PyObject* value, RunArguments& out) {
    const auto done = [](bool is_read) { return is_read ? 1 : -1; };
    if (equals(key, "out")) return done(outputs(value));
    if (equals(key, "timeout")) return done(timeout(value, out.timeout_ns));
    if (equals(key, "state")) return done(state(value));
    if (equals(key, "request_id")) {
      out.request_id = PyLong_AsUnsignedLongLong(value);
      return done(PyErr_Occurred() == nullptr);
    }
    if (!out.is_submission) return 0;
    if (equals(key, "priority")) {
      out.priority = PyLong_AsLong(value);
      return done(PyErr_Occurred() == nullptr);
    }
    if (equals(key, "budget")) {
      if (value == Py_None) return 1;
      const Ref items(PyMapping_Items(value));
      return done(items && out.budget.read(items.get(), "budget"));
    }
    if (equals(key, "done")) {
      if (value != Py_None) out.done = Ref::borrowed(value);
      return 1;
    }
    return 0;
  }

  static bool timeout(PyObject* value, int64_t& out_ns) {
    if (value == Py_None) return true;
    const double seconds = PyFloat_AsDouble(value);
    if (PyErr_Occurred() != nullptr) return false;
    if (std::isnan(seconds))
      return invalid_argument("timeout: expected seconds, given nan", "timeout") != nullptr;
    // 0 means "without a timeout" for the library; here it is one that has passed.
    out_ns = seconds <= 0 ? 1 : seconds >= 9e9 ? 0 : static_cast<int64_t>(seconds * 1e9) + 1;
    return true;
  }

  bool state(PyObject* value) {
    if (value == Py_None) return true;
    if (PyObject_TypeCheck(value, state_type()) == 0) {
      PyErr_SetString(PyExc_TypeError,
                      "state: expected a scopevm.State; inputs that have the name of an option are "
                      "given by position or in a dict: session({\"state\": value})");
      return false;
    }
    if (!check(scopevm_call_set_state(slot_.call, reinterpret_cast<StateObject*>(value)->state)))
      return false;
    slot_.has_state = true;
    return true;
  }

  bool outputs(PyObject* value) {
    if (value == Py_None) return true;
    const Ref items(PyDict_Check(value) != 0 ? PyDict_Items(value) : nullptr);
    if (!items) {
      if (PyErr_Occurred() == nullptr)
        PyErr_SetString(PyExc_TypeError, "out: expected a dict of names of outputs and buffers");
      return false;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
      PyObject* const pair = PyList_GetItem(items.get(), i);
      if (!output(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1))) return false;
    }
    return true;
  }

  bool output(PyObject* name, PyObject* buffer) {
    const char* const text = text_of(name);
    size_t index = 0;
    if (text == nullptr || !check(scopevm_call_find_output(slot_.call, text, &index))) return false;
    Argument argument;
    if (!read_output(buffer, text, argument)) return false;
    if (!check(argument.shared.data != nullptr
                   ? scopevm_call_share_output(slot_.call, index, &argument.shared)
                   : scopevm_call_set_output_at(slot_.call, index, &argument.tensor)))
      return false;
    slot_.held.push_back(std::move(argument.held));
    slot_.outputs.emplace_back(index, Ref::borrowed(buffer));
    return true;
  }

  bool set(size_t index, PyObject* value) {
    const Value& input = inputs()[index];
    if (value == Py_None) {
      if (input.kind != SCOPEVM_OPTIONAL && input.kind != SCOPEVM_OPTIONAL_SEQUENCE) return true;
      slot_.set_inputs.push_back(index);
      return check(scopevm_call_set_no_value_at(slot_.call, index));
    }
    if (input.kind == SCOPEVM_SEQUENCE || input.kind == SCOPEVM_OPTIONAL_SEQUENCE)
      return sequence(index, input, value);
    Argument argument;
    if (!read_argument(value, input.dtype, input.name, argument)) return false;
    slot_.set_inputs.push_back(index);
    const scopevm_tensor* const owned = argument.owned();
    if (!check(owned != nullptr ? scopevm_call_share_input(slot_.call, index, owned)
                                : scopevm_call_set_input_at(slot_.call, index, &argument.tensor)))
      return false;
    slot_.held.push_back(std::move(argument.held));
    return true;
  }

  bool sequence(size_t index, const Value& input, PyObject* value) {
    if (PyList_Check(value) == 0 && PyTuple_Check(value) == 0)
      return invalid_argument("input \"" + std::string(input.name) +
                                  "\" is a sequence: expected a list of tensors",
                              input.name) != nullptr;
    // A copy, because conversions can change the list.
    const Ref items(PySequence_Tuple(value));
    if (!items) return false;
    const auto count = static_cast<size_t>(PyTuple_Size(items.get()));
    const auto arguments = std::make_unique<Argument[]>(count);
    std::vector<scopevm_tensor> strings;
    std::vector<const DLTensor*> tensors;
    for (size_t i = 0; i < count; ++i) {
      Argument& argument = arguments[i];
      PyObject* const item = PyTuple_GetItem(items.get(), static_cast<Py_ssize_t>(i));
      if (!read_argument(item, input.dtype, input.name, argument)) return false;
      const scopevm_tensor* const owned = argument.owned();
      if (owned != nullptr && (owned->dtype == SCOPEVM_STR) != (input.dtype == SCOPEVM_STR))
        return invalid_argument("input \"" + std::string(input.name) + "\": expected elements of " +
                                    scopevm_dtype_name(input.dtype) + ", given " +
                                    scopevm_dtype_name(owned->dtype),
                                input.name) != nullptr;
      if (input.dtype == SCOPEVM_STR) {
        strings.push_back(*owned);
        continue;
      }
      if (owned != nullptr)
        argument.tensor = {owned->data,
                           {kDLCPU, 0},
                           owned->rank,
                           dlpack_type(owned->dtype),
                           argument.shared.dims,
                           nullptr,
                           0};
      tensors.push_back(&argument.tensor);
    }
    slot_.set_inputs.push_back(index);
    if (!check(input.dtype == SCOPEVM_STR
                   ? scopevm_call_share_sequence(slot_.call, index, strings.data(), count)
                   : scopevm_call_set_sequence_at(slot_.call, index, tensors.data(), count)))
      return false;
    for (size_t i = 0; i < count; ++i) slot_.held.push_back(std::move(arguments[i].held));
    return true;
  }

  SessionObject& session_;
  CallSlot& slot_;
};

PyObject* list_of(CallSlot& slot, size_t index) {
  const scopevm_tensor* elements = nullptr;
  size_t count = 0;
  if (!check(scopevm_call_elements(slot.call, index, &elements, &count))) return nullptr;
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    scopevm_storage_retain(elements[i].storage);
    PyObject* const item = make_result(elements[i]);
    if (item == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), item) != 0)
      return nullptr;
  }
  return list.release();
}

PyObject* result_of(const SessionObject& session, CallSlot& slot, size_t index,
                    const scopevm_tensor* results) {
  for (const auto& [output, buffer] : slot.outputs)
    if (output == index) return Py_NewRef(buffer.get());
  const int kind = (*session.module->outputs)[index].kind;
  if (kind == SCOPEVM_TENSOR) {
    if (results[index].data == nullptr) return Py_NewRef(Py_None);  // of another rank
    scopevm_storage_retain(results[index].storage);
    return make_result(results[index]);
  }
  size_t size = 0;
  int has_value = 1;
  if (!check(scopevm_call_output_size(slot.call, index, &size, &has_value))) return nullptr;
  if (has_value == 0) return Py_NewRef(Py_None);
  Ref list(list_of(slot, index));
  if (!list || kind != SCOPEVM_OPTIONAL) return list.release();
  return Py_XNewRef(PyList_GetItem(list.get(), 0));
}

}  // namespace

CallSlot::~CallSlot() { scopevm_call_free(call); }

void CallSlot::reset() {
  for (const size_t index : set_inputs)
    scopevm_status_free(scopevm_call_set_input_at(call, index, nullptr));
  for (const auto& [index, buffer] : outputs)
    scopevm_status_free(scopevm_call_set_output_at(call, index, nullptr));
  if (has_state) scopevm_status_free(scopevm_call_set_state(call, nullptr));
  scopevm_call_clear_outputs(call);
  has_state = false;
  set_inputs.clear();
  // The release of an object can run any Python code.
  const auto old_outputs = std::move(outputs);
  const auto old_held = std::move(held);
  outputs.clear();
  held.clear();
}

bool bind(SessionObject* session, CallSlot& slot, PyObject* args, PyObject* named,
          RunArguments& out) {
  Binder binder(*session, slot);
  return binder.positional(args) && (named == nullptr || binder.named(named, out));
}

bool run(CallSlot& slot, const RunArguments& arguments) {
  scopevm_run_options options = {sizeof options};
  scopevm_status* status = nullptr;
  {
    const InterruptFlag interrupt;
    options.cancel = interrupt.flag();
    // A signal before the flag existed has its effect now.
    if (options.cancel != nullptr && PyErr_CheckSignals() != 0) return false;
    options.timeout_ns = arguments.timeout_ns;
    options.request_id = arguments.request_id;
    const bool is_default =
        options.cancel == nullptr && options.timeout_ns == 0 && options.request_id == 0;
    const WithoutGil without;
    status = scopevm_call_run(slot.call, is_default ? nullptr : &options);
  }
  if (status != nullptr && scopevm_status_code(status) == SCOPEVM_CANCELLED &&
      PyErr_CheckSignals() != 0) {
    scopevm_status_free(status);  // Python's handler has raised KeyboardInterrupt
    return false;
  }
  return check(status);
}

PyObject* results_of(SessionObject* session, CallSlot& slot) {
  size_t count = 0;
  const scopevm_tensor* const results = scopevm_call_results(slot.call, &count);
  const size_t expected = session->module->outputs->size();
  if (count != expected) return invalid_argument("the call has no results");
  if (count == 1) return result_of(*session, slot, 0, results);
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; tuple && i < count; ++i) {
    PyObject* const item = result_of(*session, slot, i, results);
    if (item == nullptr || PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), item) != 0)
      return nullptr;
  }
  if (!tuple) return nullptr;
  return PyObject_CallFunctionObjArgs(session->results, tuple.get(), nullptr);
}

PyObject* call_session(PyObject* self, PyObject* args, PyObject* named) {
  return guarded([&]() -> PyObject* {
    auto* const session = reinterpret_cast<SessionObject*>(self);
    std::unique_ptr<CallSlot> slot;
    if (session->idle->empty()) {
      slot = std::make_unique<CallSlot>();
      if (!check(scopevm_call_create(session->session, &slot->call))) return nullptr;
    } else {
      slot.reset(session->idle->back());
      session->idle->pop_back();
    }
    RunArguments arguments;
    Ref results;
    if (bind(session, *slot, args, named, arguments) && run(*slot, arguments))
      results = Ref(results_of(session, *slot));
    // A result of a function that a destructor runs must not replace the error of this call.
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    if (!results) PyErr_Fetch(&type, &value, &trace);
    slot->reset();
    if (!results) PyErr_Restore(type, value, trace);
    session->idle->push_back(slot.get());
    (void)slot.release();
    return results.release();
  });
}

}  // namespace scopevm::python
