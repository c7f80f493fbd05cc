// Status and Result<T>: how our own failures travel.
//
// A Status is for failures of davinci itself (a missing file, a dead worker, a full disk). A
// candidate that is wrong is not a failure: it is a value (data/evaluation.h). Nothing here throws,
// and no exception crosses a module boundary.
//
// Every non-OK Status carries a message that names the thing that failed and, where one is known,
// the remedy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace davinci {

enum class StatusCode {
  kOk,
  kInvalidArgument,     // the caller's input is wrong; the message says what to change
  kNotFound,            // a named file, program or record does not exist
  kPermissionDenied,    // the operating system refused
  kResourceExhausted,   // disk, memory, processes or file descriptors ran out
  kDeadlineExceeded,    // our own deadline passed
  kUnavailable,         // a peer (worker, device) is gone or not ready; retrying may help
  kFailedPrecondition,  // something must be installed or set up first
  kCancelled,           // the user or the owner asked us to stop
  kInternal,            // a bug or a broken invariant
};

std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status Ok() { return {}; }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // "not found: tasks/x.py: no such file"
  std::string ToString() const;
  // The same failure seen one level up: "reading jobs.jsonl: <message>".
  Status Annotate(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// Shorthands; `message` should name the object and the remedy.
Status InvalidArgument(std::string message);
Status NotFound(std::string message);
Status PermissionDenied(std::string message);
Status ResourceExhausted(std::string message);
Status DeadlineExceeded(std::string message);
Status Unavailable(std::string message);
Status FailedPrecondition(std::string message);
Status Cancelled(std::string message);
Status Internal(std::string message);
// Maps errno to a code; the message is "<what>: <strerror>".
Status FromErrno(int error, std::string_view what);

// Either a T or a non-OK Status. Accessing value() of a failure is a programming error and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status::Ok() : std::get<1>(state_); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace davinci

#define DAVINCI_CONCAT_INNER_(a, b) a##b
#define DAVINCI_CONCAT_(a, b) DAVINCI_CONCAT_INNER_(a, b)

// Returns the enclosing function's Status/Result early when `expr` (a Status) failed.
#define DAVINCI_RETURN_IF_ERROR(expr)                                                              \
  do {                                                                                             \
    if (::davinci::Status davinci_status_ = (expr); !davinci_status_.ok()) return davinci_status_; \
  } while (false)

// DAVINCI_ASSIGN_OR_RETURN(auto text, ReadFile(path));
#define DAVINCI_ASSIGN_OR_RETURN(lhs, expr) \
  DAVINCI_ASSIGN_OR_RETURN_IMPL_(DAVINCI_CONCAT_(davinci_result_, __LINE__), lhs, expr)
#define DAVINCI_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return tmp.status();                  \
  lhs = std::move(tmp).value()
