// The support object: compiled once per torch version against the real LibTorch and linked into
// every extension built with the compat headers. It is the only translation unit that sees both
// sides of the boundary, so it also proves, by static_assert, that the compat types have the layout
// of the real ones.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/contiguous.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/item.h>
#include <Python.h>
#include <c10/core/Scalar.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <new>
#include <sstream>

// The Python objects' own headers, slow as they are: the layout of a torch.Tensor has changed
// between versions.
#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/autograd/python_variable.h>

static_assert(sizeof(at::Tensor) == sizeof(void*) && alignof(at::Tensor) == alignof(void*));
static_assert(!std::is_trivially_copyable_v<at::Tensor>);
static_assert(sizeof(c10::Scalar) == 32 && alignof(c10::Scalar) == 16);
static_assert(!std::is_trivially_copyable_v<c10::Scalar>);
static_assert(sizeof(c10::SymInt) == 8 && !std::is_trivially_copyable_v<c10::SymInt>);
static_assert(sizeof(c10::IntArrayRef) == 16 && std::is_trivially_copyable_v<c10::IntArrayRef>);
static_assert(sizeof(c10::OptionalIntArrayRef) == 24);
static_assert(std::is_trivially_copyable_v<c10::OptionalIntArrayRef>);
static_assert(sizeof(c10::Device) == 2 && std::is_trivially_copyable_v<c10::Device>);
static_assert(sizeof(c10::ScalarType) == 1 && sizeof(c10::Layout) == 1 &&
              sizeof(c10::MemoryFormat) == 1);
static_assert(sizeof(c10::Stream) == 16 && std::is_trivially_copyable_v<c10::Stream>);
static_assert(static_cast<int>(c10::kByte) == 0 && static_cast<int>(c10::kChar) == 1);
static_assert(static_cast<int>(c10::kShort) == 2 && static_cast<int>(c10::kInt) == 3);
static_assert(static_cast<int>(c10::kLong) == 4 && static_cast<int>(c10::kHalf) == 5);
static_assert(static_cast<int>(c10::kFloat) == 6 && static_cast<int>(c10::kDouble) == 7);
static_assert(static_cast<int>(c10::kComplexFloat) == 9 &&
              static_cast<int>(c10::kComplexDouble) == 10);
static_assert(static_cast<int>(c10::kBool) == 11 && static_cast<int>(c10::kBFloat16) == 15);
static_assert(static_cast<int>(c10::ScalarType::QInt8) == 12 &&
              static_cast<int>(c10::ScalarType::QInt32) == 14);
static_assert(static_cast<int>(c10::ScalarType::Float8_e5m2) == 23);
static_assert(static_cast<int>(c10::ScalarType::Float8_e4m3fn) == 24);
static_assert(static_cast<int>(c10::ScalarType::UInt16) == 27 &&
              static_cast<int>(c10::ScalarType::UInt64) == 29);
static_assert(static_cast<int>(c10::kCPU) == 0 && static_cast<int>(c10::kCUDA) == 1);
static_assert(static_cast<int>(c10::DeviceType::Meta) == 14 && static_cast<int>(c10::kXPU) == 12);
static_assert(static_cast<int>(c10::kStrided) == 0 && static_cast<int>(c10::kSparse) == 1);
static_assert(static_cast<int>(c10::MemoryFormat::Contiguous) == 0);
static_assert(static_cast<int>(c10::MemoryFormat::Preserve) == 1);
static_assert(static_cast<int>(c10::MemoryFormat::ChannelsLast) == 2);
static_assert(static_cast<int>(c10::MemoryFormat::ChannelsLast3d) == 3);

namespace {
using Owned = c10::intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>;

at::TensorImpl* Impl(void* impl) { return static_cast<at::TensorImpl*>(impl); }
// The tensor the caller lends; the caller keeps its reference.
at::Tensor Borrow(void* impl) {
  return at::Tensor(Owned::unsafe_reclaim_from_nonowning(Impl(impl)));
}
void* Release(at::Tensor&& t) { return t.unsafeReleaseTensorImpl(); }
const c10::Scalar& AsScalar(const void* storage) {
  return *static_cast<const c10::Scalar*>(storage);
}
}  // namespace

