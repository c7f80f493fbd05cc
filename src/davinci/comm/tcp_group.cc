#include "davinci/comm/tcp_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "davinci/base/mutex.h"
#include "davinci/comm/nccl.h"
#include "davinci/comm/socket.h"

namespace davinci::comm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kMagic = "davinci-ranks/1";
// Time of one stranger at the port, before the next is heard.
constexpr double kHelloSeconds = 5;
constexpr auto kRetry = std::chrono::milliseconds(100);
// The time that a rank that leaves waits for the others' goodbye.
constexpr double kByeSeconds = 2;

double SecondsUntil(Clock::time_point deadline) {
  return std::chrono::duration<double>(deadline - Clock::now()).count();
}

// The other end of a connection. Of rank 0 there is one for each other rank, of those one.
struct Peer {
  int rank = 0;
  UniqueFd fd;
  Mutex sending;               // one frame at a time
  std::deque<Frame> received;  // guarded by TcpGroup::mutex_
  bool left = false;           // said goodbye; guarded likewise
  bool open = true;            // of the reading thread
};

class TcpGroup final : public RankGroup {
 public:
  TcpGroup(const World& world, TcpOptions options, std::vector<std::unique_ptr<Peer>> peers)
      : world_(world),
        options_(std::move(options)),
        peers_(std::move(peers)),
        wake_(::eventfd(0, EFD_CLOEXEC)),
        reader_([this] { Read(); }) {}
  ~TcpGroup() override {
    for (const auto& peer : peers_) {
      (void)Send(*peer, FrameKind::kBye, "");
      ::shutdown(peer->fd.get(), SHUT_WR);
    }
    {
      MutexLock lock(mutex_);
      changed_.wait_for(
          lock, std::chrono::duration<double>(kByeSeconds), [&]() DAVINCI_REQUIRES(mutex_) {
            return broken_ || std::all_of(peers_.begin(), peers_.end(),
                                          [](const auto& peer) { return peer->left; });
          });
      ending_ = true;
    }
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
    reader_.join();
  }

  const World& world() const override { return world_; }

  Result<std::vector<std::string>> Exchange(std::string_view mine) override {
    std::vector<std::string> texts(static_cast<size_t>(world_.size));
    if (world_.rank != 0) {
      DAVINCI_RETURN_IF_ERROR(Send(*peers_[0], FrameKind::kText, mine));
      DAVINCI_ASSIGN_OR_RETURN(const Frame frame, Wait(*peers_[0]));
      size_t at = 0;
      for (std::string& text : texts) {
        const uint32_t size = GetUint32(frame.text, at);
        text = frame.text.substr(std::min(at + 4, frame.text.size()), size);
        at += 4 + size;
      }
      return texts;
    }
    texts[0] = mine;
    for (const auto& peer : peers_) {
      DAVINCI_ASSIGN_OR_RETURN(Frame frame, Wait(*peer));
      texts[static_cast<size_t>(peer->rank)] = std::move(frame.text);
    }
    std::string all;
    for (const std::string& text : texts) {
      PutUint32(&all, static_cast<uint32_t>(text.size()));
      all += text;
    }
    for (const auto& peer : peers_) DAVINCI_RETURN_IF_ERROR(Send(*peer, FrameKind::kAll, all));
    return texts;
  }

  Result<std::unique_ptr<Communicator>> Open(Memory memory, void* stream) override {
    if (memory == Memory::kHost)
      return FailedPrecondition(
          "on the CPU several ranks need MPI; start with  mpirun -n N davinci …, or train on CUDA "
          "devices");
    return OpenNccl(this, stream);
  }

  [[noreturn]] void Abort(const Status& why) override {
    const int code = ReportAbort(world_, why);
    for (const auto& peer : peers_) (void)Send(*peer, FrameKind::kAbort, "");
    ::_exit(code);
  }

 private:
  static Status Send(Peer& peer, FrameKind kind, std::string_view text) {
    const MutexLock lock(peer.sending);
    return SendFrame(peer.fd.get(), kind, text);
  }

  // The peer's next frame. It comes, or the group breaks.
  Result<Frame> Wait(Peer& peer) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) {
      return !peer.received.empty() || peer.left || broken_;
    });
    if (peer.received.empty()) return Unavailable(fmt::format("rank {} has left", peer.rank));
    Frame frame = std::move(peer.received.front());
    peer.received.pop_front();
    return frame;
  }

  // The reading thread.
  void Read() {
    for (;;) {
      std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
      std::vector<Peer*> of;
      for (const auto& peer : peers_)
        if (peer->open) {
          polled.push_back({peer->fd.get(), POLLIN, 0});
          of.push_back(peer.get());
        }
      if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
      {
        const MutexLock lock(mutex_);
        if (ending_) return;
      }
      for (size_t i = 0; i < of.size(); ++i)
        if (polled[i + 1].revents != 0 && !ReadFrom(*of[i])) return;
    }
  }

  // One frame, or the end of the connection. False: the group is broken.
  bool ReadFrom(Peer& peer) {
    Result<Frame> frame = ReceiveFrame(peer.fd.get(), 0);
    MutexLock lock(mutex_);
    if (!frame.ok()) {
      peer.open = false;
      if (peer.left || ending_) return true;
      lock.unlock();
      // Rank 0 reports a lost rank; a lost rank 0 is reported by rank 1.
      Break(peer.rank,
            world_.rank == 0 || world_.rank == 1
                ? fmt::format("rank {} of {} has ended without a word ({}): all ranks "
                              "end; the same command continues after the newest checkpoint",
                              peer.rank, world_.size, frame.status().message())
                : "");
      return false;
    }
    if (frame->kind == FrameKind::kAbort) {
      lock.unlock();
      Break(peer.rank, "");
      return false;
    }
    if (frame->kind == FrameKind::kBye)
      peer.left = true;
    else
      peer.received.push_back(std::move(frame).value());
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void Break(int because_of, const std::string& message) {
    for (const auto& peer : peers_)
      if (peer->rank != because_of) (void)Send(*peer, FrameKind::kAbort, "");
    if (!options_.on_broken) {
      if (!message.empty()) ::_exit(ReportAbort(world_, Unavailable(message)));
      ::_exit(kAbortExit);
    }
    options_.on_broken(message);
    {
      const MutexLock lock(mutex_);
      broken_ = true;
    }
    changed_.notify_all();
  }

  const World world_;
  const TcpOptions options_;
  const std::vector<std::unique_ptr<Peer>> peers_;
  const UniqueFd wake_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool ending_ DAVINCI_GUARDED_BY(mutex_) = false;
  bool broken_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::thread reader_;
};

