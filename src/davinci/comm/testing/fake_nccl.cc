// libnccl.so.2 for tests: ranks are threads of one process, buffers lie in host memory, and a call
// returns when it is done. Types and operations have the numbers that NCCL documents; others fail,
// and with FAKE_NCCL_FAILS in the environment there is no identifier.
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct UniqueId {
  char bytes[128];
};

struct Ranks {
  explicit Ranks(int size) : meet(size), from(static_cast<size_t>(size)) {}
  std::barrier<> meet;
  std::vector<const char*> from;
};

struct Comm {
  std::shared_ptr<Ranks> ranks;
  size_t rank = 0;
};

std::mutex mutex;
std::map<std::string, std::shared_ptr<Ranks>> known;

constexpr int kInvalidArgument = 4;
constexpr int kUint8 = 1, kFloat32 = 7, kFloat64 = 8, kSum = 0;

template <typename T>
void Sum(const Ranks& ranks, size_t begin, size_t count, void* to) {
  std::vector<T> sum(count, T{0});
  for (const char* from : ranks.from)
    for (size_t i = 0; i < count; ++i) sum[i] += reinterpret_cast<const T*>(from)[begin + i];
  std::memcpy(to, sum.data(), count * sizeof(T));
}

int Reduce(const void* from, void* to, size_t begin, size_t count, int type, int operation,
           Comm* comm) {
  if (operation != kSum || (type != kFloat32 && type != kFloat64)) return kInvalidArgument;
  Ranks& ranks = *comm->ranks;
  std::vector<char> result(count * sizeof(double));
  ranks.from[comm->rank] = static_cast<const char*>(from);
  ranks.meet.arrive_and_wait();
  if (type == kFloat32)
    Sum<float>(ranks, begin, count, result.data());
  else
    Sum<double>(ranks, begin, count, result.data());
  ranks.meet.arrive_and_wait();
  std::memcpy(to, result.data(), count * (type == kFloat32 ? sizeof(float) : sizeof(double)));
  return 0;
}

}  // namespace

extern "C" {

int ncclGetUniqueId(UniqueId* id) {
  if (std::getenv("FAKE_NCCL_FAILS") != nullptr) return kInvalidArgument;
  static int count = 0;
  // No zero in it, and different at its end: cut short it fits no other.
  std::memset(id->bytes, 'x', sizeof(id->bytes));
  id->bytes[127] = static_cast<char>(++count);
  return 0;
}

int ncclCommInitRank(void** comm, int size, UniqueId id, int rank) {
  if (rank < 0 || rank >= size) return kInvalidArgument;
  auto made = std::make_unique<Comm>();
  {
    const std::lock_guard lock(mutex);
    auto& ranks = known[std::string(id.bytes, sizeof(id.bytes))];
    if (ranks == nullptr) ranks = std::make_shared<Ranks>(size);
    made->ranks = ranks;
  }
  made->rank = static_cast<size_t>(rank);
  made->ranks->meet.arrive_and_wait();
  *comm = made.release();
  return 0;
}

int ncclCommAbort(void* comm) {
  delete static_cast<Comm*>(comm);
  return 0;
}

const char* ncclGetErrorString(int) { return "invalid argument"; }

int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, void* comm,
                  void*) {
  return Reduce(from, to, 0, count, type, operation, static_cast<Comm*>(comm));
}

int ncclReduceScatter(const void* from, void* to, size_t count, int type, int operation, void* comm,
                      void*) {
  auto* own = static_cast<Comm*>(comm);
  return Reduce(from, to, own->rank * count, count, type, operation, own);
}

int ncclAllGather(const void* from, void* to, size_t count, int type, void* comm, void*) {
  auto* own = static_cast<Comm*>(comm);
  if (type != kUint8) return kInvalidArgument;
  Ranks& ranks = *own->ranks;
  ranks.from[own->rank] = static_cast<const char*>(from);
  ranks.meet.arrive_and_wait();
  std::vector<char> gathered;
  for (const char* part : ranks.from) gathered.insert(gathered.end(), part, part + count);
  ranks.meet.arrive_and_wait();  // `to` may hold what others read
  std::memcpy(to, gathered.data(), gathered.size());
  return 0;
}

int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, void* comm, void*) {
  auto* own = static_cast<Comm*>(comm);
  if (type != kUint8) return kInvalidArgument;
  Ranks& ranks = *own->ranks;
  ranks.from[own->rank] = static_cast<const char*>(from);
  ranks.meet.arrive_and_wait();
  const char* const sent = ranks.from[static_cast<size_t>(root)];
  const std::vector<char> received(sent, sent + count);
  ranks.meet.arrive_and_wait();  // `to` may be what others read
  std::memcpy(to, received.data(), count);
  return 0;
}

}  // extern "C"
