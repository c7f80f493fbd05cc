#include "davinci/skill/skill.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "davinci/data/language.h"
#include "davinci/skill/examples.h"

namespace davinci::skill {
namespace {

using nlohmann::json;

constexpr size_t kMaxKebabBytes = 64;  // of Agent Skills
constexpr std::string_view kTaskSpecific = "task_specific/";

bool IsLibraryName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

bool IsOneLine(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
}

// Asked of the JSON library, which has to write the text later.
bool IsUtf8(const std::string& text) {
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::ignore);
  return json::parse(quoted, nullptr, /*allow_exceptions=*/false) == json(text);
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Is `heading` a line of `text` at or after `from`? Its position, or npos.
size_t FindLine(std::string_view text, std::string_view heading, size_t from) {
  while (from <= text.size()) {
    size_t end = text.find('\n', from);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(from, end - from);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line == heading) return from;
    from = end + 1;
  }
  return std::string_view::npos;
}

json UpliftJson(const Interval& uplift) {
  return {{"median", uplift.median},
          {"low", uplift.low},
          {"high", std::isfinite(uplift.high) ? json(uplift.high) : json(nullptr)}};
}

Interval UpliftFromJson(const json& document) {
  const json& high = document.at("high");
  return {document.at("median").get<double>(), document.at("low").get<double>(),
          high.is_null() ? std::numeric_limits<double>::infinity() : high.get<double>()};
}

void CheckAuthored(const Skill& skill, std::vector<std::string>* problems) {
  if (IsLibraryName(skill.name) && !IsKebabCase(skill.name))
    problems->push_back(
        fmt::format("name \"{}\" is not kebab-case of at most {} letters (fuse-the-epilogue)",
                    skill.name, kMaxKebabBytes));
  const auto below = [&](std::string_view kind) {
    return skill.scope.starts_with(kind) && skill.scope.size() > kind.size();
  };
  if (skill.scope != "general" && !below(kTaskSpecific) && !below(Skill::kCardScope))
    problems->push_back(
        fmt::format("scope \"{}\" is none of \"general\", \"task_specific/<category>\", "
                    "\"operator/<name>\"",
                    skill.scope));
  size_t from = 0;
  for (const std::string& heading : RequiredHeadings()) {
    const size_t at = FindLine(skill.content, heading, from);
    if (at == std::string_view::npos) {
      problems->push_back(fmt::format("the content has no line \"{}\"{}", heading,
                                      from > 0 ? " after the heading before it" : ""));
      continue;
    }
    from = at + heading.size();
    const size_t next = skill.content.find("\n## ", from);
    if (IsBlank(std::string_view(skill.content).substr(from, next - from)))
      problems->push_back(fmt::format("the section \"{}\" is empty", heading));
  }
}

}  // namespace

// The order of unknown fields says nothing, so they are compared with sorted keys.
bool Skill::operator==(const Skill& other) const {
  return name == other.name && description == other.description && scope == other.scope &&
         tags == other.tags && content == other.content && json(extra) == json(other.extra);
}

void Usage::Observe(double uplift) {
  const double log_uplift = std::log(uplift);
  ++observations;
  log_uplift_sum += log_uplift;
  log_uplift_square_sum += log_uplift * log_uplift;
}

void Usage::Add(const Usage& other) {
  shown += other.shown;
  selected += other.selected;
  wins += other.wins;
  observations += other.observations;
  log_uplift_sum += other.log_uplift_sum;
  log_uplift_square_sum += other.log_uplift_square_sum;
}

std::optional<double> Usage::MeanUplift() const {
  if (observations < 1) return std::nullopt;
  return std::exp(log_uplift_sum / static_cast<double>(observations));
}

std::optional<Interval> Usage::UpliftInterval() const {
  if (observations < 2) return std::nullopt;
  const auto n = static_cast<double>(observations);
  const double mean = log_uplift_sum / n;
  const double variance = std::max(0.0, (log_uplift_square_sum - n * mean * mean) / (n - 1));
  const double half_width = 1.96 * std::sqrt(variance / n);
  return Interval{std::exp(mean), std::exp(mean - half_width), std::exp(mean + half_width)};
}

