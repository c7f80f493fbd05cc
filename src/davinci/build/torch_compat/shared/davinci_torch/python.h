// Python bindings without pybind11: enough of its surface for PYBIND11_MODULE blocks that define
// functions.
//
// A binding is a PyCFunction over a heap-allocated signature; arguments are converted by small
// overloads and a call that matches no overload raises the TypeError pybind11 users know.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifndef DAVINCI_REAL_TENSOR
#include <davinci_torch/tensor.h>
namespace davinci_torch {
inline void* ImplOf(const at::Tensor& t) { return t.davinci_impl(); }
inline at::Tensor Borrow(void* impl) {
  davinci_incref(impl);
  return at::Tensor::davinci_adopt(impl);
}
}  // namespace davinci_torch
#endif

extern "C" {
// A borrowed TensorImpl* of a torch.Tensor, or null when the object is not one.
void* davinci_py_tensor(PyObject* object);
// A new reference; None is never returned.
PyObject* davinci_py_wrap_tensor(void* impl);
bool davinci_py_dtype(PyObject* object, int8_t* out);
PyObject* davinci_py_wrap_dtype(int8_t dtype);
bool davinci_py_device(PyObject* object, int8_t* type, int8_t* index);
// Must be called inside a catch block: turns the exception in flight into the Python exception
// torch would raise.
void davinci_py_translate();
}

