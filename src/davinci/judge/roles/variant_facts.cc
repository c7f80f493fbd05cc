#include "davinci/judge/roles/variant_facts.h"

#include <utility>

#include "davinci/judge/roles/output_arena.h"

namespace davinci::judge {

using nlohmann::json;

Result<VariantFacts> Describe(Oracle& oracle, int variant, uint64_t seed, double timeout_seconds) {
  DAVINCI_RETURN_IF_ERROR(oracle.Post(to_oracle::Describe{variant, seed}));
  DAVINCI_ASSIGN_OR_RETURN(const auto reply,
                           oracle.Await(to_oracle::Describe::kOp, timeout_seconds));
  const json& d = reply.ok;
  VariantFacts facts;
  facts.raw = d;
  facts.init = d.value("init", std::string());
  facts.structure = d.value("structure", std::string());
  for (const json& o : d.at("outputs")) {
    OutputTensor tensor;
    tensor.dtype = o.at("dtype").get<std::string>();
    tensor.shape = o.at("shape").get<std::vector<int64_t>>();
    tensor.stride = o.at("stride").get<std::vector<int64_t>>();
    facts.outputs.push_back(std::move(tensor));
  }
  facts.inputs = d.at("inputs");
  facts.slot_bytes = d.at("slot_bytes").get<int64_t>();
  facts.num_slots = d.at("slots").get<int>();
  facts.stochastic = d.value("stochastic", false);
  facts.reseed_calls = d.value("reseed_calls", false);
  facts.lent = d.at("lent").get<std::vector<bool>>();
  facts.begins = d.at("begins").get<std::vector<int>>();
  facts.regions = d.at("regions").get<std::vector<int>>();
  const size_t count = facts.outputs.size();
  if (facts.lent.size() != count || facts.begins.size() != count || facts.regions.size() != count)
    return Internal("the oracle described its outputs' memory in another number than its outputs");
  for (size_t i = 0; i < facts.outputs.size(); ++i)
    if (OverlapsItself(facts.outputs[i])) facts.lent[i] = true;
  if (d.at("mode").is_string()) facts.mode = d.at("mode").get<std::string>();
  return facts;
}

}  // namespace davinci::judge
