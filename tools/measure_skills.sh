#!/usr/bin/env bash
# Measures the seed skills that have no evidence of their present files, and brings the results home.
#
#   tools/measure_skills.sh OUT [--target cuda|cpu] [--jobs N] [--seconds S] [SKILL...]
#   tools/measure_skills.sh --merge OUT
#
# The first form runs `davinci skills verify --missing --update` for every skill (or those named) and copies each evidence
# file, as soon as there is one, to OUT/evidence/<its path below skills/>; OUT/measure-N.log says what did not stand. It
# ends after S seconds at the latest (default 280); run again with the same OUT, it continues with what is missing.
# The second form copies OUT/evidence into skills/, where the evidence belongs to the files that lie there; the rest it names.
# Expects a built davinci (DAVINCI, else build/release, else build/dev).
set -uo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit 2

merge() {
  local from=$1/evidence count=0
  [[ -d $from ]] || { echo "measure_skills: no folder $from" >&2; return 2; }
  while IFS= read -r -d '' file; do
    local to=skills/${file#"$from/"}
    # The folder of the example is that of evidence/<target>.json.
    if [[ -f $(dirname "$(dirname "$to")")/example.toml ]]; then
      mkdir -p "$(dirname "$to")" && cp "$file" "$to.part" && mv "$to.part" "$to" && count=$((count + 1))
    else
      echo "measure_skills: $to: no such example any more; left out" >&2
    fi
  done < <(find "$from" -name '*.json' -print0)
  echo "$count evidence files merged"
  # What has evidence now is pending no more.
  local pending=tests/skills/pending_evidence.txt line
  [[ -f $pending ]] || return 0
  while IFS= read -r line; do
    [[ -d skills/$line && -z $(find "skills/$line/evidence" -name '*.json' 2>/dev/null) ]] && echo "$line"
  done <"$pending" >"$pending.part"
  mv "$pending.part" "$pending"
}

if [[ ${1:-} == --merge ]]; then
  [[ $# == 2 ]] || { echo "usage: tools/measure_skills.sh --merge OUT" >&2; exit 2; }
  merge "$2"
  exit
fi

out=${1:-}
[[ -n $out && $out != -* ]] || { echo "usage: tools/measure_skills.sh OUT [--target cuda|cpu] [--jobs N] [--seconds S] [SKILL...]" >&2; exit 2; }
shift
target=cuda jobs=2 seconds=280 names=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --target) target=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    -*) echo "measure_skills: unknown option $1" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done
davinci=${DAVINCI:-}
for candidate in build/release/apps/davinci/davinci build/dev/apps/davinci/davinci; do
  [[ -z $davinci && -x $candidate ]] && davinci=$candidate
done
[[ -n $davinci ]] || { echo "measure_skills: build davinci first (./quickstart.sh), or set DAVINCI" >&2; exit 2; }

mkdir -p "$out/evidence"
merge "$out" # what an earlier call measured
stamp=$out/.started
touch "$stamp"
if [[ ${#names[@]} == 0 ]]; then
  for folder in skills/*/; do
    grep -qs "^target = \"$target\"" "$folder"example.toml "$folder"examples/*/example.toml && names+=("$(basename "$folder")")
  done
fi
collect() {
  while IFS= read -r -d '' file; do
    local to=$out/evidence/${file#skills/}
    [[ $to -nt $file ]] && continue
    mkdir -p "$(dirname "$to")" && cp "$file" "$to.part" && mv "$to.part" "$to"
  done < <(find skills -path '*/evidence/*.json' -newer "$stamp" -print0)
}
trap collect EXIT
# Round robin: each process starts one judge. Exclusive leases keep timings apart; checks and compilers overlap.
pids=()
for ((j = 0; j < jobs; ++j)); do
  mine=()
  for ((i = j; i < ${#names[@]}; i += jobs)); do mine+=("${names[i]}"); done
  [[ ${#mine[@]} == 0 ]] && continue
  timeout --signal=TERM --kill-after=5 "$seconds" "$davinci" skills verify --target "$target" --missing --update "${mine[@]}" \
    >"$out/measure-$j.log" 2>&1 </dev/null &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  while kill -0 "$pid" 2>/dev/null; do
    sleep 5
    collect
  done
done
collect
cat "$out"/measure-*.log
left=$(find skills -name example.toml -print0 | xargs -0 grep -ls "^target = \"$target\"" | while read -r toml; do
  [[ -f $(dirname "$toml")/evidence/$target.json ]] || echo "$(dirname "${toml#skills/}")"; done)
echo "$(find "$out/evidence" -name '*.json' | wc -l) evidence files under $out/evidence"
[[ -z $left ]] && exit 0
echo "without evidence:"
echo "$left"
exit 1
