#include "davinci/training/train_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "davinci/comm/agree.h"
#include "davinci/trainer/divide.h"

namespace davinci::training {
namespace {

using nlohmann::json;

// An exchange holds one piece of every rank.
constexpr size_t kPieceBytes = size_t{4} << 20;

json PackSample(const rl::TrainingSample& sample) {
  return {{"id", sample.id},
          {"agent", static_cast<int>(sample.agent)},
          {"turn", sample.turn},
          {"prompt", sample.prompt},
          {"output", sample.output},
          {"log_probs", sample.log_probs},
          {"advantage", sample.advantage},
          {"trained", sample.trained},
          {"policy_update", sample.policy_update}};
}

rl::TrainingSample UnpackSample(const json& packed) {
  rl::TrainingSample sample;
  sample.id = packed.at("id");
  sample.agent = static_cast<rl::AgentKind>(packed.at("agent").get<int>());
  sample.turn = packed.at("turn");
  sample.prompt = packed.at("prompt").get<std::vector<int32_t>>();
  sample.output = packed.at("output").get<std::vector<int32_t>>();
  sample.log_probs = packed.at("log_probs").get<std::vector<float>>();
  sample.advantage = packed.at("advantage");
  sample.trained = packed.at("trained");
  sample.policy_update = packed.at("policy_update");
  return sample;
}

std::string Pack(const TrainingBatch& batch) {
  json packed = {{"samples", json::array()}, {"units", json::array()}};
  for (const rl::TrainingSample& sample : batch.samples)
    packed["samples"].push_back(PackSample(sample));
  for (const TrainUnit& unit : batch.units) packed["units"].push_back(unit.samples);
  std::string text;
  json::to_cbor(packed, text);
  return text;
}

Result<TrainingBatch> Unpack(const std::string& text) {
  TrainingBatch batch;
  try {
    const json packed = json::from_cbor(text);
    for (const json& sample : packed.at("samples")) batch.samples.push_back(UnpackSample(sample));
    for (const json& unit : packed.at("units"))
      batch.units.push_back({unit.get<std::vector<size_t>>()});
  } catch (const json::exception& error) {
    return Internal(std::string("what rank 0 sent cannot be read: ") + error.what());
  }
  return batch;
}

// Bytes of rank 0, which go to the others in pieces of bounded size.
Result<std::string> FromRank0(comm::RankGroup* ranks, std::string text) {
  if (ranks == nullptr) return text;
  const bool leads = Leads(ranks);
  DAVINCI_ASSIGN_OR_RETURN(const auto sizes,
                           ranks->Exchange(leads ? std::to_string(text.size()) : ""));
  const auto size = static_cast<size_t>(std::stoull(sizes[0]));
  std::string received;
  for (size_t at = 0; at < size; at += kPieceBytes) {
    DAVINCI_ASSIGN_OR_RETURN(
        const auto pieces,
        ranks->Exchange(leads ? std::string_view(text).substr(at, kPieceBytes) : ""));
    received += pieces[0];
  }
  return leads ? std::move(text) : std::move(received);
}

}  // namespace

bool Leads(const comm::RankGroup* ranks) { return ranks == nullptr || ranks->world().rank == 0; }

Status TrainRanks::Lead(const std::function<Status()>& work) const {
  return comm::Agree(group_, leads() ? work() : Status::Ok());
}

Result<std::string> TrainRanks::FromLead(const std::function<std::string()>& work) const {
  return FromRank0(group_, leads() ? work() : std::string());
}

Status TrainRanks::CheckSame(const std::string& text, const std::string& what) const {
  if (group_ == nullptr) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const auto all, group_->Exchange(text));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      return InvalidArgument(
          fmt::format("rank {} has another {} than rank 0; start all ranks with the same "
                      "arguments and files",
                      rank, what));
  return Status::Ok();
}

Status TrainRanks::Together(const std::function<Status()>& work) const {
  const Status status = work();
  if (!status.ok() && group_ != nullptr) group_->Abort(status);
  return status;
}

std::vector<std::vector<size_t>> DivideAmongRanks(const comm::RankGroup* ranks,
                                                  const std::vector<TrainSequence>& sequences,
                                                  std::span<const size_t> members) {
  if (ranks == nullptr) return {{members.begin(), members.end()}};
  std::vector<int64_t> lengths;
  for (const size_t i : members)
    lengths.push_back(static_cast<int64_t>(sequences[i].tokens.size()));
  auto divided = trainer::DivideRows(lengths, ranks->world().size);
  for (auto& own : divided)
    for (size_t& i : own) i = members[i];
  return divided;
}

const std::vector<size_t>& OwnOf(const comm::RankGroup* ranks,
                                 const std::vector<std::vector<size_t>>& divided) {
  return divided[ranks == nullptr ? 0 : static_cast<size_t>(ranks->world().rank)];
}

Status ShareValues(comm::RankGroup* ranks, const std::vector<TrainSequence>& sequences,
                   const std::vector<std::vector<size_t>>& divided, TokenValues* values) {
  if (ranks == nullptr) return Status::Ok();
  std::vector<float> own;
  for (const size_t s : OwnOf(ranks, divided))
    for (const auto& [sample, token] : sequences[s].sources)
      own.push_back((*values)[sample][token]);
  DAVINCI_ASSIGN_OR_RETURN(
      const auto all,
      ranks->Exchange({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(float)}));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    size_t at = 0;
    for (const size_t s : divided[rank])
      for (const auto& [sample, token] : sequences[s].sources) {
        if (at + sizeof(float) > all[rank].size())
          return Internal("a rank sent too few log-probabilities");
        std::memcpy(&(*values)[sample][token], all[rank].data() + at, sizeof(float));
        at += sizeof(float);
      }
  }
  return Status::Ok();
}

Status ShareBatch(comm::RankGroup* ranks, TrainingBatch* batch) {
  if (ranks == nullptr) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const std::string text,
                           FromRank0(ranks, Leads(ranks) ? Pack(*batch) : ""));
  if (Leads(ranks)) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(*batch, Unpack(text));
  return Status::Ok();
}

}  // namespace davinci::training
