#!/usr/bin/env bash
# Checks that the tests do not make.
#
#   tools/lint.sh [ruff] [mypy] [tidy] [thread-safety] [tidy-whole] [asan] [tsan]        default: the first four, minutes
#
#   ruff   Python, by [tool.ruff] of pyproject.toml        mypy   what [tool.mypy] lists, strictly typed
#   tidy   clang-tidy on the C++ lines that differ from $DAVINCI_BASE (default: origin/main, else the commit before); findings are errors,
#          those of -Wthread-safety included
#   tidy-whole   clang-tidy on all lines of all files (hours on two cores)
#   thread-safety   -Wthread-safety on all files with locks (base/mutex.h)
#   asan, tsan   the unit tests and the fuzz targets, sanitized: build/asan, build/tsan (about half an hour each on two cores)
#
# Exit status 77: a tool is missing (./test.sh installs ruff and mypy, this script clang-tidy, into .tools).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$DAVINCI_ROOT"
mkdir -p build
[[ $# -gt 0 ]] || set -- ruff mypy tidy thread-safety

# tool NAME: its path; 77 where there is none.
tool() {
  command -v ".tools/bin/$1" || command -v "$1" || {
    echo "skipped: $1 is not installed (./test.sh installs it into .tools)" >&2
    exit 77
  }
}

python_with_torch() { echo "${DAVINCI_PYTHON:-$(cat build/python_path 2>/dev/null || echo python3)}"; }

lint_ruff() { "$(tool ruff)" check --no-cache --quiet python tests tools bench; }
lint_mypy() { "$(tool mypy)" --python-executable "$(python_with_torch)" --cache-dir build/mypy; }

# clang-tidy by tools/tidy_changed.py with these arguments. The database names unity files, which name the sources.
run_tidy() {
  davinci_tools "$DAVINCI_TIDY"
  [[ -e build/dev/compile_commands.json ]] || cmake --preset dev >/dev/null
  # Texts of kernels, which sources include.
  ninja -C build/dev -t targets all | sed -n 's/^\([^/ ][^ ]*\.inc\): .*/\1/p' | xargs ninja -C build/dev >/dev/null
  "$(python_with_torch)" tools/tidy_changed.py "$@" --clang-tidy "$(tool clang-tidy)" --database build/dev/compile_commands.json
}

lint_tidy() {
  local base=${DAVINCI_BASE:-}
  # A new branch, and one that was pushed by force, name no commit of this history.
  git cat-file -e "$base^{commit}" 2>/dev/null || base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1)
  run_tidy --base "$base"
}

lint_tidy_whole() { run_tidy --whole; }
lint_thread_safety() { run_tidy --thread-safety; }

lint_sanitized() {
  davinci_setup
  davinci_build "$1"
  ctest --preset "$1" --parallel 2 --no-tests=error --output-junit "$DAVINCI_ROOT/build/$1/tests.xml"
  DAVINCI_SANITIZED=1 "$DAVINCI_PYTHON" tools/check_results.py "build/$1/tests.xml"
}

for what in "$@"; do
  case $what in
    ruff | mypy | tidy) "lint_$what" ;;
    thread-safety | tidy-whole) "lint_${what//-/_}" ;;
    asan | tsan) lint_sanitized "$what" ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