extern "C" {

enum DavinciErrorKind {
  kDavinciError,
  kDavinciIndex,
  kDavinciValue,
  kDavinciType,
  kDavinciNotImplemented,
  kDavinciLinAlg
};

[[noreturn]] void davinci_throw(DavinciErrorKind kind, const char* function, const char* file,
                                unsigned line, const char* message) {
  const c10::SourceLocation where{function, file, line};
  switch (kind) {
    case kDavinciIndex:
      throw c10::IndexError(where, message);
    case kDavinciValue:
      throw c10::ValueError(where, message);
    case kDavinciType:
      throw c10::TypeError(where, message);
    case kDavinciNotImplemented:
      throw c10::NotImplementedError(where, message);
    case kDavinciLinAlg:
      throw c10::LinAlgError(where, message);
    case kDavinciError:
      break;
  }
  throw c10::Error(where, message);
}
void davinci_warn(const char* function, const char* file, unsigned line, const char* message) {
  c10::warn(
      c10::Warning(c10::UserWarning(), c10::SourceLocation{function, file, line}, message, false));
}
void davinci_parse_device(const char* text, int8_t* type, int8_t* index) {
  const c10::Device device{std::string(text)};
  *type = static_cast<int8_t>(device.type());
  *index = device.index();
}
void davinci_format_double(double value, char* buffer, size_t size) {
  std::ostringstream out;
  out << value;
  std::snprintf(buffer, size, "%s", out.str().c_str());
}
int8_t davinci_default_dtype() {
  return static_cast<int8_t>(c10::get_default_dtype_as_scalartype());
}

void davinci_scalar_double(void* s, double v) { new (s) c10::Scalar(v); }
void davinci_scalar_int(void* s, int64_t v) { new (s) c10::Scalar(v); }
void davinci_scalar_bool(void* s, bool v) { new (s) c10::Scalar(v); }
void davinci_scalar_copy(void* s, const void* from) { new (s) c10::Scalar(AsScalar(from)); }
void davinci_scalar_destroy(void* s) { static_cast<c10::Scalar*>(s)->~Scalar(); }
double davinci_scalar_to_double(const void* s) { return AsScalar(s).toDouble(); }
int64_t davinci_scalar_to_int(const void* s) { return AsScalar(s).toLong(); }
bool davinci_scalar_to_bool(const void* s) { return AsScalar(s).toBool(); }
int davinci_scalar_category(const void* s) {
  const c10::Scalar& v = AsScalar(s);
  return v.isBoolean() ? 0 : v.isIntegral(false) ? 1 : v.isFloatingPoint() ? 2 : 3;
}

void* davinci_undefined() { return c10::UndefinedTensorImpl::singleton(); }
void davinci_incref(void* impl) {
  if (impl != davinci_undefined()) c10::raw::intrusive_ptr::incref(Impl(impl));
}
void davinci_decref(void* impl) {
  if (impl != davinci_undefined()) c10::raw::intrusive_ptr::decref(Impl(impl));
}
size_t davinci_use_count(void* impl) { return c10::raw::intrusive_ptr::use_count(Impl(impl)); }
int64_t davinci_dim(void* impl) { return Impl(impl)->dim(); }
int64_t davinci_numel(void* impl) { return Impl(impl)->numel(); }
const int64_t* davinci_sizes(void* impl, size_t* dim) {
  const auto v = Impl(impl)->sizes();
  *dim = v.size();
  return v.data();
}
const int64_t* davinci_strides(void* impl, size_t* dim) {
  const auto v = Impl(impl)->strides();
  *dim = v.size();
  return v.data();
}
int64_t davinci_size(void* impl, int64_t dim) { return Impl(impl)->size(dim); }
int64_t davinci_stride(void* impl, int64_t dim) { return Borrow(impl).stride(dim); }
int64_t davinci_storage_offset(void* impl) { return Impl(impl)->storage_offset(); }
int8_t davinci_scalar_type(void* impl) {
  return static_cast<int8_t>(c10::typeMetaToScalarType(Impl(impl)->dtype()));
}
size_t davinci_itemsize(void* impl) { return Impl(impl)->itemsize(); }
int8_t davinci_layout(void* impl) { return static_cast<int8_t>(Impl(impl)->layout()); }
void davinci_device(void* impl, int8_t* type, int8_t* index) {
  const c10::Device device = Impl(impl)->device();
  *type = static_cast<int8_t>(device.type());
  *index = device.index();
}
bool davinci_is_contiguous(void* impl, int8_t f) {
  return Impl(impl)->is_contiguous(static_cast<c10::MemoryFormat>(f));
}
bool davinci_is_non_overlapping_and_dense(void* impl) {
  return Impl(impl)->is_non_overlapping_and_dense();
}
int8_t davinci_suggest_memory_format(void* impl) {
  return static_cast<int8_t>(Borrow(impl).suggest_memory_format());
}
void* davinci_data(void* impl) { return Impl(impl)->mutable_data(); }
const void* davinci_const_data(void* impl) { return Impl(impl)->data(); }
void* davinci_typed_data(void* impl, int8_t scalar_type) {
  const auto wanted = static_cast<c10::ScalarType>(scalar_type);
  const auto actual = c10::typeMetaToScalarType(Impl(impl)->dtype());
  TORCH_CHECK(actual == wanted, "expected scalar type ", wanted, " but found ", actual);
  return Impl(impl)->mutable_data();
}
bool davinci_requires_grad(void* impl) { return Impl(impl)->requires_grad(); }
void davinci_set_requires_grad(void* impl, bool value) { Impl(impl)->set_requires_grad(value); }
double davinci_item_double(void* impl) { return Borrow(impl).item().toDouble(); }
int64_t davinci_item_int(void* impl) { return Borrow(impl).item().toLong(); }
void* davinci_contiguous(void* impl, int8_t f) {
  return Release(Borrow(impl).contiguous(static_cast<c10::MemoryFormat>(f)));
}
void* davinci_cat(void* const* impls, size_t count, int64_t dim) {
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < count; ++i) tensors.push_back(Borrow(impls[i]));
  return Release(at::cat(tensors, dim));
}
void* davinci_from_blob(void* data, const int64_t* sizes, size_t dim, const int64_t* strides,
                        void (*deleter)(void*, void*), void* context, int8_t dtype, bool has_device,
                        int8_t device_type, int8_t device_index) {
  c10::TensorOptions options = c10::TensorOptions().dtype(static_cast<c10::ScalarType>(dtype));
  if (has_device) {
    options = options.device(c10::Device(static_cast<c10::DeviceType>(device_type), device_index));
  }
  at::TensorMaker maker = at::for_blob(data, c10::IntArrayRef(sizes, dim));
  if (strides) maker.strides(c10::IntArrayRef(strides, dim));
  if (deleter) maker.deleter([deleter, context](void* p) { deleter(context, p); });
  return Release(maker.options(options).make_tensor());
}

