#include "davinci/report/training_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "davinci/report/curve_plot.h"
#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

// A plot and the numbers of the log that it shows. A name that ends with "/" stands for all below
// it, a part "*" for any.
struct PlotSpec {
  std::string_view title;
  std::vector<std::string_view> names;
  bool from_zero = false;
};

const std::vector<PlotSpec>& Plots() {
  static const std::vector<PlotSpec> plots = {
      {"reward", {"reward/policy", "reward/best_of_rollout", "reward/selection", "reward/summary"}},
      {"share of judged turns",
       {"turns/correct", "turns/faster", "turns/decoys", "turns/judge_failed"},
       true},
      {"fast_p of tasks", {"fast_p/"}, true},
      {"held-out tasks: correct", {"held_out/*/correct/"}, true},
      {"held-out tasks: significantly faster", {"held_out/*/fast_1/"}, true},
      {"held-out tasks: faster by 1.2", {"held_out/*/fast_1.2/"}, true},
      {"held-out tasks: geometric mean of speedups", {"held_out/*/geomean/"}, true},
      {"loss", {"loss", "eval_loss", "loss/"}},
      {"loss by agent", {"agent_loss/"}},
      {"share of held-out tokens that the model finds likeliest", {"accuracy/"}},
      {"loss of held-out tokens by split", {"split_loss/"}},
      {"share of held-out tasks answered correctly", {"correct/"}, true},
      {"share of held-out tasks answered with a faster kernel", {"fast_1/"}, true},
      {"KL to the sampling policy", {"kl/"}, true},
      {"entropy of tokens, nats", {"entropy/"}, true},
      {"share of clipped tokens",
       {"clipped/policy/low", "clipped/policy/high", "clipped/policy/dual"},
       true},
      {"share accepted by mismatch and groups", {"accepted/", "groups/trained"}, true},
      {"gradient norm", {"gradient_norm", "critic/gradient_norm"}, true},
      {"critic: explained variance and gate", {"critic/explained_variance", "critic/gate"}},
      {"critic: mean value and return", {"critic/value", "critic/return"}},
      {"critic: loss", {"critic/loss"}, true},
      {"sampler and trainer, |difference of log-probabilities|",
       {"parity/mean", "parity/max"},
       true},
      {"reply length, tokens", {"replies/length"}, true},
      {"reply length by agent and turn, tokens", {"reply_length/"}, true},
      {"repetition by agent and turn", {"repetition/"}, true},
      {"drift of the first token by agent and turn", {"first_token_drift/"}, true},
      {"entropy by agent and turn, nats", {"reply_entropy/"}, true},
      {"skills in the library", {"library"}, true},
      {"skills of a step", {"skills/"}, true},
      {"phase times, seconds", {"seconds", "seconds/"}, true},
      {"idle share of a phase", {"idle/"}, true},
      {"tokens per second of training", {"tokens_per_second"}, true},
      {"model TFLOP/s of training", {"model_tflops"}, true},
      {"learning rate", {"learning_rate"}, true},
  };
  return plots;
}

bool Matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find("/*/");
  if (star == std::string_view::npos)
    return pattern.ends_with('/') ? name.starts_with(pattern) : name == pattern;
  if (!name.starts_with(pattern.substr(0, star + 1))) return false;
  const size_t slash = name.find('/', star + 1);
  return slash != std::string_view::npos &&
         Matches(pattern.substr(star + 3), name.substr(slash + 1));
}

Curve CurveOf(const TrainingView& view, const std::string& name) {
  Curve curve{name, {}};
  for (const TrainingPoint& point : view.points)
    if (const auto found = point.values.find(name); found != point.values.end())
      curve.points.emplace_back(static_cast<double>(point.step), found->second);
  return curve;
}

