#include "davinci/agent/sound_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "davinci/agent/kernel_text.h"
#include "davinci/data/prelude.h"

namespace davinci::agent {
namespace {

using NameSet = std::set<std::string>;

const NameSet& Builtins() {
  static const auto* const kNames = new NameSet{"abs",          "all",
                                                "any",          "bool",
                                                "bytes",        "callable",
                                                "complex",      "dict",
                                                "divmod",       "enumerate",
                                                "filter",       "float",
                                                "format",       "frozenset",
                                                "getattr",      "hasattr",
                                                "hash",         "hex",
                                                "id",           "int",
                                                "isinstance",   "iter",
                                                "len",          "list",
                                                "map",          "max",
                                                "min",          "next",
                                                "object",       "print",
                                                "pow",          "range",
                                                "repr",         "reversed",
                                                "round",        "set",
                                                "setattr",      "slice",
                                                "sorted",       "str",
                                                "sum",          "super",
                                                "tuple",        "type",
                                                "zip",          "True",
                                                "False",        "None",
                                                "Ellipsis",     "NotImplemented",
                                                "__name__",     "_",
                                                "Exception",    "ValueError",
                                                "RuntimeError", "self",
                                                "static_assert"};
  return *kNames;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// ---- paths of the module

// `text` with the short names of modules written out.
std::string WrittenOut(std::string text, const std::map<std::string, std::string>& modules) {
  constexpr int kMostNested = 4;  // short names of parts of parts
  for (int round = 0; round < kMostNested; ++round) {
    std::string result;
    size_t copied = 0;
    ForNames(text, [&](std::string_view name, int, size_t begin, size_t end) {
      const auto found = modules.find(std::string(name));
      if (found == modules.end()) return;
      result += text.substr(copied, begin - copied) + found->second;
      copied = end;
    });
    if (copied == 0) return text;
    text = result + text.substr(copied);
  }
  return text;
}

// Calls `see(character behind it)` with each occurrence that is no part of a longer name.
template <typename See>
void ForOccurrences(const std::string& text, const std::string& path, const See& see) {
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    const size_t end = at + path.size();
    const bool starts = at == 0 || (!IsNamePart(text[at - 1]) && text[at - 1] != '.');
    if (starts && (end == text.size() || !IsNamePart(text[end])))
      see(end < text.size() ? text[end] : '\n');
  }
}

// Whether `code` names the path, or what it is a part of.
bool IsKnownPath(const std::string& code, const std::vector<std::string>& parts) {
  std::string path;
  bool known = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    path += parts[i];
    if (i == 0) continue;
    const bool near = i + 2 >= parts.size();  // the path, or without its last part
    ForOccurrences(code, path,
                   [&](char behind) { known = known || near || (behind != '.' && behind != '['); });
  }
  return known;
}

// The first path of a launch that `code` does not know, or "". `modules`: short names.
std::string UnknownPath(const Launch& launch, const std::string& code,
                        const std::map<std::string, std::string>& modules) {
  const std::vector<Token>& tokens = launch.tokens;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const std::string root(tokens[i].text);
    if (tokens[i - 1].text == "." || (root != "self" && !modules.contains(root))) continue;
    std::string shown = root;
    for (++i; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text == ".") {
        if (i + 2 < tokens.size() && tokens[i + 2].text == "(") break;  // a method
        shown += "." + std::string(tokens[++i].text);
      } else if (tokens[i].text == "[" && tokens[i + 1].kind == TokenKind::kNumber &&
                 i + 2 < tokens.size() && tokens[i + 2].text == "]") {
        shown += "[" + std::string(tokens[i + 1].text) + "]";
        i += 2;
      } else {
        break;
      }
    }
    --i;
    const std::string path = WrittenOut(shown, modules);
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find_first_of(".[", begin + 1), path.size());
      parts.push_back(path.substr(begin, end - begin));
      begin = end;
    }
    if (shown != root && !IsKnownPath(code, parts)) return shown;
  }
  return "";
}