void* davinci_py_tensor(PyObject* object) {
  if (!THPVariable_CheckExact(object)) {
    const int is_tensor = PyObject_IsInstance(object, THPVariableClass);
    if (is_tensor < 0) PyErr_Clear();
    if (is_tensor <= 0) return nullptr;
  }
  return THPVariable_Unpack(object).unsafeGetTensorImpl();
}
PyObject* davinci_py_wrap_tensor(void* impl) { return THPVariable_Wrap(Borrow(impl)); }
bool davinci_py_dtype(PyObject* object, int8_t* out) {
  if (Py_TYPE(object) != &THPDtypeType) return false;
  *out = static_cast<int8_t>(reinterpret_cast<THPDtype*>(object)->scalar_type);
  return true;
}
PyObject* davinci_py_wrap_dtype(int8_t dtype) {
  PyObject* object =
      reinterpret_cast<PyObject*>(torch::getTHPDtype(static_cast<c10::ScalarType>(dtype)));
  Py_XINCREF(object);
  return object;
}
bool davinci_py_device(PyObject* object, int8_t* type, int8_t* index) {
  c10::Device device(c10::kCPU);
  if (Py_TYPE(object) == &THPDeviceType) {
    device = reinterpret_cast<THPDevice*>(object)->device;
  } else if (PyUnicode_Check(object)) {
    try {
      device = c10::Device(std::string(PyUnicode_AsUTF8(object)));
    } catch (const std::exception&) {
      return false;
    }
  } else {
    return false;
  }
  *type = static_cast<int8_t>(device.type());
  *index = device.index();
  return true;
}
void davinci_py_translate() {
  try {
    throw;
  } catch (const c10::IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what_without_backtrace());
  } catch (const c10::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what_without_backtrace());
  } catch (const c10::TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what_without_backtrace());
  } catch (const c10::NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what_without_backtrace());
  } catch (const c10::Error& e) {
    // torch.OutOfMemoryError and friends are RuntimeErrors too; their text is kept.
    PyErr_SetString(PyExc_RuntimeError, e.what_without_backtrace());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::out_of_range& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const std::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the extension threw something that is not a std::exception");
  }
}

}  // extern "C"
