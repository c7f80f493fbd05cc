#!/usr/bin/env bash
# Judges demonstrations of the teacher in lanes that share out the machine's cores, and makes one table of the verdicts.
#
#   tools/judge_pairs.sh OUT LANGUAGE COUNT SEED LANES [SECONDS]
#
# Lane i draws COUNT / LANES tasks with seed SEED + i and judges them on cores of its own. It resumes: verdicts in OUT stay. After SECONDS
# (default: none) lanes stop; the table is of what is judged by then. DAVINCI is the program (default: build/release, else build/dev).
set -euo pipefail
if (($# < 5)); then sed -n '2,8p' "$0" >&2; exit 2; fi
out=$1 language=$2 count=$3 seed=$4 lanes=$5 seconds=${6:-0}
root=$(cd "$(dirname "$0")/.." && pwd)
export DAVINCI_HOME=${DAVINCI_HOME:-$root}
davinci=${DAVINCI:-$root/build/release/apps/davinci/davinci}
[[ -x $davinci ]] || davinci=$root/build/dev/apps/davinci/davinci
mapfile -t cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
each=$((${#cores[@]} / lanes))
if ((each == 0)); then echo "$0: ${#cores[@]} cores for $lanes lanes" >&2; exit 2; fi
for ((lane = 0; lane < lanes; ++lane)); do
  folder=$out/lane-$lane
  [[ -s $folder/jobs.jsonl ]] ||
    "$davinci" synth demos --count $((count / lanes)) --seed $((seed + lane)) --language "$language" --out "$folder" >/dev/null
  own=$(IFS=,; echo "${cores[*]:lane * each:each}")
  # Both signals of timeout: the judge ends its runners on the first.
  taskset -c "$own" timeout --kill-after=20 "$seconds" \
    "$davinci" judge --batch "$folder/jobs.jsonl" --out "$folder/results.jsonl" -j 1 >/dev/null 2>"$folder/log" &
done
wait || true
mkdir -p "$out/all"
cat "$out"/lane-*/demos.jsonl >"$out/all/demos.jsonl"
cat "$out"/lane-*/results.jsonl >"$out/all/results.jsonl"
"$davinci" synth demos --out "$out/all" --table