// ---- statements

enum class LinePart { kLaunch, kMemory, kView, kOther };

// A statement of forward.
struct BodyLine {
  const Statement* statement = nullptr;
  LinePart part = LinePart::kOther;
  NameSet reads, makes;
  bool doubtful = false;  // a block, whose names the text does not tell
  bool left = true;
  std::string problem;  // it is no Python, or memory without a size; or ""
  Launch launch;        // of a judged kernel
  NameSet writes;       // of a launch
};

// "torch.empty_like()" and "x.new_empty()": of nothing.
bool IsEmptyCall(const std::vector<Token>& tokens) {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const std::string_view name = tokens[i].text;
    if (name != "empty_like" && name != "new_empty" && name != "empty") continue;
    if (tokens[i + 1].text != "(") continue;
    if (tokens[i + 2].text == ")") return true;
    const bool keyword = i + 3 < tokens.size() && tokens[i + 3].text == "=";
    if (name == "empty_like" && keyword && tokens[i + 2].text != "input") {
      const size_t end = BehindBracket(tokens, i + 1);
      bool input = false;
      for (size_t k = i + 2; k < end; ++k)
        input = input || tokens[k].text == "input" || tokens[k].text == "*";
      if (!input) return true;
    }
  }
  return false;
}

BodyLine BodyLineOf(const Statement& statement, const NameSet& kernels) {
  BodyLine line;
  line.statement = &statement;
  line.launch = LaunchOf(statement.text);
  line.problem = line.launch.problem;
  line.makes = NameSet(statement.makes.begin(), statement.makes.end());
  line.reads = NameSet(statement.reads.begin(), statement.reads.end());
  if (IsLaunchOf(statement, kernels)) {
    line.part = LinePart::kLaunch;
    line.launch.kernel = statement.reads[0];
  }
  if (!line.problem.empty()) return line;
  const PythonLines read = LogicalLines(statement.text);
  line.doubtful = read.lines.size() != 1;
  if (line.doubtful) return line;
  const NamesOfLine names = NamesOf(read.lines[0]);
  line.reads = NameSet(names.reads.begin(), names.reads.end());
  line.makes = NameSet(names.binds.begin(), names.binds.end());
  if (line.part == LinePart::kLaunch) return line;
  if (IsEmptyCall(read.lines[0].tokens)) line.problem = "memory of no size";
  const std::string& text = statement.text;
  const auto has = [&](std::string_view part) { return Has(text, part); };
  constexpr std::string_view kMakers[] = {"zeros", "ones", "full(", "new_", "_like("};
  constexpr std::string_view kSizes[] = {".shape", ".size(", ".stride(", ".numel(", "len("};
  if (line.makes.empty()) return line;
  if (has("empty"))
    line.part = LinePart::kMemory;
  else if (std::ranges::none_of(kMakers, has) && std::ranges::none_of(kSizes, has))
    line.part = LinePart::kView;
  return line;
}

// The code in front of forward without `kernels`, and what is behind it.
std::string OutsideOf(const std::vector<Kernel>& kernels, const Forward& reply) {
  std::string text;
  size_t at = 0;
  for (const Kernel& kernel : kernels) {
    text += reply.head.substr(at, kernel.begin - at);
    at = kernel.end;
  }
  return text + reply.head.substr(std::min(at, reply.head.size())) + reply.tail;
}

