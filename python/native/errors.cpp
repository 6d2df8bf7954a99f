// Statuses of the C API as Python exceptions, whose classes are in ../scopevm/_errors.py.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

// Text of the library, which can contain any bytes of a file.
Ref text(const char* bytes) {
  return Ref(PyUnicode_DecodeUTF8(
      bytes, static_cast<Py_ssize_t>(std::char_traits<char>::length(bytes)), "replace"));
}

void set_error(int code, const char* message, const scopevm_error_fields& fields) {
  const Ref words = text(message);
  const Ref subject = text(fields.subject);
  const Ref expected = text(fields.expected);
  const Ref given = text(fields.given);
  if (!words || !subject || !expected || !given) return;
  const Ref error(PyObject_CallFunction(hooks().make_error, "iOOiOO", code, words.get(),
                                        subject.get(), fields.axis, expected.get(), given.get()));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

}  // namespace

bool check(scopevm_status* status) {
  if (status == nullptr) return true;
  scopevm_error_fields fields = {sizeof fields, "", -1, "", ""};
  if (scopevm_status_fields(status, &fields) == 0) fields = {sizeof fields, "", -1, "", ""};
  set_error(scopevm_status_code(status), scopevm_status_message(status), fields);
  scopevm_status_free(status);
  return false;
}

PyObject* invalid_argument(const std::string& message, const char* subject) {
  set_error(SCOPEVM_INVALID_ARGUMENT, message.c_str(),
            {sizeof(scopevm_error_fields), subject == nullptr ? "" : subject, -1, "", ""});
  return nullptr;
}

const char* text_of(PyObject* object) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr || std::char_traits<char>::length(text) == static_cast<size_t>(size))
    return text;
  PyErr_SetString(PyExc_ValueError, "a name contains a NUL");
  return nullptr;
}

}  // namespace scopevm::python
