#include "davinci/judge/transcribed_process.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "davinci/base/hash.h"
#include "davinci/base/utf8.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kFrameHead = 4;  // bytes: its length

std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::string BytesOf(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Text that may hold any bytes.
json AnyText(const std::string& text) {
  if (ValidUtf8(text) == text) return text;
  return {{"hex", HexOf(text)}};
}

std::string TextFrom(const json& text) {
  return text.is_string() ? text.get<std::string>() : BytesOf(text.at("hex").get<std::string>());
}

// Descriptors that came with a message, for whom only their number matters.
std::vector<UniqueFd> Descriptors(size_t count) {
  std::vector<UniqueFd> fds;
  for (size_t i = 0; i < count; ++i) fds.emplace_back(open("/dev/null", O_RDWR | O_CLOEXEC));
  return fds;
}

template <typename T>
json ResultJson(const Result<T>& result, const std::function<json(const T&)>& value) {
  return result.ok() ? json{{"value", value(*result)}}
                     : json{{"status", StatusJson(result.status())}};
}

json ReplyJson(const worker::Process::Reply& reply) {
  json shown = {{"ok", reply.ok}};
  if (reply.failed()) shown["error"] = reply.error;
  if (!reply.fds.empty()) shown["fds"] = reply.fds.size();
  return shown;
}

json MessageJson(const worker::Message& message) {
  json shown = {{"body", message.body}};
  if (!message.done.empty()) shown["done"] = HexOf(message.done);
  if (!message.fds.empty()) shown["fds"] = message.fds.size();
  return shown;
}

json FrameJson(std::string_view frame, size_t num_fds) {
  json shown = frame.starts_with(worker::kGo)
                   ? json{{"go", HexOf(frame.substr(worker::kGo.size()))}}
                   : json::parse(frame.substr(std::min(kFrameHead, frame.size())), nullptr, false);
  if (num_fds > 0) shown = {{"frame", std::move(shown)}, {"fds", num_fds}};
  return shown;
}

json CoreTimesJson(const worker::CoreTimes& times) {
  json shown = {times.main_ran_ns, times.main_waited_ns, times.ran_ns, times.waited_ns};
  for (const auto& thread : times.others) {
    shown.push_back(thread.tid);
    shown.push_back(thread.ran_ns);
    shown.push_back(thread.waited_ns);
  }
  return shown;
}

worker::CoreTimes CoreTimesFrom(const json& shown) {
  const auto numbers = shown.get<std::vector<int64_t>>();
  worker::CoreTimes times{numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3), {}};
  for (size_t i = 4; i + 2 < numbers.size(); i += 3)
    times.others.push_back({static_cast<pid_t>(numbers[i]), numbers[i + 1], numbers[i + 2]});
  return times;
}

json DeathJson(const std::optional<worker::Death>& death) {
  return death ? json{death->exited, death->exit_code, death->signal} : json();
}

// Many addresses, shortly.
json AddressesJson(std::span<const uint64_t> addresses, size_t size) {
  Sha256 hash;
  for (const uint64_t address : addresses)
    hash.Update({reinterpret_cast<const char*>(&address), sizeof address});
  return {addresses.size(), size, hash.FinishHex().substr(0, 16)};
}

}  // namespace

json StatusJson(const Status& status) {
  return status.ok() ? json() : json{static_cast<int>(status.code()), status.message()};
}

Status StatusFromJson(const json& status) {
  if (status.is_null()) return Status::Ok();
  return {static_cast<StatusCode>(status.at(0).get<int>()), status.at(1).get<std::string>()};
}

std::string TranscribedProcess::Named(std::string_view what) const {
  return fmt::format("{}.{}", name_, what);
}

json TranscribedProcess::Ask(std::string_view what, const json& question,
                             const std::function<json()>& real, const json& dead) const {
  if (transcript_->listens()) return transcript_->Ask(Named(what), question, real);
  return real_ ? real() : dead;
}

Result<json> TranscribedProcess::AwaitReady(double timeout_seconds) {
  const json answer = Ask("ready", nullptr, [&] {
    return ResultJson<json>(real_->AwaitReady(timeout_seconds),
                            [](const json& ready) { return ready; });
  });
  if (answer.contains("value")) return answer["value"];
  return StatusFromJson(answer.at("status"));
}

