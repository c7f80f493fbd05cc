// Views and vectors of c10: ArrayRef, SmallVector, OptionalArrayRef, symbolic integers as plain
// ones.
#pragma once

#include <davinci_torch/scalar_types.h>

namespace c10 {

// A view of contiguous elements; owns nothing.
template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;

  constexpr ArrayRef() : Data(nullptr), Length(0) {}
  constexpr ArrayRef(const T& one) : Data(&one), Length(1) {}
  constexpr ArrayRef(const T* data, size_t length) : Data(data), Length(length) {}
  constexpr ArrayRef(const T* begin, const T* end) : Data(begin), Length(end - begin) {}
  // Any contiguous container whose data() is const T*: std::vector, std::array, SmallVector,
  // another view.
  template <
      typename C,
      typename = std::enable_if_t<
          (std::is_same_v<std::remove_const_t<decltype(std::declval<C>().data())>, T*> ||
           std::is_same_v<std::remove_const_t<decltype(std::declval<C>().data())>, const T*>)&&std::
              is_convertible_v<decltype(std::declval<C>().size()), size_t>>>
  ArrayRef(const C& container) : Data(container.data()), Length(container.size()) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : Data(array), Length(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : Data(list.begin() == list.end() ? static_cast<const T*>(nullptr) : list.begin()),
        Length(list.size()) {}

  constexpr iterator begin() const { return Data; }
  constexpr iterator end() const { return Data + Length; }
  constexpr const T* cbegin() const { return Data; }
  constexpr const T* cend() const { return Data + Length; }
  constexpr bool empty() const { return Length == 0; }
  constexpr const T* data() const { return Data; }
  constexpr size_t size() const { return Length; }
  constexpr const T& operator[](size_t i) const { return Data[i]; }
  const T& at(size_t i) const;
  const T& front() const { return at(0); }
  const T& back() const { return at(Length - 1); }
  constexpr ArrayRef slice(size_t n, size_t m) const { return ArrayRef(Data + n, m); }
  constexpr ArrayRef slice(size_t n) const { return slice(n, Length - n); }
  std::vector<T> vec() const { return std::vector<T>(Data, Data + Length); }
  constexpr bool equals(ArrayRef other) const {
    if (Length != other.Length) return false;
    for (size_t i = 0; i < Length; ++i) {
      if (!(Data[i] == other.Data[i])) return false;
    }
    return true;
  }

 protected:
  const T* Data;
  size_t Length;
};
template <typename T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <typename T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <typename T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(ArrayRef<T>(b));
}

using IntArrayRef = ArrayRef<int64_t>;

// LibTorch's inline-storage vector, as a plain one: it appears in local variables only.
template <typename T, unsigned N = 8>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
};

template <typename T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() noexcept = default;
  constexpr OptionalArrayRef(std::nullopt_t) noexcept {}
  OptionalArrayRef(const OptionalArrayRef&) = default;
  OptionalArrayRef(OptionalArrayRef&&) noexcept = default;
  OptionalArrayRef& operator=(const OptionalArrayRef&) = default;
  OptionalArrayRef& operator=(OptionalArrayRef&&) noexcept = default;
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& other) noexcept : wrapped_(other) {}
  constexpr OptionalArrayRef(const T& one) noexcept : wrapped_(ArrayRef<T>(one)) {}
  template <typename U,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<U>, OptionalArrayRef> &&
                                        std::is_convertible_v<U&&, ArrayRef<T>> &&
                                        !std::is_convertible_v<U&&, T>>>
  constexpr OptionalArrayRef(U&& value) noexcept : wrapped_(ArrayRef<T>(std::forward<U>(value))) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) noexcept
      : wrapped_(ArrayRef<T>(list)) {}
  constexpr bool has_value() const noexcept { return wrapped_.has_value(); }
  constexpr explicit operator bool() const noexcept { return wrapped_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return wrapped_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *wrapped_; }
  constexpr const ArrayRef<T>* operator->() const { return &*wrapped_; }

 private:
  std::optional<ArrayRef<T>> wrapped_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

// Symbolic integers appear only as plain values here: the compat set never traces.
class SymInt {
 public:
  SymInt() : data_(0) {}
  SymInt(int64_t value) : data_(value) {}
  SymInt(const SymInt& o) : data_(o.data_) {}
  SymInt& operator=(const SymInt& o) {
    data_ = o.data_;
    return *this;
  }
  ~SymInt() {}

 private:
  int64_t data_;
};
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;
inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef a) {
  return SymIntArrayRef(reinterpret_cast<const SymInt*>(a.data()), a.size());
}

}  // namespace c10
