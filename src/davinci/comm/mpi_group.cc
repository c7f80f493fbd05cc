#include "davinci/comm/mpi_group.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "davinci/base/clock.h"
#include "davinci/comm/nccl.h"
#include "davinci/gpu/dynamic_library.h"

namespace davinci::comm {
namespace {

// Open MPI: handles are addresses of the library's own objects.
using Handle = void*;
void* const kInPlace = reinterpret_cast<void*>(1);
constexpr int kSuccess = 0;
constexpr int kThreadFunneled = 1;  // of several threads only the one that joined calls MPI
constexpr int kErrorTextBytes = 256;
constexpr double kBusySeconds = 0.002;  // of waiting, before a rank pauses between looks
constexpr int kPauseMicroseconds = 1000;

struct Mpi {
  int (*Init)(int*, char***, int, int*) = nullptr;
  int (*Finalize)() = nullptr;
  int (*Abort)(Handle, int) = nullptr;
  int (*CommRank)(Handle, int*) = nullptr;
  int (*CommSize)(Handle, int*) = nullptr;
  int (*SetErrhandler)(Handle, Handle) = nullptr;
  int (*ErrorString)(int, char*, int*) = nullptr;
  int (*AllReduce)(const void*, void*, int, Handle, Handle, Handle) = nullptr;
  int (*ReduceScatterBlock)(const void*, void*, int, Handle, Handle, Handle) = nullptr;
  int (*AllGather)(const void*, int, Handle, void*, int, Handle, Handle) = nullptr;
  int (*BeginAllGather)(const void*, int, Handle, void*, int, Handle, Handle, Handle*) = nullptr;
  int (*Test)(Handle*, int*, void*) = nullptr;
  int (*Broadcast)(void*, int, Handle, int, Handle) = nullptr;
  int (*Barrier)(Handle) = nullptr;
  Handle world, float32, float64, byte, sum, errors_return;

  // What a call returned, as a Status.
  Status Check(int code, const char* what) const {
    if (code == kSuccess) return Status::Ok();
    char text[kErrorTextBytes] = "";
    int size = 0;
    ErrorString(code, text, &size);
    return Unavailable(fmt::format("{}: {}", what, text));
  }
};

Result<Mpi> LoadMpi() {
  const std::string names[] = {"libmpi.so.40"};
  // Its plug-ins look for its symbols in the global scope.
  const auto library = gpu::DynamicLibrary::Open(names, {}, gpu::DynamicLibrary::Scope::kGlobal);
  if (!library.ok())
    return FailedPrecondition(fmt::format(
        "several ranks were started, but Open MPI's library does not open ({}); install "
        "openmpi-bin, or start with torchrun",
        library.status().message()));
  Mpi mpi;
  bool complete = true;
  const auto bind = [&](auto& to, const char* symbol) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(library->FindSymbol(symbol));
    complete = complete && to != nullptr;
  };
  bind(mpi.Init, "MPI_Init_thread");
  bind(mpi.Finalize, "MPI_Finalize");
  bind(mpi.Abort, "MPI_Abort");
  bind(mpi.CommRank, "MPI_Comm_rank");
  bind(mpi.CommSize, "MPI_Comm_size");
  bind(mpi.SetErrhandler, "MPI_Comm_set_errhandler");
  bind(mpi.ErrorString, "MPI_Error_string");
  bind(mpi.AllReduce, "MPI_Allreduce");
  bind(mpi.ReduceScatterBlock, "MPI_Reduce_scatter_block");
  bind(mpi.AllGather, "MPI_Allgather");
  bind(mpi.BeginAllGather, "MPI_Iallgather");
  bind(mpi.Test, "MPI_Test");
  bind(mpi.Broadcast, "MPI_Bcast");
  bind(mpi.Barrier, "MPI_Barrier");
  bind(mpi.world, "ompi_mpi_comm_world");
  bind(mpi.float32, "ompi_mpi_float");
  bind(mpi.float64, "ompi_mpi_double");
  bind(mpi.byte, "ompi_mpi_byte");
  bind(mpi.sum, "ompi_mpi_op_sum");
  bind(mpi.errors_return, "ompi_mpi_errors_return");
  if (!complete) return FailedPrecondition(library->path() + " is not Open MPI's");
  return mpi;
}

Status Fits(int64_t count) {
  if (count <= std::numeric_limits<int>::max()) return Status::Ok();
  return InvalidArgument(fmt::format("a tensor of {} elements is too large for MPI", count));
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(const Mpi& mpi, const World& world) : mpi_(mpi), world_(world) {}
  int rank() const override { return world_.rank; }
  int size() const override { return world_.size; }

  Status AllReduce(void* data, int64_t count, Element element) override {
    DAVINCI_RETURN_IF_ERROR(Fits(count));
    return mpi_.Check(mpi_.AllReduce(kInPlace, data, static_cast<int>(count), TypeOf(element),
                                     mpi_.sum, mpi_.world),
                      "MPI_Allreduce");
  }
  Status ReduceScatter(const void* from, void* to, int64_t count, Element element) override {
    DAVINCI_RETURN_IF_ERROR(Fits(count));
    return mpi_.Check(mpi_.ReduceScatterBlock(from, to, static_cast<int>(count), TypeOf(element),
                                              mpi_.sum, mpi_.world),
                      "MPI_Reduce_scatter_block");
  }
  Status AllGather(const void* from, void* to, int64_t bytes) override {
    const Units units = UnitsOf(bytes);
    DAVINCI_RETURN_IF_ERROR(Fits(units.count));
    const bool in_place = from == static_cast<char*>(to) + world_.rank * bytes;
    const int count = static_cast<int>(units.count);
    return mpi_.Check(mpi_.AllGather(in_place ? kInPlace : from, count, units.type, to, count,
                                     units.type, mpi_.world),
                      "MPI_Allgather");
  }
  Status Broadcast(void* data, int64_t bytes, int root) override {
    const Units units = UnitsOf(bytes);
    DAVINCI_RETURN_IF_ERROR(Fits(units.count));
    return mpi_.Check(
        mpi_.Broadcast(data, static_cast<int>(units.count), units.type, root, mpi_.world),
        "MPI_Bcast");
  }
  Status Barrier() override { return mpi_.Check(mpi_.Barrier(mpi_.world), "MPI_Barrier"); }

 private:
  struct Units {
    Handle type;
    int64_t count;
  };
  // The widest that divides `bytes`: counts are ints.
  Units UnitsOf(int64_t bytes) const {
    if (bytes % 8 == 0) return {mpi_.float64, bytes / 8};
    if (bytes % 4 == 0) return {mpi_.float32, bytes / 4};
    return {mpi_.byte, bytes};
  }
  Handle TypeOf(Element element) const {
    return element == Element::kFloat32 ? mpi_.float32 : mpi_.float64;
  }

  const Mpi mpi_;
  const World world_;
};

class MpiGroup final : public RankGroup {
 public:
  MpiGroup(const Mpi& mpi, const World& world) : mpi_(mpi), world_(world), host_(mpi, world) {}
  ~MpiGroup() override { mpi_.Finalize(); }
  const World& world() const override { return world_; }

