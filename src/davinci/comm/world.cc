#include "davinci/comm/world.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "davinci/base/number.h"

namespace davinci::comm {
namespace {

constexpr int kMostRanks = 1 << 16;
constexpr int kHighestPort = 65535;

std::optional<int> Number(std::string_view text, int least, int most) {
  const auto value = WholeNumber<int>(text);
  if (!value || *value < least || *value > most) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(const GetEnvironment& get) : get_(get) {}

  bool Has(const char* name) const { return get_(name) != nullptr; }
  std::string Text(const char* name) const { return Has(name) ? get_(name) : ""; }
  // The first problem is kept.
  int Take(const char* name, int least, int most, std::optional<int> otherwise = std::nullopt) {
    if (!Has(name)) {
      if (otherwise) return *otherwise;
      Problem(fmt::format("{} is not set", name));
      return least;
    }
    const auto value = Number(get_(name), least, most);
    if (!value)
      Problem(
          fmt::format("{}=\"{}\": a number in {} … {} is wanted", name, get_(name), least, most));
    return value.value_or(least);
  }
  void Problem(const std::string& what) {
    if (status_.ok())
      status_ = InvalidArgument(fmt::format("{} (environment of a run on several ranks)", what));
  }
  const Status& status() const { return status_; }

 private:
  const GetEnvironment& get_;
  Status status_;
};

}  // namespace

Result<World> WorldFromEnvironment(const GetEnvironment& get) {
  Reader reader(get);
  World world;
  // How the four numbers are called by the one that set them.
  struct Names {
    Launcher launcher;
    const char *rank, *size, *local_rank, *local_size;
  };
  constexpr Names kNames[] = {
      {Launcher::kEnvironment, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
      {Launcher::kMpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {Launcher::kSlurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
       "SLURM_STEP_TASKS_PER_NODE"}};
  for (const Names& names : kNames) {
    // Slurm sets SLURM_PROCID for a batch script too; only srun says how many tasks the step has.
    const bool slurm = names.launcher == Launcher::kSlurm;
    if (!reader.Has(names.size) || (slurm && !reader.Has(names.rank))) continue;
    world.launcher = names.launcher;
    world.size = reader.Take(names.size, 1, kMostRanks);
    world.rank = reader.Take(names.rank, 0, world.size - 1);
    if (slurm) {
      // "4(x2),3": tasks of each node in turn. Where nodes differ, the first count stands for all.
      const std::string counts = reader.Text(names.local_size);
      world.local_size =
          Number(std::string_view(counts).substr(0, counts.find_first_of("(,")), 1, world.size)
              .value_or(1);
    } else {
      world.local_size = reader.Take(names.local_size, 1, world.size, 1);
    }
    world.local_rank =
        reader.Take(names.local_rank, 0, kMostRanks, world.size == 1 ? 0 : world.rank);
    break;
  }
  if (world.launcher == Launcher::kEnvironment && reader.Has("OMPI_COMM_WORLD_SIZE") &&
      !reader.Has("TORCHELASTIC_RUN_ID") &&
      reader.Take("OMPI_COMM_WORLD_SIZE", 1, kMostRanks) != world.size)
    reader.Problem(
        fmt::format("mpirun started {} ranks, but WORLD_SIZE={}; unset RANK and WORLD_SIZE",
                    reader.Text("OMPI_COMM_WORLD_SIZE"), world.size));
  if (world.size > 1) {
    world.master_addr = reader.Text("MASTER_ADDR");
    world.master_port = reader.Take("MASTER_PORT", 1, kHighestPort, 0);
    if (reader.Text("TORCHELASTIC_USE_AGENT_STORE") == "True" && world.master_port > 0)
      world.master_port += world.master_port < kHighestPort ? 1 : -1;
  }
  DAVINCI_RETURN_IF_ERROR(reader.status());
  return world;
}

}  // namespace davinci::comm
