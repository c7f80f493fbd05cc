#include "davinci/agent/plain_forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "davinci/agent/python_statements.h"
#include "davinci/agent/step_memory.h"

namespace davinci::agent {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n'; }

// Launches behind kernels, and what they need, become the first lines of forward. Constants stay
// where kernels see them. Returns whether there are launches.
bool TakeLaunches(const std::set<std::string>& kernels, Forward* forward) {
  const std::vector<TopStatement> top = TopStatements(forward->head);
  const auto launches = [&](const TopStatement& one) { return IsLaunchOf(one.statement, kernels); };
  if (std::ranges::none_of(top, launches)) return false;
  std::vector<Statement> taken;
  for (size_t i = top.size(); i-- > 0;) {
    if (top[i].statement.reads.empty()) continue;
    taken.push_back(top[i].statement);
    forward->head.erase(top[i].begin, top[i].end - top[i].begin);
  }
  std::ranges::reverse(taken);
  std::erase_if(forward->body, [](const Statement& statement) {
    return statement.text == "..." || statement.text == "pass";
  });
  forward->body.insert(forward->body.begin(), taken.begin(), taken.end());
  return true;
}

bool CountsBatches(const Statement& statement) {
  return statement.makes.empty() && statement.text.ends_with(kCountsBatches);
}

class Filler {
 public:
  Filler(const PlainForward& plain, const Forward& base, const Forward& reply,
         std::set<std::string> kernels)
      : base_(base),
        reply_(reply),
        kernels_(std::move(kernels)),
        inputs_(plain.inputs),
        made_(reply.parameters) {
    for (const auto& [name, text] : plain.names) names_[name] = text;
    for (size_t i = 0; i < base.body.size(); ++i)
      for (const std::string& name : base.body[i].makes) makers_[name].push_back(i);
  }

  std::string Run() {
    const bool whole = std::ranges::any_of(reply_.body, &Statement::returns);
    if (!whole)
      for (const std::string& name : reply_.parameters)
        if (inputs_.contains(name)) filled_.insert(name);
    for (const Statement& statement : reply_.body)
      if (IsLaunch(statement)) arguments_.merge(ArgumentsOf(statement.text));
    // The module's lines count the batches of batch norms for kernels, too, where they count any.
    const bool counts = std::ranges::any_of(base_.body, CountsBatches);
    for (const Statement& statement : reply_.body)
      if (whole || !(IsOfTheModule(statement) || (counts && CountsBatches(statement))))
        Add(statement, true);
    if (!whole)
      for (const Statement& statement : base_.body)
        if (statement.returns || CountsBatches(statement)) Add(statement, false);
    return text_;
  }

 private:
  bool IsLaunch(const Statement& statement) const { return IsLaunchOf(statement, kernels_); }

  // It makes what the plain forward makes, and is no memory that a kernel gets.
  bool IsOfTheModule(const Statement& statement) const {
    if (statement.makes.empty() || AssignmentOf(statement.text) == std::string::npos) return false;
    const bool memory = statement.text.find("empty") != std::string::npos;
    return std::ranges::all_of(statement.makes, [&](const std::string& name) {
      return name == "_" || names_.contains(name) ||
             (makers_.contains(name) && !(memory && arguments_.contains(name)));
    });
  }

  // In front of it what it reads.
  void Add(const Statement& statement, bool of_reply) {
    for (const std::string& name : statement.reads) Make(name);
    // Memory that is made like a tensor gets the order of its axes, too.
    for (const std::string& name : statement.reads)
      if (of_reply && arguments_.contains(name) && filled_.erase(name) > 0)
        Line(fmt::format("{0} = {0}.contiguous()", name));
    Line(statement.text);
    for (const std::string& name : statement.makes) {
      made_.insert(name);
      if (of_reply) filled_.erase(name);
    }
  }

  void Make(const std::string& name) {
    if (made_.contains(name)) return;
    if (const auto known = names_.find(name); known != names_.end()) {
      made_.insert(name);
      Statement statement{name + " = " + known->second, {}, {}};
      Describe(&statement);
      Add(statement, false);
      return;
    }
    const auto makers = makers_.find(name);
    if (makers == makers_.end()) return;
    made_.insert(name);
    for (const size_t maker : makers->second) {
      if (!used_.insert(maker).second) continue;
      const Statement& statement = base_.body[maker];
      for (const std::string& other : statement.makes)
        if (std::islower(static_cast<unsigned char>(other[0])) != 0) filled_.insert(other);
      Add(statement, false);
    }
  }

  // Names that are whole arguments of a launch: "t2", not "A" of "A * B".
  static std::set<std::string> ArgumentsOf(const std::string& launch) {
    std::set<std::string> names;
    ForNames(launch, [&](std::string_view name, int, size_t begin, size_t end) {
      size_t before = begin, after = end;
      while (before > 0 && IsSpace(launch[before - 1])) --before;
      while (after < launch.size() && IsSpace(launch[after])) ++after;
      const bool left = before > 0 && (launch[before - 1] == '(' || launch[before - 1] == ',');
      const bool right = after < launch.size() && (launch[after] == ')' || launch[after] == ',');
      if (left && right) names.emplace(name);
    });
    return names;
  }

