// C ABI of the sandbox for the Python worker (libdavinci_worker.so, loaded with ctypes). Order of
// calls:
//
//   fork server
//     └ fork: intermediate   dv_sandbox_unshare(spec)
//         └ fork: child      pid 1 of its namespace: dv_sandbox_enter(spec), load the candidate,
//                            dv_sandbox_lock(), run it
//
// `spec_json` is a Policy with an optional member "limits" (policy.h, SpecFromText), the same text
// in both calls. Every function returns 0, or -1 with a message of at most err_len - 1 bytes in
// `err` (always terminated when err_len > 0); after -1 the process must exit without running
// untrusted code. Each may be called once per process, while it has one thread (lock: any number of
// threads). The state between the calls is inherited through fork. No exception leaves a function.
//
// The child is pid 1 of its namespace, so signals that it sends to itself are
// ignored unless it handles them (as it does SIGABRT: abort() ends in exit code 134), orphans
// become its children, and when it ends the kernel kills everything in the namespace. Descriptors
// that are open when it enters stay usable; close directories before.
#pragma once

#include <stddef.h>

#define DV_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Moves the intermediate process into new namespaces as far as the kernel allows (none if the
// policy says so).
DV_EXPORT int dv_sandbox_unshare(const char* spec_json, char* err, size_t err_len);

// Confines the child. `report_json` receives the active layers (layers.h, ToJson(ActiveLayers)); a
// report that does not fit is an error (4096 bytes are ample). Also works without
// dv_sandbox_unshare; the report then lists the missing layers.
DV_EXPORT int dv_sandbox_enter(const char* spec_json, char* err, size_t err_len, char* report_json,
                               size_t report_len);

// No new process, no exec, no signal to others from here on, for all threads. `report_json`
// receives {"locked": true, "immutable": ...}. The caller's word is worth nothing: the supervisor
// reads for itself what /proc says (worker/process.h; in tests ReadSeccompState()).
DV_EXPORT int dv_sandbox_lock(char* err, size_t err_len, char* report_json, size_t report_len);

#ifdef __cplusplus
}
#endif