Result<worker::Process::Reply> TranscribedProcess::Await(double timeout_seconds,
                                                         const worker::BuildHandler& build) {
  if (!transcript_->listens()) {
    if (real_) return real_->Await(timeout_seconds, build);
    return Unavailable("a played process has ended");
  }
  // A request to compile is an answer of the process, and what comes of it the trial's.
  Result<Reply> reply = Unavailable("played");
  if (real_) {
    const worker::BuildHandler told = [&](const json& request) {
      const WithOutside trial(transcript_);
      return build(transcript_->Ask(Named("builds"), nullptr, [&] { return request; }));
    };
    const WithOutside real(nullptr);
    reply = real_->Await(timeout_seconds, build ? told : nullptr);
  } else {
    while (build && transcript_->IsNext(Named("builds")))
      (void)build(transcript_->Ask(Named("builds"), nullptr, nullptr));
  }
  const json answer = transcript_->Ask(Named("await"), nullptr,
                                       [&] { return ResultJson<Reply>(reply, ReplyJson); });
  if (real_) return reply;
  if (!answer.contains("value")) return StatusFromJson(answer.at("status"));
  const json& value = answer["value"];
  return Reply{value.at("ok"), value.value("error", json()),
               Descriptors(value.value("fds", size_t{0}))};
}

void TranscribedProcess::set_spin(double seconds) {
  if (real_) real_->set_spin(seconds);
}

Status TranscribedProcess::SendFrame(std::string_view frame, std::span<const int> fds) {
  return StatusFromJson(Ask(
      "send", FrameJson(frame, fds.size()),
      [&] { return StatusJson(real_->SendFrame(frame, fds)); },
      StatusJson(Unavailable("a played process has ended"))));
}

Status TranscribedProcess::Wait(double timeout_seconds) {
  return StatusFromJson(
      Ask("wait", nullptr, [&] { return StatusJson(real_->Wait(timeout_seconds)); }));
}

bool TranscribedProcess::SpinUntilReadable(double seconds) {
  return Ask(
             "spin", nullptr, [&] { return json(real_->SpinUntilReadable(seconds)); }, false)
      .get<bool>();
}

size_t TranscribedProcess::WaitingBytes() {
  return Ask(
             "waiting", nullptr, [&] { return json(real_->WaitingBytes()); }, 0)
      .get<size_t>();
}

Result<worker::Message> TranscribedProcess::Receive(double timeout_seconds) {
  Result<worker::Message> message = Unavailable("a played process has ended");
  const json answer = Ask("receive", nullptr, [&] {
    message = real_->Receive(timeout_seconds);
    return ResultJson<worker::Message>(message, MessageJson);
  });
  if (real_) return message;
  if (!answer.is_object()) return message;
  if (!answer.contains("value")) return StatusFromJson(answer.at("status"));
  const json& value = answer["value"];
  return worker::Message{value.at("body"), BytesOf(value.value("done", "")),
                         Descriptors(value.value("fds", size_t{0}))};
}

Status TranscribedProcess::Freeze() {
  return StatusFromJson(Ask("freeze", nullptr, [&] { return StatusJson(real_->Freeze()); }));
}

Status TranscribedProcess::Thaw() {
  return StatusFromJson(Ask("thaw", nullptr, [&] { return StatusJson(real_->Thaw()); }));
}

int64_t TranscribedProcess::CpuNs() const {
  return Ask(
             "cpu", nullptr, [&] { return json(real_->CpuNs()); }, 0)
      .get<int64_t>();
}

worker::CoreTimes TranscribedProcess::ReadCoreTimes() const {
  return CoreTimesFrom(
      Ask("cores", nullptr, [&] { return CoreTimesJson(real_->ReadCoreTimes()); }, {0, 0, 0, 0}));
}

int64_t TranscribedProcess::OwnCoreWaitNs() const {
  return Ask(
             "own_wait", nullptr, [&] { return json(real_->OwnCoreWaitNs()); }, 0)
      .get<int64_t>();
}

int64_t TranscribedProcess::ResidentBytes() const {
  return Ask(
             "resident", nullptr, [&] { return json(real_->ResidentBytes()); }, 0)
      .get<int64_t>();
}

int TranscribedProcess::NumThreads() const {
  return Ask(
             "threads", nullptr, [&] { return json(real_->NumThreads()); }, 0)
      .get<int>();
}

std::vector<pid_t> TranscribedProcess::OtherProcesses() const {
  return Ask(
             "others", nullptr, [&] { return json(real_->OtherProcesses()); }, json::array())
      .get<std::vector<pid_t>>();
}

