#include "davinci/comm/nccl.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "davinci/comm/agree.h"
#include "davinci/gpu/dynamic_library.h"

namespace davinci::comm {
namespace {

// As NCCL's user guide documents its types; their values have not changed since 2.0.
struct UniqueId {
  char bytes[128];
};
using NcclComm = void*;
enum NcclType : int { kNcclUint8 = 1, kNcclFloat32 = 7, kNcclFloat64 = 8 };
constexpr int kNcclSum = 0;
constexpr int kNcclSuccess = 0;

struct Nccl {
  int (*GetUniqueId)(UniqueId*) = nullptr;
  int (*CommInitRank)(NcclComm*, int, UniqueId, int) = nullptr;
  int (*CommAbort)(NcclComm) = nullptr;
  const char* (*GetErrorString)(int) = nullptr;
  int (*AllReduce)(const void*, void*, size_t, int, int, NcclComm, void*) = nullptr;
  int (*ReduceScatter)(const void*, void*, size_t, int, int, NcclComm, void*) = nullptr;
  int (*AllGather)(const void*, void*, size_t, int, NcclComm, void*) = nullptr;
  int (*Broadcast)(const void*, void*, size_t, int, int, NcclComm, void*) = nullptr;

  Status Check(int code, const char* what) const {
    if (code == kNcclSuccess) return Status::Ok();
    return Unavailable(
        fmt::format("{}: {} (NCCL_DEBUG=WARN says more)", what, GetErrorString(code)));
  }
};

Result<Nccl> LoadNccl(const std::string& directory) {
  const std::string names[] = {"libnccl.so.2"};
  std::vector<std::string> directories;
  if (!directory.empty()) directories.push_back(directory);
  const auto library = gpu::DynamicLibrary::Open(names, directories);
  if (!library.ok())
    return FailedPrecondition(
        fmt::format("NCCL does not open ({}); it comes with torch's CUDA wheels and as libnccl2",
                    library.status().message()));
  Nccl nccl;
  bool complete = true;
  const auto bind = [&](auto& to, const char* symbol) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(library->FindSymbol(symbol));
    complete = complete && to != nullptr;
  };
  bind(nccl.GetUniqueId, "ncclGetUniqueId");
  bind(nccl.CommInitRank, "ncclCommInitRank");
  bind(nccl.CommAbort, "ncclCommAbort");
  bind(nccl.GetErrorString, "ncclGetErrorString");
  bind(nccl.AllReduce, "ncclAllReduce");
  bind(nccl.ReduceScatter, "ncclReduceScatter");
  bind(nccl.AllGather, "ncclAllGather");
  bind(nccl.Broadcast, "ncclBroadcast");
  if (!complete) return FailedPrecondition(library->path() + ": NCCL 2.4 or newer is needed");
  return nccl;
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const Nccl& nccl, NcclComm comm, RankGroup* group, void* stream)
      : nccl_(nccl), comm_(comm), group_(group), stream_(stream) {}
  // Not ncclCommDestroy: after a failure of another rank that one may wait for it.
  ~NcclCommunicator() override { nccl_.CommAbort(comm_); }
  int rank() const override { return group_->world().rank; }
  int size() const override { return group_->world().size; }

  Status AllReduce(void* data, int64_t count, Element element) override {
    return nccl_.Check(nccl_.AllReduce(data, data, static_cast<size_t>(count), TypeOf(element),
                                       kNcclSum, comm_, stream_),
                       "ncclAllReduce");
  }
  Status ReduceScatter(const void* from, void* to, int64_t count, Element element) override {
    return nccl_.Check(nccl_.ReduceScatter(from, to, static_cast<size_t>(count), TypeOf(element),
                                           kNcclSum, comm_, stream_),
                       "ncclReduceScatter");
  }
  Status AllGather(const void* from, void* to, int64_t bytes) override {
    return nccl_.Check(
        nccl_.AllGather(from, to, static_cast<size_t>(bytes), kNcclUint8, comm_, stream_),
        "ncclAllGather");
  }
  Status Broadcast(void* data, int64_t bytes, int root) override {
    return nccl_.Check(
        nccl_.Broadcast(data, data, static_cast<size_t>(bytes), kNcclUint8, root, comm_, stream_),
        "ncclBroadcast");
  }
  Status Barrier() override { return group_->Exchange("").status(); }

 private:
  static int TypeOf(Element element) {
    return element == Element::kFloat32 ? kNcclFloat32 : kNcclFloat64;
  }

  const Nccl nccl_;
  const NcclComm comm_;
  RankGroup* const group_;
  void* const stream_;
};

}  // namespace

Result<std::unique_ptr<Communicator>> OpenNccl(RankGroup* group, void* stream,
                                               const std::string& directory) {
  const Result<Nccl> nccl = LoadNccl(directory);
  DAVINCI_RETURN_IF_ERROR(Agree(group, nccl.status()));
  UniqueId id{};
  Status made;
  if (group->world().rank == 0) made = nccl->Check(nccl->GetUniqueId(&id), "ncclGetUniqueId");
  DAVINCI_RETURN_IF_ERROR(Agree(group, made));
  DAVINCI_ASSIGN_OR_RETURN(const auto ids, group->Exchange({id.bytes, sizeof(id.bytes)}));
  if (ids[0].size() != sizeof(id.bytes)) return Internal("the NCCL identifier was cut off");
  std::memcpy(id.bytes, ids[0].data(), sizeof(id.bytes));
  NcclComm comm = nullptr;
  const Status joined = nccl->Check(
      nccl->CommInitRank(&comm, group->world().size, id, group->world().rank), "ncclCommInitRank");
  // The others wait inside that call: they cannot be asked.
  if (!joined.ok()) group->Abort(joined);
  return std::unique_ptr<Communicator>(
      std::make_unique<NcclCommunicator>(*nccl, comm, group, stream));
}

}  // namespace davinci::comm