std::string_view SkillStateName(SkillState state) {
  switch (state) {
    case SkillState::kActive:
      return "active";
    case SkillState::kRetired:
      return "retired";
    case SkillState::kEvicted:
      return "evicted";
  }
  return "unknown";
}

std::optional<SkillState> ParseSkillState(std::string_view name) {
  for (SkillState state : {SkillState::kActive, SkillState::kRetired, SkillState::kEvicted})
    if (SkillStateName(state) == name) return state;
  return std::nullopt;
}

bool SameSubject(const Evidence& a, const Evidence& b) {
  return a.target == b.target &&
         (a.language == b.language || a.language.empty() || b.language.empty());
}

const Evidence* Record::EvidenceLike(const Evidence& other) const {
  for (const Evidence& e : evidence)
    if (SameSubject(e, other)) return &e;
  return nullptr;
}

const Evidence* Record::BestEvidence() const {
  const auto best = std::max_element(
      evidence.begin(), evidence.end(),
      [](const Evidence& a, const Evidence& b) { return a.uplift.low < b.uplift.low; });
  return best == evidence.end() ? nullptr : &*best;
}

bool IsKebabCase(std::string_view name) {
  if (!IsLibraryName(name) || name.size() > kMaxKebabBytes) return false;
  return name.find('_') == std::string_view::npos && name.find("--") == std::string_view::npos &&
         name.front() != '-' && name.back() != '-';
}

const std::vector<std::string>& RequiredHeadings() {
  static const std::vector<std::string> headings = {"## Motivation", "## Key Idea", "## Example"};
  return headings;
}

Status Validate(const Skill& skill, Strictness strictness) {
  std::vector<std::string> problems;
  const auto check = [&](bool good, std::string problem) {
    if (!good) problems.push_back(std::move(problem));
  };
  check(IsLibraryName(skill.name),
        fmt::format("name \"{}\" must be 1 to {} of a-z, 0-9, '-' and '_'", skill.name,
                    kMaxNameBytes));
  check(!IsBlank(skill.description), "the description is empty");
  check(IsOneLine(skill.description), "the description has more than one line");
  check(skill.description.size() <= kMaxDescriptionBytes,
        fmt::format("the description has {} bytes, {} are allowed", skill.description.size(),
                    kMaxDescriptionBytes));
  check(!IsBlank(skill.content), "the content is empty");
  check(skill.content.size() <= kMaxContentBytes,
        fmt::format("the content has {} bytes, {} are allowed", skill.content.size(),
                    kMaxContentBytes));
  check(IsOneLine(skill.scope), "the scope has more than one line");
  check(skill.tags.size() <= kMaxTags,
        fmt::format("{} tags, {} are allowed", skill.tags.size(), kMaxTags));
  for (const std::string& tag : skill.tags)
    check(!IsBlank(tag) && IsOneLine(tag) && tag.find_first_of(",[]") == std::string::npos,
          fmt::format("tag \"{}\" is empty, or has a line break, a comma or a bracket", tag));
  check(skill.extra.is_object(), "the unknown fields are no object");
  for (const std::string* text : {&skill.description, &skill.scope, &skill.content})
    check(IsUtf8(*text), "some text is not UTF-8");
  if (strictness == Strictness::kAuthored) CheckAuthored(skill, &problems);
  if (problems.empty()) return Status::Ok();
  return InvalidArgument(fmt::format("{}", fmt::join(problems, "; ")));
}

Status Validate(const Evidence& evidence) {
  if (!ParseTarget(evidence.target))
    return InvalidArgument(
        fmt::format("evidence for target \"{}\"; there are cpu and cuda", evidence.target));
  if (!evidence.language.empty() && !ParseLanguage(evidence.language))
    return InvalidArgument(
        fmt::format("evidence for the unknown language \"{}\"", evidence.language));
  const Interval& u = evidence.uplift;
  if (!(u.median > 0 && std::isfinite(u.median) && u.low >= 0 && u.low <= u.median &&
        u.high >= u.median))
    return InvalidArgument(fmt::format("evidence with an uplift of {} from {} to {} is no interval",
                                       u.median, u.low, u.high));
  return Status::Ok();
}