int TranscribedProcess::NumSeccompFilters() const {
  return Ask(
             "filters", nullptr, [&] { return json(real_->NumSeccompFilters()); }, 0)
      .get<int>();
}

std::vector<std::string> TranscribedProcess::MappedLibraries() const {
  return Ask(
             "libraries", nullptr, [&] { return json(real_->MappedLibraries()); }, json::array())
      .get<std::vector<std::string>>();
}

Status TranscribedProcess::ReadMemory(uint64_t address, void* destination, size_t size) const {
  return StatusFromJson(Ask("read", {address, size}, [&] {
    return StatusJson(real_->ReadMemory(address, destination, size));
  }));
}

Status TranscribedProcess::ReadPieces(std::span<const uint64_t> addresses, size_t size,
                                      char* destination) const {
  return StatusFromJson(Ask("read_pieces", AddressesJson(addresses, size), [&] {
    return StatusJson(real_->ReadPieces(addresses, size, destination));
  }));
}

bool TranscribedProcess::FillPieces(std::span<const uint64_t> addresses, size_t size,
                                    char byte) const {
  return Ask(
             "fill", AddressesJson(addresses, size),
             [&] { return json(real_->FillPieces(addresses, size, byte)); }, false)
      .get<bool>();
}

bool TranscribedProcess::SharesMemory(Ranges ranges) const {
  return Ask(
             "shares", json(std::vector(ranges.begin(), ranges.end())),
             [&] { return json(real_->SharesMemory(ranges)); }, false)
      .get<bool>();
}

int64_t TranscribedProcess::UnwrittenPages(Ranges ranges) const {
  return Ask(
             "unwritten", json(std::vector(ranges.begin(), ranges.end())),
             [&] { return json(real_->UnwrittenPages(ranges)); }, 0)
      .get<int64_t>();
}

void TranscribedProcess::Kill() {
  Ask("kill", nullptr, [&] {
    real_->Kill();
    return json();
  });
}

std::optional<worker::Death> TranscribedProcess::WaitForDeath(double timeout_seconds) {
  const json death = Ask(
      "death", nullptr, [&] { return DeathJson(real_->WaitForDeath(timeout_seconds)); },
      DeathJson(worker::Death{true, 0, 0}));
  if (death.is_null()) return std::nullopt;
  return worker::Death{death.at(0).get<bool>(), death.at(1).get<int>(), death.at(2).get<int>()};
}

std::string TranscribedProcess::OutputTail() {
  return TextFrom(Ask(
      "tail", nullptr, [&] { return AnyText(real_->OutputTail()); }, ""));
}

int64_t TranscribedProcess::OutputBytes() const {
  return Ask(
             "output_bytes", nullptr, [&] { return json(real_->OutputBytes()); }, 0)
      .get<int64_t>();
}

void TranscribedProcess::SetMemoryLimit(int64_t bytes) {
  Ask("memory_limit", bytes, [&] {
    real_->SetMemoryLimit(bytes);
    return json();
  });
}

bool TranscribedProcess::exceeded_memory() const {
  return Ask(
             "exceeded_memory", nullptr, [&] { return json(real_->exceeded_memory()); }, false)
      .get<bool>();
}

Status TranscribedSpawner::Prewarm(const std::string& cache_folder, int arch) {
  return StatusFromJson(transcript_->Ask(
      "prewarm", arch, [&] { return StatusJson(real_->Prewarm(cache_folder, arch)); }));
}

Result<std::shared_ptr<worker::Process>> TranscribedSpawner::Spawn(
    const worker::SpawnRequest& request) {
  std::shared_ptr<worker::Process> real;
  const json question = {{"role", request.role},       {"target", request.target},
                         {"threads", request.threads}, {"scratch", request.scratch},
                         {"imports", request.imports}, {"sandbox", !request.policy.is_null()}};
  const json answer = transcript_->Ask("spawn", question, [&] {
    auto spawned = real_->Spawn(request);
    if (!spawned.ok()) return StatusJson(spawned.status());
    real = *std::move(spawned);
    return StatusJson(Status::Ok());
  });
  DAVINCI_RETURN_IF_ERROR(StatusFromJson(answer));
  return std::shared_ptr<worker::Process>(std::make_shared<TranscribedProcess>(
      transcript_, fmt::format("{}{}", request.role, ++num_spawned_[request.role]),
      std::move(real)));
}

}  // namespace davinci::judge
