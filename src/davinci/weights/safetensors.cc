#include "davinci/weights/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "davinci/base/json_text.h"

namespace davinci::weights {
namespace {

using nlohmann::json;

constexpr uint64_t kLargestHeader_bytes = 100'000'000;  // what the format's own library accepts
constexpr size_t kMostDimensions = 16;

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A tensor's JSON as an entry without data, and where its data is.
Result<SafetensorsEntry> ParseEntry(const std::string& name, const json& value, Range* range) {
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("tensor {}: {}", name, what));
  };
  if (!value.is_object()) return bad("is not an object");
  for (const auto& [key, unused] : value.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return bad(fmt::format("unknown member {}", key));
  const auto dtype = value.find("dtype");
  const auto shape = value.find("shape");
  const auto offsets = value.find("data_offsets");
  if (dtype == value.end() || !dtype->is_string()) return bad("has no dtype");
  if (shape == value.end() || !shape->is_array()) return bad("has no shape");
  if (offsets == value.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned())
    return bad("data_offsets must be two numbers, begin and end");
  SafetensorsEntry entry;
  entry.name = name;
  const auto type_name = dtype->get<std::string>();
  const auto known = DTypeFromSafetensors(type_name);
  if (!known)
    return bad(fmt::format("dtype {} is not supported; convert the weights to BF16", type_name));
  entry.dtype = *known;
  if (shape->size() > kMostDimensions)
    return bad(fmt::format("{} dimensions, at most {}", shape->size(), kMostDimensions));
  for (const json& size : *shape) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > uint64_t{1} << 62)
      return bad("a dimension is not a number between 0 and 2^62");
    entry.shape.push_back(static_cast<int64_t>(size.get<uint64_t>()));
  }
  *range = {(*offsets)[0].get<uint64_t>(), (*offsets)[1].get<uint64_t>()};
  auto bytes = NumBytes(entry.dtype, entry.shape);
  if (!bytes.ok()) return bad(bytes.status().message());
  if (range->begin > range->end || range->end - range->begin != static_cast<uint64_t>(*bytes))
    return bad(fmt::format("data_offsets [{}, {}] do not hold {} bytes", range->begin, range->end,
                           *bytes));
  return entry;
}

// nlohmann keeps the last of two equal keys; a file with two is not one to guess about.
Result<json> ParseJsonWithoutDuplicates(std::string_view text) {
  std::set<std::string> names;
  std::string duplicate;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !names.insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return true;
  };
  json header = json::parse(text, watch, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object())
    return InvalidArgument("the header is not a JSON object");
  if (!duplicate.empty())
    return InvalidArgument(fmt::format("tensor {} stands twice in the header", duplicate));
  return header;
}

Result<SafetensorsHeader> Parse(std::span<const std::byte> file) {
  uint64_t header_bytes = 0;
  if (file.size() < sizeof header_bytes)
    return InvalidArgument(fmt::format("{} bytes are too few for a header", file.size()));
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  const uint64_t rest = file.size() - sizeof header_bytes;
  if (header_bytes > kLargestHeader_bytes)
    return InvalidArgument(fmt::format("the header claims {} bytes, at most {} are allowed",
                                       header_bytes, kLargestHeader_bytes));
  if (header_bytes > rest)
    return InvalidArgument(fmt::format(
        "the header claims {} bytes, the file has {} more: it is truncated", header_bytes, rest));
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof header_bytes,
                              header_bytes);
  DAVINCI_ASSIGN_OR_RETURN(const json header, ParseJsonWithoutDuplicates(text));
  const auto data = file.subspan(sizeof header_bytes + header_bytes);

  SafetensorsHeader result;
  std::vector<std::pair<Range, SafetensorsEntry>> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return InvalidArgument("__metadata__ is not an object");
      for (const auto& [key, item] : value.items()) {
        if (!item.is_string())
          return InvalidArgument(fmt::format("__metadata__.{} is not a string", key));
        result.metadata[key] = item.get<std::string>();
      }
      continue;
    }
    Range range;
    DAVINCI_ASSIGN_OR_RETURN(SafetensorsEntry entry, ParseEntry(name, value, &range));
    if (range.end > data.size())
      return InvalidArgument(
          fmt::format("tensor {} ends at byte {} of {} bytes of data: the file is truncated", name,
                      range.end, data.size()));
    entry.data = data.subspan(range.begin, range.end - range.begin);
    entries.emplace_back(range, std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.first.end) < std::pair(b.first.begin, b.first.end);
  });
  uint64_t at = 0;
  for (auto& [range, entry] : entries) {
    if (range.begin != at)
      return InvalidArgument(
          fmt::format("tensor {} begins at byte {}, expected {}: data overlaps "
                      "or has a hole",
                      entry.name, range.begin, at));
    at = range.end;
    result.tensors.push_back(std::move(entry));
  }
  if (at != data.size())
    return InvalidArgument(
        fmt::format("{} bytes of data behind the last tensor", data.size() - at));
  return result;
}

}  // namespace

Result<SafetensorsHeader> ParseSafetensors(std::span<const std::byte> file, std::string_view name) {
  auto header = Parse(file);
  if (!header.ok()) return header.status().Annotate(name);
  return header;
}

}  // namespace davinci::weights