json ToJson(const Evidence& evidence) {
  json document = {{"uplift", UpliftJson(evidence.uplift)},
                   {"target", evidence.target},
                   {"device", evidence.device},
                   {"tasks", evidence.tasks},
                   {"num_generations", evidence.num_generations},
                   {"protocol", evidence.protocol},
                   {"run", evidence.run},
                   {"last_verified", evidence.last_verified}};
  document["speedup"] = evidence.speedup ? json(*evidence.speedup) : json(nullptr);
  if (evidence.correctness)
    document["correctness"] = {{"num_pairs", evidence.correctness->num_pairs},
                               {"with_skill", evidence.correctness->with_skill},
                               {"without_skill", evidence.correctness->without_skill},
                               {"raised", evidence.correctness->raised}};
  // Left out where it was not recorded: the digest of an old library stays what it was.
  if (!evidence.language.empty()) document["language"] = evidence.language;
  return document;
}

json ToJson(const Usage& usage) {
  return {{"shown", usage.shown},
          {"selected", usage.selected},
          {"wins", usage.wins},
          {"observations", usage.observations},
          {"log_uplift_sum", usage.log_uplift_sum},
          {"log_uplift_square_sum", usage.log_uplift_square_sum}};
}

Result<Evidence> EvidenceFromJson(const json& document) {
  try {
    Evidence evidence;
    evidence.uplift = UpliftFromJson(document.at("uplift"));
    evidence.target = document.at("target").get<std::string>();
    evidence.language = document.value("language", "");
    evidence.device = document.at("device").get<std::string>();
    evidence.tasks = document.at("tasks").get<std::vector<std::string>>();
    evidence.num_generations = document.at("num_generations").get<int>();
    evidence.protocol = document.at("protocol").get<std::string>();
    evidence.run = document.at("run").get<std::string>();
    evidence.last_verified = document.at("last_verified").get<std::string>();
    if (const json& speedup = document.at("speedup"); !speedup.is_null())
      evidence.speedup = speedup.get<double>();
    if (const auto found = document.find("correctness"); found != document.end())
      evidence.correctness = Evidence::Correctness{
          found->at("num_pairs").get<int>(), found->at("with_skill").get<int>(),
          found->at("without_skill").get<int>(), found->at("raised").get<bool>()};
    return evidence;
  } catch (const json::exception& error) {
    return InvalidArgument(fmt::format("not a skill's evidence: {}", error.what()));
  }
}

Result<Usage> UsageFromJson(const json& document) {
  try {
    Usage usage;
    usage.shown = document.at("shown").get<int64_t>();
    usage.selected = document.at("selected").get<int64_t>();
    usage.wins = document.at("wins").get<int64_t>();
    usage.observations = document.at("observations").get<int64_t>();
    usage.log_uplift_sum = document.at("log_uplift_sum").get<double>();
    usage.log_uplift_square_sum = document.at("log_uplift_square_sum").get<double>();
    return usage;
  } catch (const json::exception& error) {
    return InvalidArgument(fmt::format("not a skill's usage: {}", error.what()));
  }
}

OrderedJson ToJson(const Record& record) {
  const auto mean = record.usage.MeanUplift();
  OrderedJson document = {{"name", record.skill.name},
                          {"description", record.skill.description},
                          {"scope", record.skill.scope},
                          {"tags", record.skill.tags},
                          {"content", record.skill.content},
                          {"extra", record.skill.extra},
                          {"state", SkillStateName(record.state)},
                          {"position", record.position},
                          {"evidence", OrderedJson::array()},
                          {"usage", ToJson(record.usage)}};
  document["usage"]["mean_uplift"] = mean ? OrderedJson(*mean) : OrderedJson(nullptr);
  for (const Evidence& evidence : record.evidence)
    document["evidence"].push_back(OrderedJson(ToJson(evidence)));
  return document;
}

std::string RenderSkill(const Skill& skill, Language language) {
  std::string text = fmt::format("---\nname: {}\ndescription: {}\nscope: {}\ntags: [{}]\n---\n{}",
                                 skill.name, skill.description, skill.scope,
                                 fmt::join(skill.tags, ", "), ContentFor(skill.content, language));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text + "\n";
}

std::string RenderSkills(const std::vector<Skill>& skills, Language language) {
  std::string text;
  for (const Skill& skill : skills) {
    if (!text.empty()) text += '\n';
    text += RenderSkill(skill, language);
  }
  return text;
}

}  // namespace davinci::skill