bool Meet(const NameSet& a, const NameSet& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

// Whether a line that stays reads one of the names.
bool IsRead(const std::vector<BodyLine>& lines, const NameSet& names) {
  return std::ranges::any_of(
      lines, [&](const BodyLine& line) { return line.left && Meet(line.reads, names); });
}

// Whether a line that stays writes one of the names.
bool IsWritten(const std::vector<BodyLine>& lines, const NameSet& names) {
  return std::ranges::any_of(
      lines, [&](const BodyLine& line) { return line.left && Meet(line.writes, names); });
}

class Soundness {
 public:
  // Without `complete` a kernel stays whose memory one that goes would have written, too.
  Soundness(const PlainForward& plain, const KnownNames& known, const Forward& reply, bool complete)
      : known_(known), reply_(reply), complete_(complete), functions_(FunctionsOf(reply.head)) {
    for (const std::string& name : NamesBoundAtTop(reply.head)) bound_.insert(name);
    for (const Kernel& kernel : KernelsOf(reply.head, functions_)) {
      all_.push_back(kernel);
      // A function that is defined twice is the last one.
      kernels_[kernel.name] = all_.size() - 1;
    }
    const std::string head = OutsideOf(all_, reply);
    for (const Kernel& kernel : all_)
      ForOccurrences(head, kernel.name, [&](char) { unjudged_.insert(kernel.name); });
    ReadPlain(plain);
    ReadBody();
  }

  void Run(const std::vector<LeftOut>& wrong) {
    for (const LeftOut& kernel : wrong)
      if (kernel.kernel != kReplay) LeaveOut(kernel.kernel, kernel.why);
    for (const Kernel& kernel : all_)
      if (!kernel.problem.empty()) LeaveOut(kernel.name, kernel.problem);
    for (const auto& [name, index] : kernels_)
      if (IsLaunched(name) && !all_[index].stores) LeaveOut(name, "it stores nothing");
    for (BodyLine& line : lines_) CheckAlone(&line);
    for (changed_ = true; changed_;) {
      changed_ = false;
      CheckNames();
      CheckMemory();
    }
    LeaveCounts();
  }

  bool HasLaunches() const {
    return std::ranges::any_of(
        lines_, [](const BodyLine& line) { return line.left && line.part == LinePart::kLaunch; });
  }

  size_t Unsound() const { return list_.size(); }

  std::vector<std::string> Launched() const {
    std::vector<std::string> names;
    for (const BodyLine& line : lines_) {
      const std::string& name = line.launch.kernel;
      if (line.left && line.part == LinePart::kLaunch && IsJudged(name) &&
          std::ranges::find(names, name) == names.end())
        names.push_back(name);
    }
    return names;
  }

  std::vector<LeftOut> Take(Forward* reply) {
    if (out_.empty() && std::ranges::all_of(lines_, &BodyLine::left)) return {};
    std::vector<Statement> body;
    for (const BodyLine& line : lines_)
      if (line.left) body.push_back(*line.statement);
    for (size_t i = all_.size(); i-- > 0;)
      if (out_.contains(all_[i].name))
        reply->head.erase(all_[i].begin, all_[i].end - all_[i].begin);
    reply->body = std::move(body);
    return std::move(list_);
  }

 private:
  bool IsLaunched(const std::string& name) const {
    return std::ranges::any_of(lines_, [&](const BodyLine& line) {
      return line.part == LinePart::kLaunch && line.launch.kernel == name;
    });
  }

  bool IsJudged(const std::string& name) const {
    return kernels_.contains(name) && !unjudged_.contains(name);
  }

  void ReadPlain(const PlainForward& plain) {
    for (const auto& [name, text] : plain.names) {
      plain_.insert(name);
      if (text.starts_with("self") && !Has(text, ".shape")) modules_[name] = text;
    }
    const auto base = ForwardOf(plain.code);
    if (!base) return;
    for (std::string& name : NamesBoundAtTop(base->head)) plain_.insert(std::move(name));
    for (const Statement& statement : base->body)
      for (const std::string& name : statement.makes) {
        plain_.insert(name);
        const std::string prefix = name + " = self";
        if (statement.makes.size() == 1 && statement.text.starts_with(prefix + ".") &&
            !Has(statement.text, "("))
          modules_.emplace(name, statement.text.substr(name.size() + 3));
      }
    paths_ = WrittenOut(plain.code, modules_);
  }

  void ReadBody() {
    for (const Statement& statement : reply_.body) {
      BodyLine line = BodyLineOf(statement, functions_);
      if (line.part == LinePart::kLaunch) {
        const auto kernel = kernels_.find(line.launch.kernel);
        if (kernel == kernels_.end()) {
          line.writes = line.reads;
        } else if (all_[kernel->second].problem.empty()) {
          line.writes = WrittenBy(line.launch, all_[kernel->second]);
        } else {
          // Its text does not tell; memory that a launch before it writes is what it reads.
          line.writes = line.reads;
          for (const BodyLine& before : lines_)
            if (before.part == LinePart::kLaunch)
              for (const std::string& name : before.writes) line.writes.erase(name);
        }
      } else {
        made_.insert(line.makes.begin(), line.makes.end());
        const bool in_place = line.makes.empty() || line.doubtful || Has(statement.text, "_(") ||
                              Has(statement.text, "out=") || Meet(line.reads, functions_);
        if (in_place && line.part != LinePart::kMemory) line.writes = line.reads;
      }
      lines_.push_back(std::move(line));
    }
    for (const BodyLine& line : lines_)
      if (line.part == LinePart::kView)
        for (const std::string& name : line.reads)
          if (made_.contains(name)) Join(name, line.makes);
  }

  // Names that may stand for one memory have one set.
  void Join(const std::string& name, const NameSet& others) {
    NameSet all = others;
    all.insert(name);
    for (const std::string& one : NameSet(all)) all.merge(NameSet(Sharing(one)));
    for (const std::string& one : all) sharing_[one] = all;
  }

  NameSet Sharing(const std::string& name) const {
    const auto found = sharing_.find(name);
    return found == sharing_.end() ? NameSet{name} : found->second;
  }

  // Returns the names of memory that the reply makes and the launch writes.
  NameSet Written(const BodyLine& line) const {
    NameSet written;
    for (const std::string& name : line.writes)
      if (made_.contains(name)) written.merge(Sharing(name));
    return written;
  }

  void LeaveOut(const std::string& kernel, const std::string& why) {
    if (!IsJudged(kernel) || !out_.insert(kernel).second) return;
    changed_ = true;
    list_.push_back({kernel, why});
    NameSet written;
    for (BodyLine& line : lines_) {
      if (line.part != LinePart::kLaunch || line.launch.kernel != kernel) continue;
      line.left = false;
      written.merge(Written(line));
    }
    for (const std::string& name : written)
      if (complete_ || !IsWritten(lines_, {name})) lost_.insert(name);
    // Without the kernel its memory is not whole, and its makers go, too.
    for (BodyLine& line : lines_) {
      if (!line.left || !Meet(line.makes, lost_)) continue;
      // A view of what the plain forward makes stays.
      const bool view = line.part == LinePart::kView && Meet(line.reads, lost_);
      if (view && std::ranges::none_of(line.reads, [&](const std::string& name) {
            return lost_.contains(name) && !plain_.contains(name);
          }))
        continue;
      Drop(&line, "", fmt::format(" is of {}, which was left out", kernel));
    }
  }

  // A statement that is no launch.
  void Drop(BodyLine* line, const std::string& before_name, const std::string& behind) {
    line->left = false;
    changed_ = true;
    for (const std::string& name : line->makes)
      if (!plain_.contains(name)) gone_.emplace(name, before_name + name + behind);
  }

  void CheckAlone(BodyLine* line) {
    if (line->part != LinePart::kLaunch) {
      if (line->problem.empty()) return;
      Drop(line, "", " is not there: " + line->problem);
      no_memory_.insert(line);
      if (line->part == LinePart::kOther) list_.push_back({"", line->problem});
      return;
    }
    const std::string& name = line->launch.kernel;
    if (!IsJudged(name) || out_.contains(name)) return;
    if (!line->problem.empty()) return LeaveOut(name, line->problem);
    const std::string call = CallProblem(line->launch, all_[kernels_[name]]);
    if (!call.empty()) return LeaveOut(name, call);
    const std::string path = UnknownPath(line->launch, paths_, modules_);
    if (!path.empty()) LeaveOut(name, fmt::format("there is no {}", path));
  }

  std::string WhyNot(const std::string& name) const {
    const auto gone = gone_.find(name);
    if (gone == gone_.end()) return fmt::format("{} is not defined", name);
    return gone->second;
  }

  // Names that kernels and launches read, in order.
  void CheckNames() {
    NameSet known = bound_;
    for (const std::string& name : out_) known.erase(name);
    known.insert(Builtins().begin(), Builtins().end());
    known.insert(known_.in_kernels.begin(), known_.in_kernels.end());
    for (const auto& [name, index] : kernels_) {
      if (out_.contains(name) || !IsLaunched(name)) continue;
      const std::string undefined = UndefinedIn(all_[index], known);
      if (!undefined.empty()) LeaveOut(name, fmt::format("{} is not defined", undefined));
    }
    known.insert(known_.in_forward.begin(), known_.in_forward.end());
    known.insert(reply_.parameters.begin(), reply_.parameters.end());
    known.insert(plain_.begin(), plain_.end());
    std::map<std::string, std::string> without;  // memory: why there is none
    for (BodyLine& line : lines_) {
      std::string why;
      if (!line.doubtful)
        for (const std::string& name : line.reads)
          if (why.empty() && !known.contains(name)) why = WhyNot(name);
      if (line.part == LinePart::kLaunch) {
        for (const std::string& name : line.writes)
          if (why.empty() && without.contains(name)) why = without[name];
        if (line.left && !why.empty()) LeaveOut(line.launch.kernel, why);
        continue;
      }
      if (line.left && !why.empty()) {
        Drop(&line, "", " is not there: " + why);
        no_memory_.insert(&line);
      }
      for (const std::string& name : line.makes) {
        without.erase(name);
        if (!line.left && no_memory_.contains(&line))
          without[name] = fmt::format("{} has no memory", name);
        if (line.left) known.insert(name);
      }
    }
  }

  // Memory that nothing writes any more: the plain forward makes it, or its readers go. What one
  // kernel less writes is not whole.
  void CheckMemory() {
    for (const BodyLine& line : lines_)
      if (line.left && line.part == LinePart::kLaunch && Meet(Written(line), lost_))
        LeaveOut(line.launch.kernel, "it completes what another kernel writes that was left out");
    for (BodyLine& line : lines_) {
      if (!line.left || line.part != LinePart::kMemory) continue;
      NameSet names;
      for (const std::string& name : line.makes) names.merge(Sharing(name));
      if (!IsWritten(lines_, names)) Drop(&line, "nothing writes ", "");
    }
    // A view of the reply's own that only kernels read which are left out.
    for (BodyLine& line : lines_)
      if (!out_.empty() && line.left && line.part == LinePart::kView && line.writes.empty() &&
          !Meet(line.makes, plain_) && !IsRead(lines_, line.makes))
        Drop(&line, "nothing reads ", "");
  }

  // A batch norm that PyTorch computes counts its batches itself.
  void LeaveCounts() {
    for (BodyLine& line : lines_) {
      const std::string& text = line.statement->text;
      if (!text.ends_with(kCountsBatches)) continue;
      const std::string mean =
          text.substr(0, text.size() - kCountsBatches.size()) + ".running_mean";
      bool before = false, now = false;
      for (const BodyLine& other : lines_) {
        if (other.part != LinePart::kLaunch || !Has(other.statement->text, mean)) continue;
        before = true;
        now = now || other.left;
      }
      if (before && !now) line.left = false;
    }
  }

  const KnownNames& known_;
  const Forward& reply_;
  const bool complete_;
  const NameSet functions_;                     // of the reply, kernels and others
  NameSet bound_;                               // at its top
  std::vector<Kernel> all_;                     // in the code's order
  std::map<std::string, size_t> kernels_;       // of a name, in all_
  NameSet unjudged_;                            // something else than launches names them
  NameSet plain_;                               // what the plain forward makes
  std::map<std::string, std::string> modules_;  // short names
  std::string paths_;                           // the plain forward without short names
  std::vector<BodyLine> lines_;
  NameSet made_;                             // by the reply's statements
  std::map<std::string, NameSet> sharing_;   // names that share memory
  NameSet out_;                              // kernels that are left out
  NameSet lost_;                             // what they write
  std::map<std::string, std::string> gone_;  // names that nothing makes any more: why
  std::set<const BodyLine*> no_memory_;      // statements that fail
  std::vector<LeftOut> list_;
  bool changed_ = false;
};

// Takes "@replay" away where it is wrong for another reason, or where forward gets something that
// is no tensor. Returns why; "": it stays, or there is none.
std::string TakeReplay(const PlainForward& plain, const std::vector<LeftOut>& wrong,
                       Forward* reply) {
  constexpr std::string_view kDecorator = "    @replay\n";
  const size_t def = reply->head.rfind("    def forward(");
  if (def == std::string::npos) return "";
  if (!std::string_view(reply->head).substr(0, def).ends_with(kDecorator)) return "";
  const auto take = [&] { reply->head.erase(def - kDecorator.size(), kDecorator.size()); };
  if (const auto why = std::ranges::find(wrong, kReplay, &LeftOut::kernel); why != wrong.end()) {
    take();
    return why->why;
  }
  if (plain.inputs.empty()) return "";
  const PythonLines read = LogicalLines(std::string_view(reply->head).substr(def));
  if (read.lines.empty()) return "";
  const Parameters parameters = ParametersOf(read.lines[0]);
  if (!parameters.problem.empty() || parameters.star) return "";
  for (const Parameter& parameter : parameters.list) {
    if (parameter.name == "self" || plain.inputs.contains(parameter.name)) continue;
    take();
    return parameter.name + " is no tensor";
  }
  return "";
}

}  // namespace

