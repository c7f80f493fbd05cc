// The only source of libdavinci_worker.so of its own; everything else comes from the archives in
// CMakeLists.txt.

// Changes whenever the signature or meaning of an exported dv_* function does; the Python side
// compares it on loading.
extern "C" __attribute__((visibility("default"))) int dv_worker_abi_version() { return 1; }
