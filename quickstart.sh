#!/usr/bin/env bash
# From a fresh machine to a faster kernel: installs what is missing, builds, and optimises one example on the best target
# of this machine (CUDA when there is a GPU, else cpu). No language model: the expert writes the kernels, the judge compiles,
# checks and times them. Run it as often as you like; arguments go to davinci optimize.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_build release -DDAVINCI_BUILD_TESTS=OFF

DAVINCI=$DAVINCI_ROOT/build/release/apps/davinci/davinci
target=cpu
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then target=cuda; fi
# A run of its own each time, because a finished run would only be shown again.
SHOWCASE=(optimize examples/gated_gelu.py --target "$target" --llm expert --library skills --set judge.verdict_cache=false
  --run "build/quickstart/$(date +%Y%m%d-%H%M%S)")

say "davinci ${SHOWCASE[*]}"
exec "$DAVINCI" "${SHOWCASE[@]}" "$@" 9>&-
