#include "davinci/judge/roles/done_reader.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "davinci/judge/roles/untrusted_json.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Outputs and buffers of one call that are read: more than any network has.
constexpr size_t kMaxOutputs = 1 << 14;
constexpr size_t kMaxExports = 1 << 16;

std::vector<int64_t> Integers(const json& object, const char* key) {
  std::vector<int64_t> values;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return values;
  for (const json& item : *found)
    if (item.is_number_integer()) values.push_back(item.get<int64_t>());
  return values;
}

// JSON has no infinities: they come as "nan", "inf" and "-inf".
std::optional<double> Number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

void ReadOutputs(const json& done, CallResult* result) {
  result->structure = TextIn(done, "structure");
  if (const auto inner = done.find("inner_ns"); inner != done.end() && inner->is_number_integer())
    result->inner_ns = inner->get<int64_t>();
  const auto outputs = done.find("outputs");
  if (outputs == done.end() || !outputs->is_array()) return;
  for (const json& item : *outputs) {
    if (!item.is_object() || result->outputs.size() >= kMaxOutputs) break;
    OutputTensor tensor;
    if (const auto ptr = item.find("ptr"); ptr != item.end() && ptr->is_number_unsigned())
      tensor.address = ptr->get<uint64_t>();
    tensor.dtype = TextIn(item, "dtype");
    tensor.shape = Integers(item, "shape");
    tensor.stride = Integers(item, "stride");
    tensor.device = TextIn(item, "device");
    tensor.plain = FlagIn(item, "plain");
    if (const auto value = item.find("value"); value != item.end()) tensor.value = Number(*value);
    if (const auto ipc = item.find("ipc"); ipc != item.end()) tensor.ipc = *ipc;
    result->outputs.push_back(std::move(tensor));
  }
}

}  // namespace

Status DoneReader::ReadShort(std::string_view done, size_t num_calls, bool is_empty,
                             CallResult* result) const {
  if (!is_empty && outputs_.size() * num_calls != worker::NumDonePointers(done))
    return InvalidArgument("a short reply that fits no long one");
  const char* next = done.data() + 1;
  std::memcpy(&result->inner_ns, next, sizeof result->inner_ns);
  if (is_empty) return Status::Ok();
  for (size_t call = 0; call < num_calls; ++call) {
    result->structure = structure_;
    result->outputs = outputs_;
    for (OutputTensor& output : result->outputs) {
      next += sizeof output.address;
      std::memcpy(&output.address, next, sizeof output.address);
      const auto ipc = exports_.find(output.address);
      if (!output.ipc.is_null()) output.ipc = ipc == exports_.end() ? json() : ipc->second;
    }
    result->returned.push_back({result->structure, result->outputs});
  }
  return Status::Ok();
}

Status DoneReader::ReadLong(const json& done, size_t num_calls, bool is_empty, CallResult* result) {
  const auto several = done.find("several");
  const bool many = several != done.end() && several->is_array();
  const size_t described = many ? several->size() : 1;
  if (is_empty) return Status::Ok();
  if (described != num_calls) return InvalidArgument("a reply that fits no window");
  for (size_t i = 0; i < described; ++i) {
    const json& one = many ? (*several)[i] : done;
    result->outputs.clear();
    if (one.is_object()) ReadOutputs(one, result);
    result->returned.push_back({result->structure, result->outputs});
    for (const OutputTensor& output : result->outputs)
      if (exports_.size() < kMaxExports) exports_[output.address] = output.ipc;
  }
  structure_ = result->structure;
  outputs_ = result->outputs;
  return Status::Ok();
}

void DoneReader::Forget() {
  structure_.clear();
  outputs_.clear();
  exports_.clear();
}

}  // namespace davinci::judge