SoundKernels TakeUnsoundKernels(const PlainForward& plain, const KnownNames& known,
                                const std::vector<LeftOut>& wrong, Forward* reply) {
  SoundKernels sound;
  const Forward before = *reply;
  for (const bool complete : {true, false}) {
    Soundness soundness(plain, known, before, complete);
    soundness.Run(wrong);
    if (complete) sound.unsound = soundness.Unsound();
    if (!soundness.HasLaunches()) continue;
    sound.launched = soundness.Launched();
    sound.left_out = soundness.Take(reply);
    break;
  }
  if (std::string why = TakeReplay(plain, wrong, reply); !why.empty())
    sound.left_out.push_back({std::string(kReplay), std::move(why)});
  return sound;
}

nlohmann::json ToJson(const std::vector<LeftOut>& left_out) {
  nlohmann::json list = nlohmann::json::array();
  for (const LeftOut& one : left_out) list.push_back({{"kernel", one.kernel}, {"why", one.why}});
  return list;
}

std::vector<LeftOut> LeftOutFromJson(const nlohmann::json& list) {
  std::vector<LeftOut> left_out;
  if (!list.is_array()) return left_out;
  for (const auto& one : list)
    if (one.is_object()) left_out.push_back({one.value("kernel", ""), one.value("why", "")});
  return left_out;
}

std::string LeftOutText(const std::vector<LeftOut>& left_out) {
  std::string text;
  for (const LeftOut& one : left_out) {
    if (!text.empty()) text += '\n';
    text +=
        fmt::format("{} was left out: {}.", one.kernel.empty() ? "A line" : one.kernel, one.why);
    if (!one.kernel.empty() && !one.kernel.starts_with('@')) text += " PyTorch computes its steps.";
  }
  return text;
}

}  // namespace davinci::agent