namespace pybind11 {

struct none {};

struct arg_v;
struct arg {
  constexpr explicit arg(const char* n) : name(n) {}
  template <typename T>
  arg_v operator=(T&& value) const;
  const char* name;
};

namespace davinci {

template <typename T, typename = void>
struct Convert;  // Load(PyObject*, T&) -> bool, never leaves a Python error set; Store(value) ->
                 // new reference

template <typename T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

inline bool Fail() {
  PyErr_Clear();
  return false;
}

template <>
struct Convert<at::Tensor> {
  static bool Load(PyObject* o, at::Tensor& out) {
    void* impl = davinci_py_tensor(o);
    if (!impl) return false;
    out = davinci_torch::Borrow(impl);
    return true;
  }
  static PyObject* Store(const at::Tensor& t) {
    return davinci_py_wrap_tensor(davinci_torch::ImplOf(t));
  }
};
// Whether a value of another kind may be converted (an int where a double or a bool is wanted): as
// in pybind11, not before every overload was asked whether it takes the arguments as they are.
// Read and written under the interpreter's lock.
inline bool converting = true;
template <>
struct Convert<bool> {
  static bool Load(PyObject* o, bool& out) {
    if (o == Py_True || o == Py_False) {
      out = o == Py_True;
      return true;
    }
    if (!converting) return false;
    if (o == Py_None) {
      out = false;
      return true;
    }
    if (!Py_TYPE(o)->tp_as_number || !Py_TYPE(o)->tp_as_number->nb_bool) return false;
    const int truth = PyObject_IsTrue(o);
    if (truth < 0) return Fail();
    out = truth == 1;
    return true;
  }
  static PyObject* Store(bool v) { return PyBool_FromLong(v); }
};
template <typename T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static bool Load(PyObject* o, T& out) {
    if (PyFloat_Check(o) || !(PyLong_Check(o) || PyIndex_Check(o))) return false;
    PyObject* index = PyNumber_Index(o);
    if (!index) return Fail();
    if constexpr (std::is_unsigned_v<T>) {
      const unsigned long long v = PyLong_AsUnsignedLongLong(index);
      Py_DECREF(index);
      if (v == static_cast<unsigned long long>(-1) && PyErr_Occurred()) return Fail();
      out = static_cast<T>(v);
      return static_cast<unsigned long long>(out) == v;
    } else {
      const long long v = PyLong_AsLongLong(index);
      Py_DECREF(index);
      if (v == -1 && PyErr_Occurred()) return Fail();
      out = static_cast<T>(v);
      return static_cast<long long>(out) == v;
    }
  }
  static PyObject* Store(T v) {
    if constexpr (std::is_unsigned_v<T>)
      return PyLong_FromUnsignedLongLong(v);
    else
      return PyLong_FromLongLong(v);
  }
};
template <typename T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static bool Load(PyObject* o, T& out) {
    if (!converting && !PyFloat_Check(o)) return false;
    const double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) return Fail();
    out = static_cast<T>(v);
    return true;
  }
  static PyObject* Store(T v) { return PyFloat_FromDouble(static_cast<double>(v)); }
};
template <>
struct Convert<std::string> {
  static bool Load(PyObject* o, std::string& out) {
    Py_ssize_t n = 0;
    const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &n) : nullptr;
    if (!text) return Fail();
    out.assign(text, static_cast<size_t>(n));
    return true;
  }
  static PyObject* Store(const std::string& v) {
    return PyUnicode_FromStringAndSize(v.data(), static_cast<Py_ssize_t>(v.size()));
  }
};
template <>
struct Convert<at::Scalar> {
  static bool Load(PyObject* o, at::Scalar& out) {
    if (PyBool_Check(o)) {
      out = at::Scalar(o == Py_True);
    } else if (PyLong_Check(o)) {
      int64_t v = 0;
      if (!Convert<int64_t>::Load(o, v)) return false;
      out = at::Scalar(v);
    } else if (PyFloat_Check(o)) {
      out = at::Scalar(PyFloat_AS_DOUBLE(o));
    } else {
      return false;
    }
    return true;
  }
  static PyObject* Store(const at::Scalar& v) {
    if (v.isBoolean()) return PyBool_FromLong(v.toBool());
    if (v.isFloatingPoint()) return PyFloat_FromDouble(v.toDouble());
    return PyLong_FromLongLong(v.toLong());
  }
};
template <>
struct Convert<at::ScalarType> {
  static bool Load(PyObject* o, at::ScalarType& out) {
    int8_t v = 0;
    if (!davinci_py_dtype(o, &v)) return false;
    out = static_cast<at::ScalarType>(v);
    return true;
  }
  static PyObject* Store(at::ScalarType v) { return davinci_py_wrap_dtype(static_cast<int8_t>(v)); }
};
template <typename T>
struct Convert<std::optional<T>> {
  static bool Load(PyObject* o, std::optional<T>& out) {
    if (o == Py_None) {
      out = std::nullopt;
      return true;
    }
    out.emplace();
    return Convert<T>::Load(o, *out);
  }
  static PyObject* Store(const std::optional<T>& v) {
    if (v) return Convert<T>::Store(*v);
    Py_RETURN_NONE;
  }
};
template <typename T>
struct Convert<std::vector<T>> {
  static bool Load(PyObject* o, std::vector<T>& out) {
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || davinci_py_tensor(o))
      return false;
    if (!PySequence_Check(o) && !(converting && PyIter_Check(o))) return false;  // or a generator
    PyObject* fast = PySequence_Fast(o, "");
    if (!fast) return Fail();
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < n; ++i) {
      T value{};
      ok = Convert<T>::Load(PySequence_Fast_GET_ITEM(fast, i), value);
      if (ok) out.push_back(std::move(value));
    }
    Py_DECREF(fast);
    return ok;
  }
  static PyObject* Store(const std::vector<T>& v) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(v.size()));
    for (size_t i = 0; list && i < v.size(); ++i) {
      PyObject* item = Convert<T>::Store(v[i]);
      if (!item) {
        Py_DECREF(list);
        return nullptr;
      }
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), item);
    }
    return list;
  }
};
template <typename Tuple, size_t... I>
PyObject* StoreTuple(const Tuple& v, std::index_sequence<I...>) {
  PyObject* items[] = {Convert<Plain<std::tuple_element_t<I, Tuple>>>::Store(std::get<I>(v))...};
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(sizeof...(I)));
  for (size_t i = 0; i < sizeof...(I); ++i) {
    if (!items[i] || !tuple) return nullptr;
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), items[i]);
  }
  return tuple;
}
template <typename... T>
struct Convert<std::tuple<T...>> {
  static PyObject* Store(const std::tuple<T...>& v) {
    return StoreTuple(v, std::index_sequence_for<T...>{});
  }
};
template <typename A, typename B>
struct Convert<std::pair<A, B>> {
  static PyObject* Store(const std::pair<A, B>& v) {
    return StoreTuple(v, std::index_sequence<0, 1>{});
  }
};

// Where an argument lives between conversion and call: by value, except views, which keep what they
// look at.
template <typename T>
struct Slot {
  T value{};
  bool Load(PyObject* o) { return Convert<T>::Load(o, value); }
  T& Get() { return value; }
};
template <>
struct Slot<at::Tensor> {
  at::Tensor value;
  bool Load(PyObject* o) { return Convert<at::Tensor>::Load(o, value); }
  at::Tensor& Get() { return value; }
};
template <typename T>
struct Slot<at::ArrayRef<T>> {
  std::vector<T> held;
  at::ArrayRef<T> value;
  bool Load(PyObject* o) {
    if (!Convert<std::vector<T>>::Load(o, held)) return false;
    value = at::ArrayRef<T>(held);
    return true;
  }
  at::ArrayRef<T>& Get() { return value; }
};
template <>
struct Slot<at::Device> {
  at::Device value{at::kCPU};
  bool Load(PyObject* o) {
    int8_t type = 0, index = -1;
    if (!davinci_py_device(o, &type, &index)) return false;
    value = at::Device(static_cast<at::DeviceType>(type), index);
    return true;
  }
  at::Device& Get() { return value; }
};