std::string Hello(const World& world) {
  std::string text(kMagic);
  PutUint32(&text, static_cast<uint32_t>(world.rank));
  PutUint32(&text, static_cast<uint32_t>(world.size));
  return text;
}

// Rank 0: waits until each other rank has introduced itself.
Result<std::vector<std::unique_ptr<Peer>>> Welcome(const World& world, Clock::time_point deadline) {
  DAVINCI_ASSIGN_OR_RETURN(const UniqueFd listener, Listen(world.master_port));
  std::vector<std::unique_ptr<Peer>> peers(static_cast<size_t>(world.size) - 1);
  for (size_t missing = peers.size(); missing > 0;) {
    pollfd polled{listener.get(), POLLIN, 0};
    const double seconds = SecondsUntil(deadline);
    if (seconds > 0) ::poll(&polled, 1, static_cast<int>(seconds * 1000) + 1);
    if (seconds <= 0) {
      std::vector<size_t> absent;
      for (size_t i = 0; i < peers.size(); ++i)
        if (peers[i] == nullptr) absent.push_back(i + 1);
      return Unavailable(fmt::format(
          "{} of {} ranks did not come to port {} in time (ranks {}); were all started with this "
          "MASTER_ADDR and MASTER_PORT?",
          missing, world.size, world.master_port, fmt::join(absent, ", ")));
    }
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) continue;  // it has gone again, or the time is over
    Tune(fd.get());
    const auto frame = ReceiveFrame(fd.get(), kHelloSeconds);
    if (!frame.ok() || frame->kind != FrameKind::kHello || !frame->text.starts_with(kMagic))
      continue;  // a stranger
    const uint32_t rank = GetUint32(frame->text, kMagic.size());
    const uint32_t size = GetUint32(frame->text, kMagic.size() + 4);
    std::string refused;
    if (size != static_cast<uint32_t>(world.size))
      refused =
          fmt::format("rank 0 was started for {} ranks, rank {} for {}", world.size, rank, size);
    else if (rank == 0 || rank >= size || peers[rank - 1] != nullptr)
      refused = fmt::format("rank {} is there twice", rank);
    if (!refused.empty()) {
      (void)SendFrame(fd.get(), FrameKind::kRefused, refused);
      return InvalidArgument(refused);
    }
    DAVINCI_RETURN_IF_ERROR(SendFrame(fd.get(), FrameKind::kWelcome, ""));
    peers[rank - 1] = std::make_unique<Peer>();
    peers[rank - 1]->rank = static_cast<int>(rank);
    peers[rank - 1]->fd = std::move(fd);
    --missing;
  }
  return peers;
}

// The others: connect until rank 0 listens.
Result<std::vector<std::unique_ptr<Peer>>> Introduce(const World& world,
                                                     Clock::time_point deadline) {
  Status last;
  while (SecondsUntil(deadline) > 0) {
    Result<UniqueFd> fd = Connect(world.master_addr, world.master_port, SecondsUntil(deadline));
    if (fd.ok()) {
      Tune(fd->get());
      last = SendFrame(fd->get(), FrameKind::kHello, Hello(world));
      if (last.ok()) {
        const auto frame = ReceiveFrame(fd->get(), std::max(SecondsUntil(deadline), 0.001));
        if (frame.ok() && frame->kind == FrameKind::kRefused) return InvalidArgument(frame->text);
        if (frame.ok() && frame->kind == FrameKind::kWelcome) {
          std::vector<std::unique_ptr<Peer>> peers;
          peers.push_back(std::make_unique<Peer>());
          peers[0]->fd = std::move(fd).value();
          return peers;
        }
        last = frame.ok() ? Unavailable("it does not speak this protocol") : frame.status();
      }
    } else {
      last = fd.status();
      if (last.code() == StatusCode::kInvalidArgument) return last;
    }
    std::this_thread::sleep_for(kRetry);
  }
  return Unavailable(
      fmt::format("rank 0 did not answer at {}:{} in time ({}); was it started with "
                  "this MASTER_ADDR and MASTER_PORT?",
                  world.master_addr, world.master_port, last.message()));
}

}  // namespace

Result<std::unique_ptr<RankGroup>> JoinTcp(const World& world, TcpOptions options) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(options.join_seconds));
  DAVINCI_ASSIGN_OR_RETURN(auto peers,
                           world.rank == 0 ? Welcome(world, deadline) : Introduce(world, deadline));
  return std::unique_ptr<RankGroup>(
      std::make_unique<TcpGroup>(world, std::move(options), std::move(peers)));
}

}  // namespace davinci::comm
