#include "davinci/judge/roles/variant_facts.h"

#include <utility>

#include "davinci/judge/roles/output_arena.h"

namespace davinci::judge {

using nlohmann::json;

void from_json(const json& reply, CallWork& read) {
  reply.at("flops").get_to(read.flops);
  reply.at("operators").get_to(read.operators);
  reply.at("input_bytes").get_to(read.input_bytes);
  reply.at("weight_bytes").get_to(read.weight_bytes);
  reply.at("output_bytes").get_to(read.output_bytes);
  reply.at("reads_everything").get_to(read.reads_everything);
  reply.at("reads_whole_operands").get_to(read.reads_whole_operands);
}

void to_json(json& written, const CallWork& work) {
  written = {{"flops", work.flops},
             {"operators", work.operators},
             {"input_bytes", work.input_bytes},
             {"weight_bytes", work.weight_bytes},
             {"output_bytes", work.output_bytes},
             {"reads_everything", work.reads_everything},
             {"reads_whole_operands", work.reads_whole_operands}};
}

void from_json(const json& reply, VariantFacts& read) {
  reply.at("init").get_to(read.init);
  reply.at("structure").get_to(read.structure);
  for (const json& output : reply.at("outputs")) {
    OutputTensor tensor;
    output.at("dtype").get_to(tensor.dtype);
    output.at("shape").get_to(tensor.shape);
    output.at("stride").get_to(tensor.stride);
    read.outputs.push_back(std::move(tensor));
  }
  read.inputs = reply.at("inputs");
  reply.at("slot_bytes").get_to(read.slot_bytes);
  reply.at("slots").get_to(read.num_slots);
  reply.at("stochastic").get_to(read.stochastic);
  reply.at("reseed_calls").get_to(read.reseed_calls);
  read.lent = reply.at("lent").get<std::vector<bool>>();
  reply.at("begins").get_to(read.begins);
  reply.at("regions").get_to(read.regions);
  if (reply.at("mode").is_string()) reply.at("mode").get_to(read.mode);
  read.num_weights = reply.at("state").size();
  reply.at("kept").get_to(read.kept);
  reply.at("left_in").get_to(read.left_in);
  reply.at("compiles").get_to(read.compiles);
  reply.at("footprint_bytes").get_to(read.footprint_bytes);
  reply.at("device_bytes").get_to(read.device_bytes);
  if (!reply.at("work").is_null()) read.work = reply.at("work").get<CallWork>();
  read.verified = reply.at("verified");
}

Result<VariantFacts> Describe(Oracle& oracle, int variant, uint64_t seed, double timeout_seconds) {
  DAVINCI_RETURN_IF_ERROR(oracle.Post(to_oracle::Describe{variant, seed}));
  DAVINCI_ASSIGN_OR_RETURN(const auto reply,
                           oracle.Await(to_oracle::Describe::kOp, timeout_seconds));
  auto facts = reply.ok.get<VariantFacts>();
  const size_t count = facts.outputs.size();
  if (facts.lent.size() != count || facts.begins.size() != count || facts.regions.size() != count)
    return Internal("the oracle described its outputs' memory in another number than its outputs");
  for (size_t i = 0; i < facts.outputs.size(); ++i)
    if (OverlapsItself(facts.outputs[i])) facts.lent[i] = true;
  return facts;
}

}  // namespace davinci::judge