struct Function {
  std::string name, doc;
  std::vector<std::string> parameter_names;  // empty when py::arg was not used
  std::vector<PyObject*> defaults;           // parallel; null = required
  size_t arity = 0;
  virtual ~Function() = default;
  // A new reference, or null with a Python error set, or null without one when the arguments do not
  // match.
  virtual PyObject* Call(PyObject* const* args) = 0;
  Function* next = nullptr;  // the overload defined after this one
  PyMethodDef method{};
};

template <typename F>
struct Traits : Traits<decltype(&F::operator())> {};
template <typename R, typename... A>
struct Traits<R (*)(A...)> {
  using Return = R;
  using Slots = std::tuple<Slot<Plain<A>>...>;
  using Indices = std::index_sequence_for<A...>;
  template <size_t I>
  using Argument = std::tuple_element_t<I, std::tuple<A...>>;
};
template <typename R, typename... A>
struct Traits<R (*)(A...) noexcept> : Traits<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Traits<R (C::*)(A...) const> : Traits<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Traits<R (C::*)(A...)> : Traits<R (*)(A...)> {};

template <typename F>
struct Bound final : Function {
  F function;
  explicit Bound(F f) : function(std::move(f)) {
    arity = std::tuple_size_v<typename Traits<F>::Slots>;
  }
  PyObject* Call(PyObject* const* args) override {
    return Invoke(args, typename Traits<F>::Indices{});
  }
  template <size_t... I>
  PyObject* Invoke([[maybe_unused]] PyObject* const* args, std::index_sequence<I...>) {
    using R = typename Traits<F>::Return;
    [[maybe_unused]] typename Traits<F>::Slots slots;
    if (!(std::get<I>(slots).Load(args[I]) && ...)) return nullptr;
    try {
      if constexpr (std::is_void_v<R>) {
        function(
            static_cast<typename Traits<F>::template Argument<I>>(std::get<I>(slots).Get())...);
        Py_RETURN_NONE;
      } else {
        return Convert<Plain<R>>::Store(function(
            static_cast<typename Traits<F>::template Argument<I>>(std::get<I>(slots).Get())...));
      }
    } catch (...) {
      davinci_py_translate();
      return nullptr;
    }
  }
};

inline PyObject* Dispatch(PyObject* capsule, PyObject* args, PyObject* kwargs) {
  auto* first = static_cast<Function*>(PyCapsule_GetPointer(capsule, nullptr));
  if (!first) return nullptr;
  const size_t given = static_cast<size_t>(PyTuple_GET_SIZE(args));
  const bool outer = converting;
  struct Restore {
    bool value;
    ~Restore() { converting = value; }
  } restore{outer};
  for (int pass = first->next ? 0 : 1; pass < 2; ++pass)
    for (Function* f = first; f; f = f->next) {
      converting = pass == 1;
      if (given > f->arity) continue;
      std::vector<PyObject*> values(f->arity + 1, nullptr);
      for (size_t i = 0; i < given; ++i)
        values[i] = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
      Py_ssize_t used = 0;
      bool complete = true;
      for (size_t i = given; i < f->arity && complete; ++i) {
        if (i < f->parameter_names.size()) {
          if (kwargs) values[i] = PyDict_GetItemString(kwargs, f->parameter_names[i].c_str());
          if (values[i])
            ++used;
          else
            values[i] = f->defaults[i];
        }
        complete = values[i] != nullptr;
      }
      if (!complete || (kwargs && PyDict_Size(kwargs) != used)) continue;
      PyObject* result = f->Call(values.data());
      if (result || PyErr_Occurred()) return result;
    }
  std::string kinds;
  for (size_t i = 0; i < given; ++i) {
    if (i) kinds += ", ";
    kinds += Py_TYPE(PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)))->tp_name;
  }
  std::string expected = std::to_string(first->arity);
  PyErr_Format(PyExc_TypeError,
               "%s(): incompatible function arguments. The function takes %s argument(s); "
               "invoked with types: %s",
               first->name.c_str(), expected.c_str(), kinds.c_str());
  return nullptr;
}

template <typename F>
using Stored = std::conditional_t<std::is_function_v<std::remove_pointer_t<std::decay_t<F>>>,
                                  std::decay_t<F>, std::decay_t<F>>;

}  // namespace davinci

struct arg_v {
  const char* name;
  PyObject* value;  // owned for the life of the module
};
template <typename T>
arg_v arg::operator=(T&& value) const {
  using V = std::decay_t<T>;
  if constexpr (std::is_same_v<V, std::nullopt_t> || std::is_same_v<V, std::nullptr_t> ||
                std::is_same_v<V, none>) {
    Py_INCREF(Py_None);
    return {name, Py_None};
  } else if constexpr (std::is_convertible_v<V, const char*>) {
    return {name, davinci::Convert<std::string>::Store(std::string(value))};
  } else {
    return {name, davinci::Convert<V>::Store(value)};
  }
}
namespace literals {
constexpr arg operator"" _a(const char* text, size_t) { return arg(text); }
}  // namespace literals

