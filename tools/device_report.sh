#!/usr/bin/env bash
# Measures on this machine's GPU what docs/results/*.md tell of it.
#
#   tools/device_report.sh OUT [section…]       default: skills agents backbone aa, about 6 minutes on an H200
#
#   judge     device time beside do_bench, CUPTI and events; twelve candidates of each of six tasks; small candidates (6 minutes)
#   verdicts  honest kernels, tasks against themselves, attacks on the device's clock (3 minutes)
#   fresh     1,000 comparisons of identical code, each a session and a process of its own in one batch (7 minutes)
#   laws      both laws of tests/corpus (5 minutes)
#   pairs     the teacher's kernels in Triton and CUDA C++ for random tasks, judged on all devices (DAVINCI_PAIRS tasks of seed DAVINCI_PAIRS_SEED)
#   teacher   tiles of fp32 products; the teacher's Triton kernels beside eager by do_bench, per family and rule (5 minutes)
#   training  gradients on the device, one step of SFT beside PyTorch's (8 minutes)
#   rl        ten steps of reinforcement, phase by phase (10 minutes); with two devices DAVINCI_RL_RANKS=2 uses both
#   scaling   data parallel over NCCL on two devices: equality with one, a rank that dies, tokens per second (6 minutes)
#   skills    evidence of the seed skills that have none (tools/measure_skills.sh; merge with its --merge)
#   agents    the recorded demo, the four strategies on the recordings, 48 rollouts at once
#   backbone  the embedded model against transformers: 25M, 135M; shapes of Qwen3; on two CPU cores meanwhile
#   aa        the judge's A/A while a model generates, on cuda and on cpu
#
# Writes OUT/<section>.tar.gz with the logs and JSON files, and OUT/summary.txt. Each part has a time limit of its own, so
# that one that hangs costs no other. Expects build/release with the embedded model and its probe:
#   cmake --preset release -DDAVINCI_WITH_TORCH=ON && ninja -C build/release davinci davinci_worker model_probe trainer_probe decode_kernels_check
# and DAVINCI_PYTHON: a Python with torch, Triton and (for comparisons) transformers.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
[[ -n ${1:-} && $1 != -* ]] || { echo "usage: tools/device_report.sh OUT [section…]" >&2; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd)
shift
[[ $# -gt 0 ]] || set -- skills agents backbone aa
build=${DAVINCI_BUILD:-build/release}
davinci=$build/apps/davinci/davinci
probe=$build/tests/model/model_probe
python=${DAVINCI_PYTHON:-python3}
target=${DAVINCI_REPORT_TARGET:-cuda}
export DAVINCI_PYTHON=$python PYTHONUNBUFFERED=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# part SECONDS NAME COMMAND…: its output in NAME.log, its end in the summary.
part() {
  local limit=$1 name=$2 begun=$SECONDS status=0
  shift 2
  mkdir -p "$(dirname "$work/$name")"
  # A function runs in a shell of its own, so that the limit ends it, too.
  local command=("$@")
  [[ $(type -t "$1") == function ]] && command=(bash -c '"$@"' bash "$@")
  timeout --signal=TERM --kill-after=5 "$limit" "${command[@]}" >"$work/$name.log" 2>&1 </dev/null || status=$?
  echo "$name: exit $status after $((SECONDS - begun)) s" | tee -a "$out/summary.txt"
}

skills() {
  mapfile -t names < <(cut -d/ -f1 tests/skills/pending_evidence.txt | sort -u)
  [[ ${#names[@]} == 0 ]] || part 100 skills/measure tools/measure_skills.sh "$work/skills" --jobs 2 --seconds 90 "${names[@]}"
}

demo() {
  "$davinci" optimize "examples/$1.py" -t "$target" --recipe examples/recorded.toml --library skills \
    --llm "recorded:examples/replies_$target.jsonl" --set judge.verdict_cache=false --run "$work/run-$1" --json \
    >"$work/agents/demo-$1.json"
}
strategy() {
  "$davinci" bench --tasks examples -t "$target" --strategy "$1" --recipe examples/recorded.toml --library skills \
    --llm "recorded:examples/replies_$target.jsonl" --set judge.verdict_cache=false --samples 1 --run "$work/bench-$1" --json \
    >"$work/agents/strategy-$1.json"
  local status=$?
  "$davinci" runs show "$work/bench-$1" --stages
  return $status
}

agents() {
  # Side by side: exclusive leases keep timings apart, checks and compilers overlap.
  for name in davinci kevin best_of_n evolve; do part 110 "agents/strategy-$name" strategy "$name" & done
  wait
  part 60 agents/demo demo gated_gelu
  part 150 agents/throughput "$python" bench/agents_throughput.py --davinci "$davinci" --target "$target" --tasks 12 \
    --samples 4 --turns 2 --latency 2 --minutes 2.2 --out "$work/agents/throughput.json"
}

backbone() {
  local bench=("$python" bench/backbone_bench.py --probe "$probe")
  # Two cores of their own; what the GPU needs of the host fits into the others.
  (part 150 backbone/cpu taskset -c 0,1 env OMP_NUM_THREADS=2 "${bench[@]}" --device cpu --shapes 25M,135M --batches 1,8 --dtypes bf16 \
    --json "$work/backbone/cpu.json") &
  local all
  all=2-$(($(nproc) - 1))
  part 60 backbone/check "$python" tests/gpu/decode_kernels_gpu.py "$build/tests/gpu/decode_kernels_check"
  part 60 backbone/decode "$python" tests/model/decode_gpu_test.py "$probe"
  part 40 backbone/tiles "$python" tests/gpu/decode_kernels_gpu.py "$build/tests/gpu/decode_kernels_check" --time
  part 40 backbone/attention "$python" tests/gpu/decode_kernels_gpu.py "$build/tests/gpu/decode_kernels_check" --time-attention
  part 90 backbone/profile "$python" bench/decode_profile.py --probe "$probe" --batches 1,64,256 --json "$work/backbone/profile.json"
  part 100 backbone/small taskset -c "$all" "${bench[@]}" --device cuda --prompt 512 --new 64 --shapes 25M,135M \
    --json "$work/backbone/small.json"
  part 30 backbone/aten taskset -c "$all" "${bench[@]}" --device cuda --prompt 512 --new 64 --shapes 25M,135M --batches 64,256 \
    --no-transformers --kernels none --json "$work/backbone/aten.json"
  part 75 backbone/large taskset -c "$all" "${bench[@]}" --device cuda --prompt 512 --new 64 --no-transformers \
    --shapes qwen3-1.7B,qwen3-4B,qwen3-14B --batches 1,64 --json "$work/backbone/large.json"
  wait
}

aa() {
  part 70 aa/cuda "$python" bench/aa_beside_generation.py --davinci "$davinci" --target cuda --shape 135M --comparisons 20 \
    --json "$work/aa/cuda.json"
  part 60 aa/cpu "$python" bench/aa_beside_generation.py --davinci "$davinci" --target cpu --comparisons 20 --json "$work/aa/cpu.json"
}

judge() {
  local numbers=("$python" bench/judge_numbers.py --davinci "$davinci" --target cuda --protocol screening)
  part 240 judge/agreement "$python" bench/time_agreement.py --davinci "$davinci" --repeat 10 \
    --repeated chain_134MB_autotuned,chain_16MB --without cuda-inline -j 4 --out "$work/judge/agreement.json"
  # Alone, as events are measured: other judgements take cores from a host that is on the clock.
  part 120 judge/latency "$python" bench/time_agreement.py --davinci "$davinci" --repeat 0 -j 1 --out "$work/judge/latency.json" \
    --only chain_1MB,chain_16MB,chain_134MB_autotuned,chain_512MB,gelu_256MB,rms_norm_8192x4096,rms_norm_32768x8192,softmax_2048x4096,gemv_associated,matmul_bf16_1024_vendor,cumsum_rows,host_bound_20x2_launches
  part 60 judge/step "${numbers[@]}" -j 8 --out "$work/judge/step.json" step
  part 60 judge/rate "${numbers[@]}" -j 8 --out "$work/judge/rate.json" rate --count 160
}

verdicts() {
  local corpus=("$python" tests/corpus/corpus.py run --davinci "$davinci" --target cuda --out "$work/verdicts/table.json")
  mkdir -p "$work/verdicts"
  part 150 verdicts/honest "${corpus[@]}" --only honest,self -j 8 --budget 140
  part 200 verdicts/attacks "${corpus[@]}" --only attacks --match 'attacks/A[567]' -j 6 --timeout 60
}

fresh() {
  mkdir -p "$work/fresh"
  part 420 fresh/aa "$python" bench/aa.py --davinci "$davinci" --target cuda --batch -j 14 --comparisons 1000 --out "$work/fresh/aa.jsonl"
  part 20 fresh/summary "$python" bench/aa.py --summary "$work/fresh/aa.jsonl"
}

laws() {
  local laws=("$python" tests/corpus/laws.py --library "$build/lib/libdavinci_worker.so" --target cuda -j 12 --threads 1 --no-tasks)
  mkdir -p "$work/laws"
  part 290 laws/one "${laws[@]}" --seeds 5 --budget 280 --out "$work/laws/one.jsonl"
  part 60 laws/two "${laws[@]}" --law 2 --seeds 1 --budget 55 --out "$work/laws/two.jsonl"
}

pairs() {
  local out=$work/pairs/demos
  mkdir -p "$work/pairs"
  part 30 pairs/write "$davinci" synth demos --count "${DAVINCI_PAIRS:-600}" --seed "${DAVINCI_PAIRS_SEED:-3001}" --language triton cuda \
    --level naive best --out "$out"
  part "${DAVINCI_PAIRS_SECONDS:-170}" pairs/judge "$davinci" judge --batch "$out/jobs.jsonl" --out "$out/results.jsonl" \
    -j "${DAVINCI_PAIRS_JOBS:-14}"
  part 20 pairs/table "$python" tests/teacher/pairs_table.py "$out" --out "$work/pairs/rows.jsonl"
}

teacher() {
  local demos=$work/teacher/demos files=() seed
  mkdir -p "$work/teacher"
  part 120 teacher/tiles "$python" bench/product_tiles.py --json "$work/teacher/tiles.jsonl"
  for seed in ${DAVINCI_TEACHER_SEEDS:-4002 4003}; do
    part 20 "teacher/write-$seed" "$davinci" synth demos --count "${DAVINCI_TEACHER:-180}" --seed "$seed" --language triton \
      --out "$demos-$seed"
    files+=("$demos-$seed/demos.jsonl")
  done
  part 215 teacher/speed "$python" tests/teacher/speed_candidates.py "${files[@]}" --device cuda --profile 0.95 --slice 0.01 --seconds 190 \
    --out "$work/teacher/speed.jsonl"
}

training() {
  local trainer=$build/tests/trainer/trainer_probe
  mkdir -p "$work/training"
  part 60 training/parity "$python" tests/trainer/parity_test.py "$trainer" cuda
  part 500 training/bench "$python" bench/train_bench.py --probe "$trainer" --device cuda --gradients --budget 400 \
    --json "$work/training/bench.json"
}

rl() {
  mkdir -p "$work/rl"
  part 600 rl/steps "$python" bench/rl_steps.py --davinci "$davinci" --device "$target" --ranks "${DAVINCI_RL_RANKS:-1}" \
    --in-flight 13 --rollouts 11 --budget 590 --out "$work/rl"
}

scaling() {
  mkdir -p "$work/scaling"
  part 150 scaling/equality "$python" tests/trainer/dist_test.py "$davinci" "$target"
  part 240 scaling/speed "$python" bench/train_bench.py --probe "$build/tests/trainer/trainer_probe" --device "$target" --ranks 2 \
    --shapes 25M,135M,qwen3-1.7B --budget 230 --json "$work/scaling/speed.json"
}

export -f demo strategy
export davinci target work
for section in "$@"; do
  case $section in
    skills | agents | backbone | aa | judge | verdicts | fresh | laws | pairs | teacher | training | rl | scaling) "$section" ;;
    *) echo "device_report: unknown section $section" >&2; exit 2 ;;
  esac
  (cd "$work" && tar --exclude='run-*' --exclude='bench-*' -czf "$out/$section.tar.gz" "$section")
done
cat "$out/summary.txt"
