// The parts of a run on several ranks that need no second process and no device. MPI itself is
// tested by tests/trainer/dist_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "davinci/base/test_environment.h"
#include "davinci/comm/agree.h"
#include "davinci/comm/join.h"
#include "davinci/comm/nccl.h"
#include "davinci/comm/socket.h"
#include "davinci/comm/tcp_group.h"
#include "davinci/comm/world.h"

namespace davinci::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<World> Read(const std::map<std::string, std::string>& variables) {
  return WorldFromEnvironment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(WorldFromEnvironment, IsOneProcessWhereNothingIsSet) {
  const auto world = Read({{"MASTER_PORT", "29500"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});
  ASSERT_TRUE(world.ok());
  EXPECT_EQ(world->launcher, Launcher::kNone);
  EXPECT_EQ(world->size, 1);
}

TEST(WorldFromEnvironment, ReadsTorchrun) {
  std::map<std::string, std::string> variables = {{"RANK", "5"},        {"WORLD_SIZE", "8"},
                                                  {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "4"},
                                                  {"MASTER_ADDR", "n"}, {"MASTER_PORT", "29500"}};
  auto world = Read(variables);
  ASSERT_TRUE(world.ok()) << world.status().ToString();
  EXPECT_EQ(world->launcher, Launcher::kEnvironment);
  EXPECT_EQ(std::vector({world->rank, world->size, world->local_rank, world->local_size}),
            std::vector({5, 8, 1, 4}));
  EXPECT_EQ(world->master_addr, "n");
  EXPECT_EQ(world->master_port, 29500);
  // torchrun's own store has the port.
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(Read(variables)->master_port, 29501);
  // Below torchrun mpirun started one process a machine; it is torchrun's ranks that count.
  variables["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_THAT(Read(variables).status().message(), HasSubstr("unset RANK and WORLD_SIZE"));
  variables["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(Read(variables)->size, 8);
}

TEST(WorldFromEnvironment, ReadsMpirunAndSrun) {
  const auto mpi = Read({{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(mpi.ok());
  EXPECT_EQ(mpi->launcher, Launcher::kMpirun);
  EXPECT_EQ(mpi->local_size, 2);
  const auto slurm = Read({{"SLURM_PROCID", "6"},
                           {"SLURM_STEP_NUM_TASKS", "7"},
                           {"SLURM_LOCALID", "2"},
                           {"SLURM_STEP_TASKS_PER_NODE", "4,3"}});
  ASSERT_TRUE(slurm.ok());
  EXPECT_EQ(slurm->launcher, Launcher::kSlurm);
  EXPECT_EQ(std::vector({slurm->rank, slurm->size, slurm->local_rank, slurm->local_size}),
            std::vector({6, 7, 2, 4}));
}

TEST(WorldFromEnvironment, NamesTheVariableThatIsWrong) {
  EXPECT_THAT(Read({{"WORLD_SIZE", "2"}}).status().message(), HasSubstr("RANK is not set"));
  EXPECT_THAT(Read({{"WORLD_SIZE", "2"}, {"RANK", "2"}}).status().message(),
              HasSubstr("RANK=\"2\""));
  EXPECT_THAT(Read({{"WORLD_SIZE", "two"}, {"RANK", "0"}}).status().message(),
              HasSubstr("\"two\""));
  EXPECT_THAT(
      Read({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "70000"}}).status().message(),
      HasSubstr("MASTER_PORT"));
}

TEST(Join, AsksForAnAddressBeforeItWaits) {
  World world{.launcher = Launcher::kEnvironment, .rank = 0, .size = 2};
  EXPECT_THAT(Join(world).status().message(), HasSubstr("MASTER_ADDR and MASTER_PORT"));
  EXPECT_EQ(*Join(World{}), nullptr);
}

int FreePort() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  if (fd.get() < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

World WorldOf(int rank, int size, int port) {
  return {.launcher = Launcher::kEnvironment,
          .rank = rank,
          .size = size,
          .local_rank = rank,
          .local_size = size,
          .master_addr = "127.0.0.1",
          .master_port = port};
}

// Runs `work` as each rank in a thread of its own.
void AsRanks(int size, const std::function<void(RankGroup&)>& work,
             const TcpOptions& options = {}) {
  const int port = FreePort();
  std::vector<std::jthread> threads;
  for (int rank = size - 1; rank >= 0; --rank)
    threads.emplace_back([=] {
      auto group = JoinTcp(WorldOf(rank, size, port), options);
      ASSERT_TRUE(group.ok()) << group.status().ToString();
      work(**group);
    });
}

TEST(TcpGroup, EveryRankGetsWhatAllSaid) {
  AsRanks(3, [](RankGroup& group) {
    for (int round = 0; round < 100; ++round) {
      const std::string mine(static_cast<size_t>(group.world().rank * round), 'x');
      const auto all = group.Exchange(mine);
      ASSERT_TRUE(all.ok()) << all.status().ToString();
      EXPECT_EQ((*all)[0].size(), 0U);
      EXPECT_EQ((*all)[2].size(), static_cast<size_t>(2 * round));
    }
  });
}

TEST(TcpGroup, AgreesOnTheFirstFailure) {
  AsRanks(3, [](RankGroup& group) {
    EXPECT_TRUE(Agree(&group, Status::Ok()).ok());
    const Status agreed =
        Agree(&group, group.world().rank == 0 ? Status::Ok() : NotFound("no such file: x"));
    EXPECT_EQ(agreed.code(), StatusCode::kNotFound);
    EXPECT_EQ(agreed.message(), "rank 1: no such file: x");
  });
}

TEST(TcpGroup, OnTheCpuItNamesMpirun) {
  AsRanks(2, [](RankGroup& group) {
    EXPECT_THAT(group.Open(Memory::kHost, nullptr).status().message(), HasSubstr("mpirun"));
  });
}

Result<UniqueFd> ConnectOnceItListens(int port) {
  Result<UniqueFd> fd = Connect("127.0.0.1", port, 10);
  for (int tries = 0; tries < 200 && !fd.ok(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fd = Connect("127.0.0.1", port, 10);
  }
  return fd;
}

// Introduces itself as a rank does, and closes the connection once it is welcome.
Status ConnectAs(int rank, int size, int port) {
  DAVINCI_ASSIGN_OR_RETURN(const UniqueFd fd, ConnectOnceItListens(port));
  std::string hello = "davinci-ranks/1";
  PutUint32(&hello, static_cast<uint32_t>(rank));
  PutUint32(&hello, static_cast<uint32_t>(size));
  DAVINCI_RETURN_IF_ERROR(SendFrame(fd.get(), FrameKind::kHello, hello));
  DAVINCI_ASSIGN_OR_RETURN(const Frame answer, ReceiveFrame(fd.get(), 20));
  return answer.kind == FrameKind::kWelcome ? Status::Ok() : Internal("not welcome");
}

// A rank whose connection closes without a goodbye has died: every other one is woken.
TEST(TcpGroup, ADeadRankBreaksTheGroup) {
  const int port = FreePort();
  std::atomic<int> broken = 0;
  std::string reported;  // by rank 0 alone
  {
    std::vector<std::jthread> threads;
    for (const int rank : {0, 1})
      threads.emplace_back([&, rank] {
        auto group =
            JoinTcp(WorldOf(rank, 3, port), {.on_broken = [&, rank](const std::string& message) {
                      ++broken;
                      if (rank == 0) reported = message;
                      if (rank == 1) {
                        EXPECT_EQ(message, "");
                      }
                    }});
        ASSERT_TRUE(group.ok()) << group.status().ToString();
        EXPECT_EQ((*group)->Exchange("").status().code(), StatusCode::kUnavailable);
      });
    std::jthread dies([&] { EXPECT_TRUE(ConnectAs(2, 3, port).ok()); });
  }
  EXPECT_EQ(broken, 2);
  EXPECT_THAT(reported, HasSubstr("rank 2 of 3"));
}

// What happens where nothing else is asked for: the process ends, and says why.
TEST(TcpGroupDeathTest, ADeadRankEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const int port = FreePort();
        std::jthread dies([&] { (void)ConnectAs(1, 2, port); });
        const auto group = JoinTcp(WorldOf(0, 2, port), {});
        (void)(*group)->Exchange("");
      },
      testing::ExitedWithCode(kAbortExit), "davinci: rank 0: .*rank 1 of 2 has ended");
}

TEST(TcpGroup, WaitsForABoundedTime) {
  const int port = FreePort();
  const auto alone = JoinTcp(WorldOf(0, 3, port), {.join_seconds = 0.2});
  EXPECT_THAT(alone.status().message(), HasSubstr("ranks 1, 2"));
  EXPECT_EQ(alone.status().code(), StatusCode::kUnavailable);
  const auto unanswered = JoinTcp(WorldOf(1, 2, port), {.join_seconds = 0.2});
  EXPECT_THAT(unanswered.status().message(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  World lost = WorldOf(1, 2, port);
  lost.master_addr = "no such host";
  EXPECT_EQ(JoinTcp(lost, {.join_seconds = 5}).status().code(), StatusCode::kInvalidArgument);
}

TEST(TcpGroup, RefusesRanksOfAnotherRunAndIgnoresStrangers) {
  const int port = FreePort();
  std::jthread first([&] {
    EXPECT_THAT(JoinTcp(WorldOf(0, 2, port), {.join_seconds = 20}).status().message(),
                HasSubstr("for 2 ranks, rank 1 for 3"));
  });
  for (int i = 0; i < 2; ++i) {
    const auto stranger = ConnectOnceItListens(port);
    ASSERT_TRUE(stranger.ok());
    const std::string words = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_GT(::send(stranger->get(), words.data(), words.size(), MSG_NOSIGNAL), 0);
  }
  const auto other = JoinTcp(WorldOf(1, 3, port), {.join_seconds = 20});
  EXPECT_THAT(other.status().message(), HasSubstr("for 2 ranks, rank 1 for 3"));
}

TEST(TcpGroup, APortInUseIsSaid) {
  const int port = FreePort();
  const auto taken = Listen(port);
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT(JoinTcp(WorldOf(0, 2, port), {.join_seconds = 5}).status().message(),
              HasSubstr("set another MASTER_PORT"));
}

TEST(Nccl, SumsScattersGathersAndBroadcasts) {
  AsRanks(3, [](RankGroup& group) {
    auto opened = OpenNccl(&group, nullptr, DAVINCI_FAKE_NCCL);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    Communicator& ranks = **opened;
    const auto rank = static_cast<float>(ranks.rank());
    EXPECT_EQ(ranks.size(), 3);
    double sums[] = {rank, 1};
    ASSERT_TRUE(ranks.AllReduce(sums, 2, Element::kFloat64).ok());
    EXPECT_THAT(sums, ElementsAre(3, 3));
    const float parts[] = {1, 2, 3, 4, 5, 6 + rank};
    float part[2];
    ASSERT_TRUE(ranks.ReduceScatter(parts, part, 2, Element::kFloat32).ok());
    EXPECT_EQ(part[1], ranks.rank() == 2 ? 21 : 3 * parts[2 * ranks.rank() + 1]);
    float all[3] = {};
    all[ranks.rank()] = 10 + rank;
    ASSERT_TRUE(ranks.AllGather(&all[ranks.rank()], all, sizeof(float)).ok());
    EXPECT_THAT(all, ElementsAre(10, 11, 12));
    float word = rank;
    ASSERT_TRUE(ranks.Broadcast(&word, sizeof(word), 2).ok());
    EXPECT_EQ(word, 2);
    EXPECT_TRUE(ranks.Barrier().ok());
  });
}

TEST(Nccl, AFailureOfRankZeroIsAnErrorOnEveryRank) {
  TestEnvironment environment;
  environment.Set("FAKE_NCCL_FAILS", "1");
  AsRanks(2, [](RankGroup& group) {
    const auto opened = OpenNccl(&group, nullptr, DAVINCI_FAKE_NCCL);
    EXPECT_THAT(opened.status().message(), HasSubstr("ncclGetUniqueId: invalid argument"));
  });
}

}  // namespace
}  // namespace davinci::comm
