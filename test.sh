#!/usr/bin/env bash
# Installs what is missing, builds and runs every test that needs no GPU. Arguments go to ctest:
#   ./test.sh -L unit          one tier           ./test.sh -R Table           by name
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_tools
davinci_build dev

say "testing"
# The long tests first, so that none is left alone at the end: seconds of an earlier run, in CTest's own format.
if [[ ! -e build/dev/Testing/Temporary/CTestCostData.txt ]]; then
  mkdir -p build/dev/Testing/Temporary
  cp tests/cost_data.txt build/dev/Testing/Temporary/CTestCostData.txt
fi
status=0
rm -f build/dev/tests.xml
# Five at a time for two cores: most wait for their turn to be timed, a time limit or a connection. With three, cores idle for a fifth of
# the time.
ctest --preset dev --parallel "$(test_jobs)" --no-tests=error --output-junit "$DAVINCI_ROOT/build/dev/tests.xml" "$@" 9>&- || status=$?
# A test that is skipped checks nothing: only those that tools/expected_skips.txt names may be.
"$DAVINCI_PYTHON" tools/check_results.py build/dev/tests.xml || ((status)) || status=1
if ((status == 0)); then
  say "all tests passed"
else
  say "tests failed (ctest status $status); one test alone:  ./test.sh -R NAME -V"
fi
exit "$status"