  Result<std::vector<std::string>> Exchange(std::string_view mine) override {
    const auto ranks = static_cast<size_t>(world_.size);
    std::vector<double> sizes(ranks);
    sizes[static_cast<size_t>(world_.rank)] = static_cast<double>(mine.size());
    DAVINCI_RETURN_IF_ERROR(GatherInPlace(sizes.data()));
    // All of the longest's size.
    const auto longest = static_cast<size_t>(*std::max_element(sizes.begin(), sizes.end()));
    std::vector<std::string> texts(ranks);
    if (longest == 0) return texts;
    std::string from(mine);
    from.resize(longest);
    std::string all(longest * ranks, '\0');
    DAVINCI_RETURN_IF_ERROR(
        host_.AllGather(from.data(), all.data(), static_cast<int64_t>(longest)));
    for (size_t rank = 0; rank < ranks; ++rank)
      texts[rank] = all.substr(rank * longest, static_cast<size_t>(sizes[rank]));
    return texts;
  }

  Result<std::unique_ptr<Communicator>> Open(Memory memory, void* stream) override {
    if (memory == Memory::kCuda) return OpenNccl(this, stream);
    return std::unique_ptr<Communicator>(std::make_unique<MpiCommunicator>(mpi_, world_));
  }

  [[noreturn]] void Abort(const Status& why) override {
    const int code = ReportAbort(world_, why);
    mpi_.Abort(mpi_.world, code);
    ::_exit(code);
  }

 private:
  // One number of each rank. MPI's own waiting keeps a core busy; here ranks may come minutes
  // apart, while another one samples and judges.
  Status GatherInPlace(double* all) {
    Handle request = nullptr;
    DAVINCI_RETURN_IF_ERROR(mpi_.Check(
        mpi_.BeginAllGather(kInPlace, 1, mpi_.float64, all, 1, mpi_.float64, mpi_.world, &request),
        "MPI_Iallgather"));
    const Stopwatch watch;
    for (int done = 0;;) {
      DAVINCI_RETURN_IF_ERROR(mpi_.Check(mpi_.Test(&request, &done, nullptr), "MPI_Test"));
      if (done != 0) return Status::Ok();
      if (watch.Seconds() > kBusySeconds) ::usleep(kPauseMicroseconds);
    }
  }

  const Mpi mpi_;
  const World world_;
  MpiCommunicator host_;
};

}  // namespace

Result<std::unique_ptr<RankGroup>> JoinMpi(const World& world) {
  DAVINCI_ASSIGN_OR_RETURN(const Mpi mpi, LoadMpi());
  int provided = 0;
  if (mpi.Init(nullptr, nullptr, kThreadFunneled, &provided) != kSuccess)
    return FailedPrecondition("MPI_Init failed");
  DAVINCI_RETURN_IF_ERROR(
      mpi.Check(mpi.SetErrhandler(mpi.world, mpi.errors_return), "MPI_Comm_set_errhandler"));
  auto group = std::make_unique<MpiGroup>(mpi, world);
  int rank = -1;
  int size = -1;
  DAVINCI_RETURN_IF_ERROR(mpi.Check(mpi.CommRank(mpi.world, &rank), "MPI_Comm_rank"));
  DAVINCI_RETURN_IF_ERROR(mpi.Check(mpi.CommSize(mpi.world, &size), "MPI_Comm_size"));
  if (rank != world.rank || size != world.size)
    return FailedPrecondition(fmt::format(
        "MPI says rank {} of {}, the launcher said rank {} of {}: this libmpi does not know the "
        "launcher; start with mpirun of the same Open MPI, srun --mpi=pmix, or set MASTER_ADDR and "
        "MASTER_PORT to meet through TCP",
        rank, size, world.rank, world.size));
  return std::unique_ptr<RankGroup>(std::move(group));
}

}  // namespace davinci::comm
