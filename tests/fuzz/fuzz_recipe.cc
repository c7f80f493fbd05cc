// Recipes and overrides: the first line is an override, the rest is a recipe. What is read must
// come back from its dump.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/config/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line_end = std::min(text.find('\n'), text.size());
  auto recipe = Recipe::Parse(text.substr(std::min(line_end + 1, text.size())), "fuzz.toml");
  if (!recipe.ok()) return 0;
  (void)recipe->Override(text.substr(0, line_end)).ok();

  const auto read = [](const Recipe& from, std::string* dump) {
    RecipeReader reader(from);
    int trials = 1;
    double alpha = 0.5;
    std::string name = "x";
    std::vector<std::string> tags;
    reader.Read("judge.trials", &trials);
    reader.Read("judge.timing.alpha", &alpha);
    reader.Read("name", &name);
    reader.Read("judge.tags", &tags);
    const bool ok = reader.Finish().ok();
    *dump = reader.ResolvedToml();
    return ok;
  };
  std::string dump, again;
  if (!read(*recipe, &dump)) return 0;
  auto resolved = Recipe::Parse(dump, "resolved.toml");
  if (!resolved.ok() || !read(*resolved, &again) || again != dump) std::abort();
  return 0;
}