// What distinguishes a curve from the others of its plot: "policy" of "kl/policy".
std::string ShortName(const PlotSpec& plot, const std::string& name) {
  const bool same_folder = std::ranges::all_of(plot.names, [&](std::string_view other) {
    return other.substr(0, other.find('/')) == std::string_view(name).substr(0, name.find('/'));
  });
  constexpr std::string_view kFast = "fast_p/";
  if (name.starts_with(kFast)) return "fast_" + name.substr(kFast.size());
  // "greedy, style" of "held_out/greedy/correct/style".
  constexpr std::string_view kHeldOut = "held_out/";
  if (name.starts_with(kHeldOut)) {
    const std::string reading =
        name.substr(kHeldOut.size(), name.find('/', kHeldOut.size()) - kHeldOut.size());
    return reading + ", " + name.substr(name.rfind('/') + 1);
  }
  const size_t slash = same_folder ? name.rfind('/') : std::string::npos;
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

std::string PlotsHtml(const TrainingView& view, const std::set<std::string>& names) {
  std::string html;
  for (const PlotSpec& plot : Plots()) {
    std::vector<Curve> curves;
    for (const std::string_view pattern : plot.names)
      for (const std::string& name : names)
        if (Matches(pattern, name)) {
          curves.push_back(CurveOf(view, name));
          curves.back().name = ShortName(plot, name);
        }
    html += CurvePlot(std::string(plot.title), curves, plot.from_zero);
  }
  if (html.empty()) return "<p class=\"notice\">The log has no line yet.</p>\n";
  return "<h2>Curves</h2>\n<div class=\"curves\">\n" + html + "</div>\n";
}

std::string CardsHtml(const TrainingView& view) {
  constexpr std::array<std::pair<const char*, const char*>, 8> kShown = {{
      {"loss", "loss"},
      {"eval_loss", "evaluation loss"},
      {"accuracy/all", "accuracy of held-out tokens"},
      {"reward/policy", "reward"},
      {"turns/correct", "correct turns"},
      {"turns/faster", "faster turns"},
      {"critic/explained_variance", "explained variance"},
      {"library", "skills"},
  }};
  std::string html = "<div class=\"cards\">\n";
  html += Card(view.reinforcement ? "steps" : "updates",
               FormatCount(view.points.empty() ? 0 : view.points.back().step));
  for (const auto& [name, title] : kShown) {
    const Curve curve = CurveOf(view, name);
    if (curve.points.empty()) continue;
    const double first = curve.points.front().second;
    const double last = curve.points.back().second;
    html += Card(title, curve.points.size() > 1 ? fmt::format("{:.4g} → {:.4g}", first, last)
                                                : fmt::format("{:.4g}", last));
  }
  return html + "</div>\n";
}

// Every number of the log, plotted or not, in a form that needs no picture.
std::string NumbersHtml(const TrainingView& view, const std::set<std::string>& names) {
  std::string rows =
      "<div class=\"scroll\"><table><tr><th>number</th><th class=\"n\">first</th>"
      "<th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">last</th></tr>\n";
  for (const std::string& name : names) {
    const Curve curve = CurveOf(view, name);
    const auto [least, most] =
        std::ranges::minmax_element(curve.points, {}, [](const auto& p) { return p.second; });
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{:.4g}</td><td class=\"n\">{:.4g}</td>"
        "<td class=\"n\">{:.4g}</td><td class=\"n\">{:.4g}</td></tr>\n",
        EscapeHtml(name), curve.points.front().second, least->second, most->second,
        curve.points.back().second);
  }
  return "<h2>Numbers</h2>\n" + Folded("Every number of log.jsonl", rows + "</table></div>");
}

}  // namespace

std::string RenderTrainingHtml(const TrainingView& view) {
  std::set<std::string> names;
  for (const TrainingPoint& point : view.points)
    for (const auto& [name, value] : point.values) names.insert(name);
  std::string html = PageHead(view.title);
  html +=
      fmt::format("<h1>{}</h1>\n<p class=\"soft\">{} · run {}</p>\n", EscapeHtml(view.title),
                  view.reinforcement ? "reinforcement (davinci train)" : "supervised (davinci sft)",
                  EscapeHtml(view.folder));
  if (!view.finished) html += "<p class=\"notice\">This run has not reached its last step.</p>\n";
  html += CardsHtml(view);
  html += PlotsHtml(view, names);
  if (!names.empty()) html += NumbersHtml(view, names);
  html += SettingsHtml(view.settings);
  return html + "</body>\n</html>\n";
}

}  // namespace davinci::report