class gil_scoped_release {
 public:
  gil_scoped_release() : state_(PyEval_SaveThread()) {}
  ~gil_scoped_release() { PyEval_RestoreThread(state_); }
  gil_scoped_release(const gil_scoped_release&) = delete;

 private:
  PyThreadState* state_;
};
template <typename T>
struct call_guard {};

class module_ {
 public:
  explicit module_(PyObject* m) : module_object_(m) {}
  PyObject* ptr() const { return module_object_; }

  struct Doc {
    PyObject* module_object;
    Doc& operator=(const char* text) {
      PyModule_SetDocString(module_object, text);
      return *this;
    }
  };
  Doc doc() { return Doc{module_object_}; }

  template <typename F, typename... Extra>
  module_& def(const char* name, F&& f, const Extra&... extra) {
    using S = davinci::Stored<F>;
    auto* bound = new davinci::Bound<S>(S(std::forward<F>(f)));  // lives as long as the process
    bound->name = name;
    (Apply(*bound, extra), ...);
    bound->defaults.resize(bound->parameter_names.size(), nullptr);
    if (PyObject* existing = PyObject_HasAttrString(module_object_, name)
                                 ? PyObject_GetAttrString(module_object_, name)
                                 : nullptr) {
      if (PyCFunction_Check(existing)) {
        auto* head = static_cast<davinci::Function*>(
            PyCapsule_GetPointer(PyCFunction_GET_SELF(existing), nullptr));
        while (head && head->next) head = head->next;
        if (head) head->next = bound;
      }
      Py_DECREF(existing);
      return *this;
    }
    bound->method.ml_name = bound->name.c_str();
    bound->method.ml_meth =
        reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&davinci::Dispatch));
    bound->method.ml_flags = METH_VARARGS | METH_KEYWORDS;
    bound->method.ml_doc = bound->doc.c_str();
    PyObject* capsule = PyCapsule_New(static_cast<davinci::Function*>(bound), nullptr, nullptr);
    PyObject* function = PyCFunction_New(&bound->method, capsule);
    Py_XDECREF(capsule);
    PyModule_AddObject(module_object_, name, function);
    return *this;
  }

 private:
  static void Apply(davinci::Function& f, const char* text) { f.doc = text; }
  static void Apply(davinci::Function& f, const std::string& text) { f.doc = text; }
  static void Apply(davinci::Function& f, const arg& a) {
    f.parameter_names.push_back(a.name);
    f.defaults.push_back(nullptr);
  }
  static void Apply(davinci::Function& f, const arg_v& a) {
    f.parameter_names.push_back(a.name);
    f.defaults.push_back(a.value);
  }

  PyObject* module_object_;
};

}  // namespace pybind11
namespace py = pybind11;

namespace torch {
template <typename F>
auto wrap_pybind_function(F&& f) {
  return std::decay_t<F>(std::forward<F>(f));
}
}  // namespace torch

#define DAVINCI_STRINGIFY_INNER(x) #x
#define DAVINCI_STRINGIFY(x) DAVINCI_STRINGIFY_INNER(x)
#define DAVINCI_JOIN_INNER(a, b) a##b
#define DAVINCI_JOIN(a, b) DAVINCI_JOIN_INNER(a, b)
#define PYBIND11_MODULE(name, variable, ...)                                                  \
  static void DAVINCI_JOIN(davinci_init_, name)(::pybind11::module_&);                        \
  extern "C" __attribute__((visibility("default"))) PyObject* DAVINCI_JOIN(PyInit_, name)() { \
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT,                                   \
                                     DAVINCI_STRINGIFY(name),                                 \
                                     nullptr,                                                 \
                                     -1,                                                      \
                                     nullptr,                                                 \
                                     nullptr,                                                 \
                                     nullptr,                                                 \
                                     nullptr,                                                 \
                                     nullptr};                                                \
    PyObject* object = PyModule_Create(&definition);                                          \
    if (!object) return nullptr;                                                              \
    ::pybind11::module_ module(object);                                                       \
    try {                                                                                     \
      DAVINCI_JOIN(davinci_init_, name)(module);                                              \
    } catch (...) {                                                                           \
      davinci_py_translate();                                                                 \
      Py_DECREF(object);                                                                      \
      return nullptr;                                                                         \
    }                                                                                         \
    return object;                                                                            \
  }                                                                                           \
  void DAVINCI_JOIN(davinci_init_, name)(::pybind11::module_ & variable)
