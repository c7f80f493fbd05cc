#include "davinci/synth/gallery.h"

#include <fmt/format.h>

#include "davinci/report/html.h"
#include "davinci/report/html_style.h"
#include "davinci/report/html_text.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

using nlohmann::json;

constexpr size_t kMostCodeBytes = 24000;

std::string Counts(std::string_view title, const json& counts) {
  std::string rows;
  for (const auto& [name, count] : counts.items())
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>", report::EscapeHtml(name),
                        report::FormatCount(count.get<int64_t>()));
  return report::Folded(title, "<div class=\"scroll\"><table>" + rows + "</table></div>");
}

std::string Chips(const std::vector<std::string>& names) {
  std::string chips;
  for (const std::string& name : names)
    chips += fmt::format("<span class=\"chip\">{}</span>", report::EscapeHtml(name));
  return chips;
}

std::string Kernel(const json& candidate) {
  return fmt::format("<div><h3>{}</h3><p><b>{}</b></p><p>{}</p>{}</div>",
                     report::EscapeHtml(candidate["id"].get<std::string>()),
                     report::EscapeHtml(candidate.value("verdict", "not judged")),
                     Chips(candidate["rules"].get<std::vector<std::string>>()),
                     report::CodeBlock(candidate["source"].get<std::string>(), kMostCodeBytes));
}

}  // namespace

std::string RenderGallery(const std::vector<json>& rows, const json& manifest) {
  std::string page =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"><title>Synthetic tasks</title><style>";
  page += report::kStyle;
  page += "</style></head><body><h1>Synthetic tasks</h1>";
  page += fmt::format("<p class=\"soft\">split {}, seed {}, {} tasks; {} shown</p>",
                      report::EscapeHtml(manifest.value("split", "")),
                      manifest.value("seed", uint64_t{0}),
                      report::FormatCount(manifest["count"].get<int64_t>()), rows.size());
  const json& counts = manifest.contains("counts") ? manifest["counts"] : manifest;
  for (const char* key : {"families", "patterns", "operators", "styles", "precisions", "rejected",
                          "rules", "skills", "refused"})
    if (counts.contains(key)) page += Counts(key, counts[key]);
  for (const json& row : rows) {
    const json& synth = row["synth"];
    page += fmt::format("<h2>{}</h2><p>", report::EscapeHtml(row["id"].get<std::string>()));
    page += Chips({synth["family"], synth["style"], synth["precision"]});
    const auto operators = synth["operators"].get<std::vector<std::string>>();
    page += fmt::format("</p><p class=\"soft\">{}</p>", report::EscapeHtml(Join(operators, " → ")));
    // Columns as wide as a line of code, as many as the window holds.
    page +=
        "<div style=\"display:grid;grid-template-columns:repeat(auto-fit,minmax(34em,1fr));"
        "gap:1em\"><div>";
    page += report::CodeBlock(row["source"].get<std::string>(), kMostCodeBytes);
    page += report::Folded("sidecar",
                           report::CodeBlock(row["sidecar"].get<std::string>(), kMostCodeBytes));
    page += "</div>";
    for (const json& candidate : row.value("candidates", json::array())) page += Kernel(candidate);
    page += "</div>";
  }
  return page + "</body></html>\n";
}

}  // namespace davinci::synth