  void Line(const std::string& text) {
    for (const std::string_view line : LinesOf(text))
      text_ += reply_.indent + std::string(line) + "\n";
  }

  const Forward &base_, &reply_;
  const std::set<std::string> kernels_;
  const std::set<std::string>& inputs_;
  std::map<std::string, std::string> names_;
  std::map<std::string, std::vector<size_t>> makers_;  // statements of the base, by name
  std::set<std::string> made_;
  std::set<std::string> arguments_;  // of launches
  std::set<size_t> used_;
  std::set<std::string> filled_;  // tensors of the module that need not be contiguous
  std::string text_;
};

// The reply's forward takes what the module's takes.
void TakeSignature(const Forward& base, Forward* reply) {
  constexpr std::string_view kDef = "    def forward(";
  const size_t own = reply->head.rfind(kDef), from = base.head.rfind(kDef);
  if (own == std::string::npos || from == std::string::npos) return;
  reply->head.replace(own, std::string::npos, base.head, from);
  reply->parameters = base.parameters;
}

// Functions of the plain forward's code that `body` calls and the reply does not have.
std::string MissingFunctions(const Forward& base, const Forward& reply, const std::string& body) {
  const std::string functions = base.head.substr(0, base.head.rfind("class "));
  std::set<std::string> missing;
  for (std::string& name : NamesBoundAtTop(functions)) missing.insert(std::move(name));
  for (const std::string& name : NamesBoundAtTop(reply.head)) missing.erase(name);
  bool called = false;
  ForNames(body, [&](std::string_view name, int, size_t, size_t) {
    called = called || missing.contains(std::string(name));
  });
  return called ? functions : "";
}

std::string Filled(const PlainForward& plain, const std::string& code, const KnownNames* known,
                   const std::vector<LeftOut>& wrong, SoundKernels* sound) {
  const auto base = ForwardOf(plain.code);
  auto reply = ForwardOf(code);
  if (!base || !reply) return code;
  const std::set<std::string> kernels = FunctionsOf(code);
  const bool taken = TakeLaunches(kernels, &*reply);
  if (known != nullptr && taken && std::ranges::none_of(reply->body, &Statement::returns)) {
    TakeSignature(*base, &*reply);
    MendStepMemory(plain, &*reply);
    *sound = TakeUnsoundKernels(plain, *known, wrong, &*reply);
  }
  const std::string body = Filler(plain, *base, *reply, kernels).Run();
  if (!plain.one_shape.empty()) reply->head += reply->indent + plain.one_shape + "\n";
  return MissingFunctions(*base, *reply, body) + reply->head + body + reply->tail;
}

}  // namespace

std::string FilledIn(const PlainForward& plain, const std::string& code) {
  return Filled(plain, code, nullptr, {}, nullptr);
}

std::string FilledIn(const PlainForward& plain, const KnownNames& known, const std::string& code,
                     SoundKernels* sound, const std::vector<LeftOut>& wrong) {
  return Filled(plain, code, &known, wrong, sound);
}

namespace {

// Batch norms count batches and follow their statistics: nothing else reads these.
bool IsOfBatchNorm(std::string_view text) {
  return text.ends_with(kCountsBatches) || text.ends_with(".running_mean") ||
         text.ends_with(".running_var");
}

}  // namespace

std::vector<std::string> WithoutPlainLines(const std::vector<std::string>& lines,
                                           const std::set<std::string>& plain,
                                           const std::set<std::string>& written) {
  std::vector<std::string> kept;
  for (const std::string& line : lines) {
    Statement statement{line, {}, {}};
    Describe(&statement);
    if (statement.returns) continue;
    const bool launch =
        !statement.reads.empty() && line.starts_with(statement.reads[0]) &&
        (line[statement.reads[0].size()] == '[' || line[statement.reads[0].size()] == '(');
    const bool effect = statement.makes.empty() ? !launch : line.find("_(") != std::string::npos;
    if (effect && !IsOfBatchNorm(line)) return lines;
    const bool of_plain = !statement.makes.empty() &&
                          std::ranges::all_of(statement.makes, [&](const std::string& name) {
                            return name == "_" || (plain.contains(name) && !written.contains(name));
                          });
    if (!of_plain) kept.push_back(line);
  }
  for (const std::string& name : written)
    if (name.find('.') != std::string::npos && !IsOfBatchNorm(name)) return lines;
  // A value that no kept line reads served the lines that are left out.
  std::set<std::string> read;
  for (size_t i = kept.size(); i-- > 0;) {
    Statement statement{kept[i], {}, {}};
    Describe(&statement);
    const auto is_read = [&](const std::string& name) { return read.contains(name); };
    if (!statement.makes.empty() && std::ranges::none_of(statement.makes, is_read))
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    else
      read.insert(statement.reads.begin(), statement.reads.end());
  }
  return kept;
}

}  // namespace davinci::agent
