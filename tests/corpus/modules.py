"""Everyday PyTorch modules, each one line or a few: what a judge must accept against itself (Law 1 of README.md).

``MODULES`` maps a name to a ``Module``; ``text(target)`` is a task file in KernelBench layout with the sizes of that target. ``cpu`` sizes
are judged in seconds on two cores, ``cuda`` sizes are those of a benchmark.
"""
import dataclasses
import textwrap

MODULES = {}


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    forward: str  # an expression, or statements that end with return
    inputs: dict  # name of the argument: expression
    state: dict  # attribute: expression, made in the constructor
    sizes: dict  # target: {global: number}
    precision: str = "fp32"
    mode: str = ""
    extra: str = ""  # what stands above the class
    asserts: bool = False  # its CUDA kernels assert that inputs are in its domain; a failed assertion ends the process' CUDA context

    def text(self, target):
        body = self.forward if "\n" in self.forward or self.forward.startswith("return") else "return " + self.forward
        lines = ["import math", "import torch", "import torch.nn as nn", "import torch.nn.functional as F", "from torch import rand, randint, randn", ""]
        lines += [f"{name} = {value}" for name, value in self.sizes[target].items()] + [textwrap.dedent(self.extra)]
        lines += ["class Model(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        self.{name} = {value}" if not name.startswith("buffer_") else
                  f"        self.register_buffer({name[7:]!r}, {value})" for name, value in self.state.items()]
        lines += ["", f"    def forward(self, {', '.join(self.inputs)}):", textwrap.indent(textwrap.dedent(body).strip(), " " * 8), ""]
        lines += ["def get_inputs():", f"    return [{', '.join(self.inputs.values())}]", "", "def get_init_inputs():", "    return []"]
        return "\n".join(lines) + "\n"

    def sidecar(self):
        return f'precision = "{self.precision}"\n' + (f'mode = "{self.mode}"\n' if self.mode else "")


def add(name, forward, inputs, cpu, cuda, state=None, **more):
    assert name not in MODULES, name
    inputs = {"x": inputs} if isinstance(inputs, str) else inputs
    MODULES[name] = Module(name, forward, inputs, state or {}, {"cpu": cpu, "cuda": cuda}, **more)


def rows(name, forward, cpu=(16, 32768), cuda=(4096, 32768), x="randn(R, N)", **more):
    add(name, forward, x, {"R": cpu[0], "N": cpu[1]}, {"R": cuda[0], "N": cuda[1]}, **more)


# --- one operator over a long axis -------------------------------------------------------------------------------------------------

for op in ("sum", "mean", "prod", "var", "std", "amax", "amin", "logsumexp", "cumsum", "cumprod", "softmax", "log_softmax", "argmax", "argmin",
           "logcumsumexp"):
    rows(f"{op}_32k", f"torch.{op}(x, -1)")
for op in ("sum", "mean", "cumsum", "softmax", "logsumexp"):
    rows(f"{op}_1m", f"torch.{op}(x, -1)", cpu=(2, 1 << 20), cuda=(256, 1 << 20))
for op in ("sum", "mean", "var", "prod", "cumsum", "cumprod", "softmax", "amax", "cummax"):
    rows(f"{op}_columns", f"torch.{op}(x, 0)" + (".values" if op == "cummax" else ""), cpu=(4096, 128), cuda=(32768, 4096))
rows("view_strided", "x[..., 1::2]", x="randn(R, N)")
rows("view_cropped", "x.narrow(-1, 4, x.shape[-1] - 8)[1:]", x="randn(R, N)")
rows("cumprod_uniform", "torch.cumprod(x, -1)", x="0.9 + 0.2 * rand(R, N)")
rows("cumprod_signs", "torch.cumprod(x, 1)", x="randn(R, N).sign() * (1 + 0.01 * rand(R, N))")
rows("cumsum_exclusive", "torch.cat((torch.zeros_like(x[:, :1]), x.cumsum(1)[:, :-1]), 1)")
rows("cumsum_reverse", "x.flip(1).cumsum(1).flip(1)")
rows("cumsum_masked", "(x * (x > 0)).cumsum(1)")
rows("cummin_rows", "x.cummin(1).values")
rows("diff_of_cumsum", "x.cumsum(1).diff(dim=1)")
rows("ema_by_cumsum", "(x * w).cumsum(1) / w.cumsum(0)".replace("w", "(1 + torch.arange(N, device=x.device, dtype=x.dtype))"), cpu=(16, 4096))
for p in (1, 2, 3, "float('inf')"):
    rows(f"norm_{p if isinstance(p, int) else 'inf'}_32k", f"torch.linalg.vector_norm(x, {p}, -1)")
rows("normalize_l2", "F.normalize(x, dim=-1)")
rows("normalize_l1", "x / x.abs().sum(-1, keepdim=True).clamp_min(1e-6)")
rows("standardize", "(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)")
rows("frobenius", "x / torch.norm(x)")
rows("mean_all", "x.mean()")
rows("sum_all_squares", "(x * x).sum()")
rows("mean_abs_dev", "(x - x.mean(-1, keepdim=True)).abs().mean(-1)")
rows("kurtosis", "d = x - x.mean(-1, keepdim=True)\nreturn (d ** 4).mean(-1) / (d ** 2).mean(-1) ** 2")
rows("rms", "x.pow(2).mean(-1).sqrt()")
rows("entropy", "p = torch.softmax(x, -1)\nreturn -(p * (p + 1e-9).log()).sum(-1)")
rows("sum_of_uniform", "x.sum(-1)", x="rand(R, N)")
rows("mean_of_mask", "x.mean(-1)", x="(rand(R, N) < 0.3).float()")
rows("sum_of_whole_numbers", "x.sum(-1)", x="randint(0, 10, (R, N)).float()")
rows("softmin", "F.softmin(x, dim=-1)")
rows("softmax_double", "torch.softmax(x, -1)", x="randn(R, N, dtype=torch.float64)", precision="fp64")
rows("sum_half", "x.sum(-1)", x="randn(R, N).half()", precision="fp16")
rows("mean_bf16", "x.mean(-1)", x="randn(R, N).bfloat16()", precision="bf16")
rows("softmax_bf16", "torch.softmax(x, -1)", x="randn(R, N).bfloat16()", precision="bf16")
rows("layer_norm_half", "F.layer_norm(x, (N,))", x="randn(R, N).half()", precision="fp16")
rows("median_rows", "x.median(-1).values", cpu=(16, 4097), cuda=(1024, 4097))
rows("sort_rows", "x.sort(-1).values", cpu=(16, 4096), cuda=(1024, 16384))
rows("topk_values", "x.topk(8, -1).values", cpu=(64, 4096), cuda=(4096, 16384))
rows("quantile", "torch.quantile(x, 0.9, dim=-1)", cpu=(16, 4096), cuda=(256, 16384))
rows("nansum", "torch.nansum(x, -1)")
rows("all_positive_product", "x.log().sum(-1).exp()", x="0.5 + rand(R, N)", cpu=(16, 1024), cuda=(4096, 1024))
add("dot_rows", "(x * y).sum(-1)", {"x": "randn(R, N)", "y": "randn(R, N)"}, {"R": 16, "N": 32768}, {"R": 4096, "N": 32768})
add("cosine_similarity", "F.cosine_similarity(x, y, dim=-1)", {"x": "randn(R, N)", "y": "randn(R, N)"}, {"R": 64, "N": 4096}, {"R": 8192, "N": 8192})
add("pairwise_distance", "F.pairwise_distance(x, y)", {"x": "randn(R, N)", "y": "randn(R, N)"}, {"R": 64, "N": 4096}, {"R": 8192, "N": 8192})

# --- pointwise ---------------------------------------------------------------------------------------------------------------------

POINTWISE = {
    "relu": "F.relu(x)", "leaky_relu": "F.leaky_relu(x, 0.1)", "gelu": "F.gelu(x)", "gelu_tanh": "F.gelu(x, approximate='tanh')", "silu": "F.silu(x)",
    "mish": "F.mish(x)", "softplus": "F.softplus(x)", "elu": "F.elu(x)", "selu": "F.selu(x)", "hardtanh": "F.hardtanh(x)", "softsign": "F.softsign(x)",
    "sigmoid": "torch.sigmoid(x)", "tanh": "torch.tanh(x)", "erf": "torch.erf(x)", "hardswish": "F.hardswish(x)", "logsigmoid": "F.logsigmoid(x)",
    "exp": "torch.exp(x)", "sin_cos": "torch.sin(x) * torch.cos(3 * x)", "rsqrt": "torch.rsqrt(x.abs() + 1e-3)", "log1p": "torch.log1p(x.abs())",
    "pow": "x.abs() ** 1.7", "cube": "x ** 3", "atan": "torch.atan(x)", "floor_mod": "torch.floor(x) + torch.remainder(x, 0.7)", "round": "torch.round(x * 8) / 8",
    "chain": "torch.tanh(F.softplus(x)) * x + 0.5 * torch.sin(x)", "new_gelu": "0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))",
    "logit": "torch.logit(torch.sigmoid(x), eps=1e-6)", "expm1": "torch.expm1(x)", "asinh": "torch.asinh(x)", "glu": "F.glu(x, -1)", "where": "torch.where(x > 0, x.sqrt(), x.exp())",
}
for op, form in POINTWISE.items():
    rows("pointwise_" + op, form, cpu=(64, 4096), cuda=(4096, 32768))

# --- norms -------------------------------------------------------------------------------------------------------------------------

image = dict(cpu={"B": 4, "C": 32, "S": 28}, cuda={"B": 64, "C": 64, "S": 256})
for kind, made in {"batch": "nn.BatchNorm2d(C)", "instance": "nn.InstanceNorm2d(C, affine=True)", "group": "nn.GroupNorm(8, C)"}.items():
    add(f"{kind}_norm_2d", "self.norm(x)", "randn(B, C, S, S)", state={"norm": made}, **image)
    add(f"{kind}_norm_offset", "self.norm(x)", "10 + randn(B, C, S, S)", state={"norm": made}, **image)
add("batch_norm_eval", "self.norm(x)", "randn(B, C, S, S)", state={"norm": "nn.BatchNorm2d(C)"}, mode="eval", **image)
add("layer_norm_3d", "self.norm(x)", "randn(B, C, S, S)", state={"norm": "nn.LayerNorm((C, S, S))"}, **image)
add("layer_norm_rows", "self.norm(x)", "randn(R, N)", {"R": 256, "N": 4096}, {"R": 32768, "N": 8192}, state={"norm": "nn.LayerNorm(N)"})
add("rms_norm", "self.norm(x)", "randn(R, N)", {"R": 256, "N": 4096}, {"R": 32768, "N": 8192}, state={"norm": "nn.RMSNorm(N)"})
add("weight_norm_linear", "self.f(x)", "randn(R, N)", {"R": 64, "N": 256}, {"R": 4096, "N": 4096},
    state={"f": "nn.utils.parametrizations.weight_norm(nn.Linear(N, N))"})
add("local_response_norm", "self.norm(x)", "randn(B, C, S, S)", state={"norm": "nn.LocalResponseNorm(5)"}, **image)
add("batch_norm_1d", "self.norm(x)", "randn(R, N)", {"R": 512, "N": 256}, {"R": 65536, "N": 4096}, state={"norm": "nn.BatchNorm1d(N)"})

# --- matrices ----------------------------------------------------------------------------------------------------------------------

two = {"a": "randn(M, K)", "b": "randn(K, N)"}
add("matmul", "a @ b", two, {"M": 256, "K": 512, "N": 256}, {"M": 4096, "K": 4096, "N": 4096})
add("matmul_long", "a @ b", two, {"M": 16, "K": 65536, "N": 16}, {"M": 256, "K": 524288, "N": 256})
add("matmul_whole", "a @ b", {"a": "randint(0, 4, (M, K)).float()", "b": "randint(0, 4, (K, N)).float()"}, {"M": 128, "K": 512, "N": 128},
    {"M": 4096, "K": 4096, "N": 4096})
add("matmul_positive", "a @ b", {"a": "rand(M, K)", "b": "rand(K, N)"}, {"M": 128, "K": 4096, "N": 128}, {"M": 4096, "K": 8192, "N": 4096})
add("matmul_mask", "a @ b", {"a": "(rand(M, K) < 0.5).float()", "b": "randn(K, N)"}, {"M": 128, "K": 512, "N": 128}, {"M": 4096, "K": 4096, "N": 4096})
add("matvec", "a @ v", {"a": "randn(M, K)", "v": "randn(K)"}, {"M": 512, "K": 4096}, {"M": 16384, "K": 32768})
add("batched", "torch.bmm(a, b)", {"a": "randn(B, M, M)", "b": "randn(B, M, M)"}, {"B": 16, "M": 96}, {"B": 128, "M": 512})
add("einsum", "torch.einsum('bijl,lk->bijk', a, b)", {"a": "randn(B, 8, 16, L)", "b": "randn(L, 64)"}, {"B": 4, "L": 128}, {"B": 64, "L": 2048})
add("tall_gram", "x.T @ x", "randn(R, N)", {"R": 16384, "N": 32}, {"R": 1048576, "N": 256})
add("outer_product", "x[:, None] * y[None]", {"x": "randn(N)", "y": "randn(N)"}, {"N": 1024}, {"N": 16384})
add("triangular_product", "torch.tril(torch.tril(a) @ torch.tril(b))", {"a": "randn(N, N)", "b": "randn(N, N)"}, {"N": 256}, {"N": 4096})
add("diagonal_product", "torch.diag(d) @ a", {"d": "randn(N)", "a": "randn(N, N)"}, {"N": 256}, {"N": 4096})
add("cdist", "torch.cdist(x, y)", {"x": "randn(R, D)", "y": "randn(R, D)"}, {"R": 256, "D": 64}, {"R": 8192, "D": 256})
add("cosine_matrix", "F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T", {"x": "randn(R, D)", "y": "randn(R, D)"}, {"R": 256, "D": 128}, {"R": 8192, "D": 512})
add("bilinear", "self.f(x, y)", {"x": "randn(R, D)", "y": "randn(R, D)"}, {"R": 64, "D": 32}, {"R": 2048, "D": 128}, state={"f": "nn.Bilinear(D, D, D)"})
add("matmul_double", "a @ b", {k: v.replace(")", ", dtype=torch.float64)") for k, v in two.items()}, {"M": 128, "K": 512, "N": 128},
    {"M": 2048, "K": 2048, "N": 2048}, precision="fp64")
add("matmul_bf16", "a @ b", {k: v + ".bfloat16()" for k, v in two.items()}, {"M": 256, "K": 1024, "N": 256}, {"M": 8192, "K": 8192, "N": 8192}, precision="bf16")
add("matmul_half", "a @ b", {k: v + ".half()" for k, v in two.items()}, {"M": 128, "K": 1024, "N": 128}, {"M": 8192, "K": 8192, "N": 8192}, precision="fp16")
add("addmm_chain", "torch.relu(torch.addmm(c, a, b)).sum(-1)", {**two, "c": "randn(N)"}, {"M": 256, "K": 256, "N": 256}, {"M": 4096, "K": 4096, "N": 4096})
add("power_iteration", "v = torch.ones_like(a[:, 0])\nfor _ in range(8):\n    v = a @ v\n    v = v / v.norm()\nreturn v @ a @ v", {"a": "rand(N, N)"}, {"N": 256}, {"N": 8192})

linear = dict(cpu={"R": 128, "D": 256}, cuda={"R": 4096, "D": 4096})
TAILS = {"gelu": "F.gelu(y)", "sum": "y.sum(-1, keepdim=True)", "logsumexp": "torch.logsumexp(y, -1)", "mean_sub": "y - y.mean(0)", "max_gelu": "F.gelu(y.amax(-1))",
         "swish_scale": "y * torch.sigmoid(y) * 2.0", "dropout_softmax": "torch.softmax(F.dropout(y, 0.2, False), -1)", "min_sub": "torch.minimum(y, y.new_tensor(0.5)) - 2.0",
         "group_norm": "F.group_norm(y, 8)", "mish_mish": "F.mish(F.mish(y))", "residual": "x + F.relu(y)", "clamp_tanh": "torch.tanh(y.clamp(-1, 1))"}
for tail, form in TAILS.items():
    add("linear_" + tail, f"y = self.f(x)\nreturn {form}", "randn(R, D)", state={"f": "nn.Linear(D, D)"}, **linear)

# --- convolutions with chains behind them ------------------------------------------------------------------------------------------

CONVOLUTIONS = {
    "1d": ("nn.Conv1d(C, C, 5, padding=2)", 1), "2d": ("nn.Conv2d(C, C, 3, padding=1)", 2), "3d": ("nn.Conv3d(C, C, 3)", 3),
    "grouped": ("nn.Conv2d(C, C, 3, groups=4)", 2), "depthwise": ("nn.Conv2d(C, C, 5, groups=C, padding=2)", 2), "dilated": ("nn.Conv2d(C, C, 3, dilation=3)", 2),
    "strided": ("nn.Conv2d(C, 2 * C, 3, stride=2)", 2), "pointwise": ("nn.Conv2d(C, 2 * C, 1)", 2), "asymmetric": ("nn.Conv2d(C, C, (3, 7), padding=(0, 3))", 2),
    "large": ("nn.Conv2d(C, C, 11, stride=4)", 2), "transposed_1d": ("nn.ConvTranspose1d(C, C, 5, stride=2)", 1),
    "transposed_2d": ("nn.ConvTranspose2d(C, C, 3, stride=2)", 2), "transposed_3d": ("nn.ConvTranspose3d(C, C, 3, stride=2)", 3),
    "transposed_grouped": ("nn.ConvTranspose2d(C, C, 4, groups=4)", 2), "transposed_dilated": ("nn.ConvTranspose2d(C, C, 3, dilation=2)", 2),
}
CONV_TAILS = ["y", "F.relu(y) + 0.5", "torch.tanh(y) * torch.sigmoid(y)", "F.gelu(y).flatten(2).mean(-1)", "F.softplus(y * 1.5).clamp(0, 2)",
              "torch.logsumexp(y, 1)", "F.hardswish(F.group_norm(y, 4))", "y.sub(y.mean()).div(y.std() + 1e-5)"]
SIZES = {1: ({"B": 8, "C": 32, "S": 512}, {"B": 64, "C": 128, "S": 16384}), 2: ({"B": 4, "C": 16, "S": 32}, {"B": 64, "C": 64, "S": 160}),
         3: ({"B": 2, "C": 8, "S": 14}, {"B": 16, "C": 32, "S": 48})}
for i, (name, (made, dims)) in enumerate(CONVOLUTIONS.items()):
    for tail in (CONV_TAILS[i % len(CONV_TAILS)], CONV_TAILS[(3 * i + 1) % len(CONV_TAILS)]):
        if f"conv_{name}" in MODULES:
            name += "_chain"
        add(f"conv_{name}", f"y = self.f(x)\nreturn {tail}", f"randn(B, C{', S' * dims})", *SIZES[dims], state={"f": made})
add("conv_half", "F.relu(self.f(x))", "randn(B, C, S, S).half()", *SIZES[2], state={"f": "nn.Conv2d(C, C, 3).half()"}, precision="fp16")
add("conv_unfold", "F.fold(F.unfold(x, 3, padding=1), (S, S), 3, padding=1)", "randn(B, C, S, S)", *SIZES[2])
add("conv_pool_stack", "self.f(x)", "randn(B, C, S, S)", *SIZES[2],
    state={"f": "nn.Sequential(nn.Conv2d(C, C, 3), nn.BatchNorm2d(C), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(C, C, 3), nn.ReLU())"}, mode="eval")
add("residual_block", "F.relu(x + self.b(F.relu(self.a(x))))", "randn(B, C, S, S)", *SIZES[2],
    state={"a": "nn.Sequential(nn.Conv2d(C, C, 3, padding=1, bias=False), nn.BatchNorm2d(C))", "b": "nn.Sequential(nn.Conv2d(C, C, 3, padding=1, bias=False), nn.BatchNorm2d(C))"})
add("inverted_residual", "x + self.f(x)", "randn(B, C, S, S)", *SIZES[2], mode="eval",
    state={"f": "nn.Sequential(nn.Conv2d(C, 4 * C, 1), nn.BatchNorm2d(4 * C), nn.ReLU6(), nn.Conv2d(4 * C, 4 * C, 3, padding=1, groups=4 * C), nn.ReLU6(), nn.Conv2d(4 * C, C, 1))"})
add("squeeze_excite", "x * torch.sigmoid(self.b(F.relu(self.a(x.mean((2, 3))))))[..., None, None]", "randn(B, C, S, S)", *SIZES[2],
    state={"a": "nn.Linear(C, C // 4)", "b": "nn.Linear(C // 4, C)"})
add("u_net_step", "y = F.relu(self.down(x))\nreturn torch.cat((x, self.up(y)), 1)", "randn(B, C, S, S)", *SIZES[2],
    state={"down": "nn.Conv2d(C, 2 * C, 2, stride=2)", "up": "nn.ConvTranspose2d(2 * C, C, 2, stride=2)"})

# --- pooling, resampling -----------------------------------------------------------------------------------------------------------

for op, form in {"max": "F.max_pool2d(x, 3, 2)", "max_dilated": "F.max_pool2d(x, 3, dilation=2)", "avg": "F.avg_pool2d(x, 3, 2, 1)", "adaptive": "F.adaptive_avg_pool2d(x, 7)",
                 "global": "x.mean((2, 3))", "lp": "F.lp_pool2d(x.abs(), 3, 2)", "bilinear": "F.interpolate(x, scale_factor=2, mode='bilinear')",
                 "bicubic": "F.interpolate(x, scale_factor=1.5, mode='bicubic')", "pixel_shuffle": "F.pixel_shuffle(x, 2)", "pad": "F.pad(x, (1, 2, 3, 4), mode='reflect')"}.items():
    add("pool_" + op, form, "randn(B, C, S, S)", {"B": 4, "C": 32, "S": 40}, {"B": 64, "C": 64, "S": 256})
add("pool_max_3d", "F.max_pool3d(x, 3)", "randn(B, C, S, S, S)", *SIZES[3])
add("pool_avg_1d", "F.avg_pool1d(x, 8, 2)", "randn(B, C, S)", *SIZES[1])

# --- losses ------------------------------------------------------------------------------------------------------------------------

pair = {"x": "randn(R, N)", "y": "randn(R, N)"}
LOSSES = {"mse": ("F.mse_loss(x, y)", pair), "l1": ("F.l1_loss(x, y)", pair), "huber": ("F.smooth_l1_loss(x, y)", pair),
          "cross_entropy": ("F.cross_entropy(x, y)", {"x": "randn(R, N)", "y": "randint(0, N, (R,))"}),
          "cross_entropy_smooth": ("F.cross_entropy(x, y, label_smoothing=0.1)", {"x": "randn(R, N)", "y": "randint(0, N, (R,))"}),
          "nll_rows": ("F.nll_loss(F.log_softmax(x, -1), y, reduction='none')", {"x": "randn(R, N)", "y": "randint(0, N, (R,))"}),
          "kl": ("F.kl_div(torch.log_softmax(x, -1), torch.softmax(y, -1), reduction='batchmean')", pair),
          "bce": ("F.binary_cross_entropy_with_logits(x, y)", {"x": "randn(R, N)", "y": "(rand(R, N) < 0.5).float()"}),
          "hinge": ("torch.mean(torch.clamp(1 - x * y, min=0))", {"x": "randn(R, N)", "y": "randint(0, 2, (R, N)).float() * 2 - 1"}),
          "triplet": ("F.triplet_margin_loss(x, y, z)", {**pair, "z": "randn(R, N)"}), "cosine": ("1 - F.cosine_similarity(x, y).mean()", pair),
          "info_nce": ("F.cross_entropy(F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T / 0.07, torch.arange(R, device=x.device))", pair)}
for op, (form, given) in LOSSES.items():
    add("loss_" + op, form, given, {"R": 256, "N": 512}, {"R": 8192, "N": 4096})

add("loss_bce_of_probabilities", "F.binary_cross_entropy(x, y)", {"x": "0.02 + 0.96 * rand(R, N)", "y": "(rand(R, N) < 0.5).float()"},
    {"R": 256, "N": 512}, {"R": 8192, "N": 4096}, asserts=True)

# --- gather and scatter ------------------------------------------------------------------------------------------------------------

table = dict(cpu={"V": 2048, "D": 64, "L": 512}, cuda={"V": 131072, "D": 512, "L": 65536})
add("embedding", "self.f(i)", {"i": "randint(0, V, (L,))"}, state={"f": "nn.Embedding(V, D)"}, **table)
add("embedding_bag", "self.f(i.view(-1, 8))", {"i": "randint(0, V, (L,))"}, state={"f": "nn.EmbeddingBag(V, D, mode='mean')"}, **table)
add("gather", "x.gather(1, i)", {"x": "randn(L, D)", "i": "randint(0, D, (L, 16))"}, **table)
add("scatter_add", "torch.zeros(V, D, device=x.device, dtype=x.dtype).index_add(0, i, x)", {"x": "randn(L, D)", "i": "randint(0, V, (L,))"}, **table)
add("segment_mean", "s = torch.zeros(V, D, device=x.device, dtype=x.dtype).index_add(0, i, x)\nreturn s / torch.bincount(i, minlength=V).clamp(min=1)[:, None]",
    {"x": "randn(L, D)", "i": "randint(0, V, (L,))"}, **table)
add("take_along", "torch.take_along_dim(x, x.argsort(-1), -1)", {"x": "randn(L, D)"}, **table)
add("one_hot_product", "F.one_hot(i, V).to(w.dtype) @ w", {"i": "randint(0, V, (L,))", "w": "randn(V, D)"}, {"V": 256, "D": 64, "L": 512}, {"V": 1024, "D": 512, "L": 8192})
add("lookup_by_level", "self.f((x * V).long()) * y", {"x": "rand(L)", "y": "randn(L, D)"}, state={"f": "nn.Embedding(V, D)"}, asserts=True, **table)
add("masked_fill", "x.masked_fill(m, -1e9).softmax(-1)", {"x": "randn(L, D)", "m": "rand(L, D) < 0.3"}, **table)
add("histogram", "torch.bincount(i, minlength=V)", {"i": "randint(0, V, (64 * L,))"}, **table)
add("searchsorted", "torch.searchsorted(x.cumsum(-1), y)", {"x": "rand(L, D)", "y": "rand(L, 8) * D / 2"}, **table)

# --- attention ---------------------------------------------------------------------------------------------------------------------

heads = {name: "randn(B, H, S, D)" for name in "qkv"}
sizes = dict(cpu={"B": 2, "H": 4, "S": 128, "D": 32}, cuda={"B": 32, "H": 32, "S": 512, "D": 128})
ATTENTION = {
    "sdpa": "F.scaled_dot_product_attention(q, k, v)", "sdpa_causal": "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "by_hand": "torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(D), -1) @ v", "unscaled": "torch.softmax(q @ k.transpose(-2, -1), -1) @ v",
    "causal_by_hand": "s = q @ k.mT / math.sqrt(D)\nm = torch.ones(S, S, dtype=torch.bool, device=q.device).tril()\nreturn s.masked_fill(~m, float('-inf')).softmax(-1) @ v",
    "linear": "p = F.elu(q) + 1\nr = F.elu(k) + 1\nreturn p @ (r.mT @ v) / (p @ r.sum(-2)[..., None] + 1e-6)",
    "alibi": "b = -torch.arange(S, device=q.device, dtype=q.dtype)\nreturn torch.softmax(q @ k.mT / math.sqrt(D) + b, -1) @ v",
    "relu": "F.relu(q @ k.mT / math.sqrt(D)) / S @ v", "sigmoid": "torch.sigmoid(q @ k.mT / math.sqrt(D)) @ v / S",
    "softcap": "torch.softmax(30 * torch.tanh(q @ k.mT / math.sqrt(D) / 30), -1) @ v", "cosine": "torch.softmax(10 * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT, -1) @ v",
    "window": "i = torch.arange(S, device=q.device)\nm = (i[:, None] - i).abs() < 16\nreturn F.scaled_dot_product_attention(q, k, v, attn_mask=m)",
}
for op, form in ATTENTION.items():
    add("attention_" + op, form, heads, **sizes)
add("attention_large_head", "F.scaled_dot_product_attention(q, k, v)", heads, {"B": 1, "H": 2, "S": 128, "D": 256}, {"B": 32, "H": 32, "S": 512, "D": 1024})
add("attention_grouped", "F.scaled_dot_product_attention(q, k.repeat_interleave(4, 1), v.repeat_interleave(4, 1))",
    {"q": "randn(B, 4 * H, S, D)", "k": "randn(B, H, S, D)", "v": "randn(B, H, S, D)"}, {"B": 2, "H": 2, "S": 128, "D": 32}, {"B": 16, "H": 8, "S": 1024, "D": 128})
add("attention_bf16", "F.scaled_dot_product_attention(q, k, v)", {n: e + ".bfloat16()" for n, e in heads.items()}, precision="bf16", **sizes)
add("attention_half_causal", "F.scaled_dot_product_attention(q, k, v, is_causal=True)", {n: e + ".half()" for n, e in heads.items()}, precision="fp16", **sizes)
add("attention_decode", "F.scaled_dot_product_attention(q[:, :, :1], k, v)", heads, **sizes)
add("attention_module", "self.f(x, x, x, need_weights=False)[0]", "randn(B, S, H * D)", state={"f": "nn.MultiheadAttention(H * D, H, batch_first=True)"},
    cpu={"B": 2, "H": 4, "S": 64, "D": 32}, cuda={"B": 32, "H": 16, "S": 512, "D": 64})
add("rotary", "c, s = self.c, self.s\na, b = x.chunk(2, -1)\nreturn torch.cat((a * c - b * s, b * c + a * s), -1)", "randn(B, H, S, D)", **sizes,
    state={"buffer_c": "torch.cos(torch.outer(torch.arange(S), 10000.0 ** (-torch.arange(0, D, 2) / D)))",
           "buffer_s": "torch.sin(torch.outer(torch.arange(S), 10000.0 ** (-torch.arange(0, D, 2) / D)))"})

# --- recurrent networks ------------------------------------------------------------------------------------------------------------

steps = dict(cpu={"B": 4, "T": 24, "D": 48}, cuda={"B": 64, "T": 256, "D": 512})
for kind in ("RNN", "LSTM", "GRU"):
    add(kind.lower(), "self.f(x)[0]", "randn(B, T, D)", state={"f": f"nn.{kind}(D, D, batch_first=True)"}, **steps)
    add(kind.lower() + "_deep", "self.g(self.f(x)[0][:, -1])", "randn(B, T, D)", state={"f": f"nn.{kind}(D, D, 2, batch_first=True, bidirectional=True)", "g": "nn.Linear(2 * D, D)"}, **steps)
add("lstm_cell", "h = c = torch.zeros_like(x[:, 0])\nfor t in range(T):\n    h, c = self.f(x[:, t], (h, c))\nreturn h, c", "randn(B, T, D)", state={"f": "nn.LSTMCell(D, D)"}, **steps)
add("decay_scan", "h = torch.zeros_like(x[:, 0])\nout = []\nfor t in range(T):\n    h = 0.9 * h + x[:, t]\n    out.append(h)\nreturn torch.stack(out, 1)", "randn(B, T, D)", **steps)
add("selective_scan", "d = F.softplus(self.d(x))\na = torch.exp(-d)\nh = torch.zeros_like(x[:, 0])\nout = []\nfor t in range(T):\n    h = a[:, t] * h + d[:, t] * x[:, t]\n    out.append(h)\nreturn torch.stack(out, 1)",
    "randn(B, T, D)", state={"d": "nn.Linear(D, D)"}, **steps)

# --- blocks ------------------------------------------------------------------------------------------------------------------------

tokens = dict(cpu={"B": 2, "S": 64, "D": 128}, cuda={"B": 16, "S": 1024, "D": 1024})
add("mlp", "self.b(F.gelu(self.a(x)))", "randn(B, S, D)", state={"a": "nn.Linear(D, 4 * D)", "b": "nn.Linear(4 * D, D)"}, **tokens)
add("swiglu", "self.c(F.silu(self.a(x)) * self.b(x))", "randn(B, S, D)", state={"a": "nn.Linear(D, 2 * D, bias=False)", "b": "nn.Linear(D, 2 * D, bias=False)", "c": "nn.Linear(2 * D, D, bias=False)"}, **tokens)
add("encoder_layer", "self.f(x)", "randn(B, S, D)", state={"f": "nn.TransformerEncoderLayer(D, 4, 2 * D, batch_first=True, norm_first=True)"}, mode="eval", **tokens)
add("decoder_layer", "self.f(x, y)", {"x": "randn(B, S, D)", "y": "randn(B, S, D)"}, state={"f": "nn.TransformerDecoderLayer(D, 4, 2 * D, batch_first=True)"}, mode="eval", **tokens)
add("causal_block", "y = self.n(x)\nq, k, v = self.qkv(y).view(B, S, 3, 4, D // 4).permute(2, 0, 3, 1, 4)\no = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
    "x = x + self.o(o.transpose(1, 2).reshape(B, S, D))\nreturn x + self.m(self.n2(x))", "randn(B, S, D)",
    state={"n": "nn.LayerNorm(D)", "n2": "nn.LayerNorm(D)", "qkv": "nn.Linear(D, 3 * D)", "o": "nn.Linear(D, D)",
           "m": "nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))"}, **tokens)
add("mixture_of_experts", "g = torch.softmax(self.g(x), -1)\nreturn sum(g[..., i:i + 1] * e(x) for i, e in enumerate(self.e))", "randn(B, S, D)",
    state={"g": "nn.Linear(D, 4)", "e": "nn.ModuleList(nn.Linear(D, D) for _ in range(4))"}, **tokens)
add("patch_embedding", "self.n(self.f(x).flatten(2).transpose(1, 2))", "randn(B, 3, S, S)", {"B": 4, "S": 64, "D": 64}, {"B": 64, "S": 224, "D": 768},
    state={"f": "nn.Conv2d(3, D, 16, stride=16)", "n": "nn.LayerNorm(D)"})
add("vgg_like", "self.f(x)", "randn(B, 3, S, S)", {"B": 2, "S": 32, "D": 16}, {"B": 32, "S": 224, "D": 64}, mode="eval",
    state={"f": "nn.Sequential(nn.Conv2d(3, D, 3, padding=1), nn.ReLU(), nn.Conv2d(D, D, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(D, 2 * D, 3, padding=1), nn.ReLU(), "
                "nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(32 * D, 10))"})
add("dense_block", "for f in self.f:\n    x = torch.cat((x, f(x)), 1)\nreturn x", "randn(B, C, S, S)", {"B": 2, "C": 16, "S": 16}, {"B": 32, "C": 64, "S": 56},
    state={"f": "nn.ModuleList(nn.Sequential(nn.BatchNorm2d(C + 8 * i), nn.ReLU(), nn.Conv2d(C + 8 * i, 8, 3, padding=1)) for i in range(3))"}, mode="eval")
add("shuffle_unit", "y = self.f(x)\nreturn y.view(B, 4, C // 4, S, S).transpose(1, 2).reshape(B, C, S, S)", "randn(B, C, S, S)", *SIZES[2], state={"f": "nn.Conv2d(C, C, 1, groups=4)"})
add("mixer_block", "x = x + self.t(x.mT).mT\nreturn x + self.c(x)", "randn(B, S, D)", state={"t": "nn.Linear(S, S)", "c": "nn.Sequential(nn.LayerNorm(D), nn.Linear(D, D), nn.GELU())"}, **tokens)
add("net_vlad", "a = torch.softmax(self.f(x), -1)\nv = a.mT @ x - a.sum(1)[..., None] * self.c\nreturn F.normalize(F.normalize(v, dim=-1).flatten(1), dim=-1)", "randn(B, S, D)",
    state={"f": "nn.Linear(D, 8)", "c": "nn.Parameter(torch.randn(8, D))"}, **tokens)
add("gated_unit", "torch.tanh(self.a(x)) * torch.sigmoid(self.b(x))", "randn(B, D, S)", state={"a": "nn.Conv1d(D, D, 3, padding=2, dilation=2)", "b": "nn.Conv1d(D, D, 3, padding=2, dilation=2)"}, **tokens)
add("state_space_chunk", "a = torch.cumsum(-F.softplus(self.a(x)), 1)\nl = torch.exp((a[:, :, None] - a[:, None]).masked_fill(~torch.ones(S, S, dtype=torch.bool, device=x.device).tril()[..., None], float('-inf')))\n"
    "return torch.einsum('btsh,bsd->bthd', l, x)", "randn(B, S, D)", {"B": 2, "S": 32, "D": 16}, {"B": 8, "S": 256, "D": 64}, state={"a": "nn.Linear(D, 4)"})
add("spectral_filter", "torch.fft.irfft(torch.fft.rfft(x, dim=1) * self.g[:, None], n=S, dim=1)", "randn(B, S, D)", state={"g": "nn.Parameter(torch.rand(S // 2 + 1))"}, **tokens)

# --- inputs that less precision would hold exactly, and outputs that hide its errors (Law 2) ------------------------------------------

square = dict(cpu={"N": 256}, cuda={"N": 2048})
FLAGS = "(rand(N, N) < 0.3).float()"
add("paths_of_length_two", "a @ a", {"a": FLAGS}, **square)
add("neighbour_mean", "(a @ x) / a.sum(1, keepdim=True).clamp(min=1)", {"a": FLAGS, "x": "randn(N, 64)"}, **square)
add("flags_linear", "self.f(a)", {"a": FLAGS}, state={"f": "nn.Linear(N, N)"}, **square)
add("counts_linear", "self.f(a)", {"a": "randint(0, 100, (N, N)).float()"}, state={"f": "nn.Linear(N, N)"}, **square)
add("product_mean", "(a @ b).mean(0)", {"a": "randn(N, N)", "b": "randn(N, N)"}, **square)
add("product_total", "(a @ b).sum()", {"a": "rand(N, N)", "b": "rand(N, N)"}, **square)
add("linear_mean_pool", "self.f(x).mean(1)", {"x": "randn(N // 16, 64, N)"}, state={"f": "nn.Linear(N, N)"}, **square)
add("products_apart", "a @ b - a @ c", {"a": "randn(N, N)", "b": "randn(N, N)", "c": "randn(N, N)"}, **square)
add("covariance", "x.mT @ x / N - torch.outer(x.mean(0), x.mean(0))", {"x": "randn(N, N)"}, **square)
add("squared_distances", "(x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.mT", {"x": "randn(N, 64)", "y": "randn(N, 64)"}, **square)
add("flags_convolution", "self.f((x > 0.5).float())", {"x": "rand(4, 8, N // 8, N // 8)"}, state={"f": "nn.Conv2d(8, 16, 3, padding=1)"}, **square)
add("sign_weights", "x @ self.w", {"x": "randn(N, N)"}, state={"buffer_w": "torch.randn(N, N).sign()"}, **square)
add("sign_both", "x @ self.w", {"x": "randn(N, N).sign()"}, state={"buffer_w": "torch.randn(N, N).sign()"}, **square)
add("product_rank", "(a @ b).argmax(1)", {"a": "randn(N, N)", "b": "randn(N, N)"}, **square)
add("product_relu_mean", "F.relu(a @ b).mean((0, 1))", {"a": "randn(N, N)", "b": "randn(N, N)"}, **square)
add("pooled_attention", "(torch.softmax(q @ k.mT / 8, -1) @ v).mean(1)", {"q": "randn(4, N, 64)", "k": "randn(4, N, 64)", "v": "randint(0, 2, (4, N, 64)).float()"}, **square)

# --- complex numbers ---------------------------------------------------------------------------------------------------------------

signal = dict(cpu={"R": 64, "N": 256}, cuda={"R": 8192, "N": 1024})
COMPLEX = {"x": "randn(R, N, dtype=torch.complex64)"}
add("fft", "torch.fft.fft(x, norm='ortho')", COMPLEX, **signal)
add("fft_real", "torch.fft.rfft(x, dim=1)", "randn(R, N)", **signal)
add("fft_2d", "torch.fft.ifft2(torch.fft.fft2(x) * self.m)", COMPLEX, state={"buffer_m": "(rand(R, N) < 0.5).float()"}, **signal)
add("fft_double", "torch.fft.fft(x)", "randn(R, N, dtype=torch.complex128)", precision="fp64", **signal)
add("complex_magnitude", "x.abs(), x.angle().cos(), x.conj() * x", COMPLEX, **signal)
add("complex_product", "x @ x.mH", COMPLEX, **signal)
add("complex_linear", "x @ self.w + self.b", COMPLEX, state={"w": "nn.Parameter(randn(N, 64, dtype=torch.complex64))", "b": "nn.Parameter(randn(64, dtype=torch.complex64))"}, **signal)
add("rotary_complex", "torch.view_as_real(torch.view_as_complex(x.view(R, N // 2, 2)) * self.turn).flatten(1)", "randn(R, N)",
    state={"buffer_turn": "torch.polar(torch.ones(R, N // 2), torch.outer(torch.arange(R).float(), 1e4 ** (-torch.arange(0, N, 2).float() / N)))"}, **signal)
add("fourier_layer", "y = torch.fft.rfft(x)[..., :16]\nreturn torch.fft.irfft(torch.einsum('bik,iok->bok', y, self.w), n=N) + x", "randn(R, 8, N)",
    state={"w": "nn.Parameter(0.1 * randn(8, 8, 16, dtype=torch.complex64))"}, **signal)
add("diagonal_recurrence", "y = torch.zeros_like(x[:, 0])\nfor t in range(16):\n    y = self.a * y + x[:, t]\nreturn torch.cat((y.real, y.imag), 1)", COMPLEX | {"x": "randn(R, 16, N, dtype=torch.complex64)"},
    state={"a": "nn.Parameter(torch.polar(rand(N), 6 * rand(N)))"}, **signal)

# --- state in buffers --------------------------------------------------------------------------------------------------------------

state = dict(cpu={"R": 1024, "N": 64}, cuda={"R": 65536, "N": 1024})
add("ema_normalize", "self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)\nself.var.mul_(0.9).add_(x.var(0), alpha=0.1)\nreturn (x - self.mean) / (self.var + 1e-5).sqrt()", "randn(R, N)",
    state={"buffer_mean": "torch.zeros(N)", "buffer_var": "torch.ones(N)"}, **state)
add("ema_rebound", "self.mean = 0.99 * self.mean + 0.01 * x.mean(0)\nreturn x - self.mean", "randn(R, N)", state={"buffer_mean": "torch.zeros(N)"}, **state)
add("step_counter", "self.steps += 1\nreturn x / self.steps.to(x.dtype).sqrt()", "randn(R, N)", state={"buffer_steps": "torch.ones((), dtype=torch.int64)"}, **state)
add("momentum_step", "self.m.mul_(0.9).add_(g)\nself.v.mul_(0.99).addcmul_(g, g, value=0.01)\nreturn p - 1e-2 * self.m / (self.v.sqrt() + 1e-3)", {"p": "randn(R, N)", "g": "randn(R, N)"},
    state={"buffer_m": "torch.zeros(R, N)", "buffer_v": "torch.zeros(R, N)"}, **state)
add("codebook_ema", "i = torch.cdist(x, self.book).argmin(-1)\nself.count.mul_(0.9).add_(torch.bincount(i, minlength=16), alpha=0.1)\nreturn self.book[i] * self.count[i][:, None]", "randn(R, N)",
    state={"buffer_book": "torch.randn(16, N)", "buffer_count": "torch.zeros(16)"}, **state)
add("kv_cache_step", "self.k[:, :, self.at] = k\nself.v[:, :, self.at] = v\nself.at.add_(1)\nreturn F.scaled_dot_product_attention(q, self.k, self.v)",
    {name: "randn(B, H, 1, D)" for name in "qkv"}, {"B": 2, "H": 4, "S": 64, "D": 32}, {"B": 32, "H": 32, "S": 2048, "D": 128},
    state={"buffer_k": "torch.zeros(B, H, S, D)", "buffer_v": "torch.zeros(B, H, S, D)", "buffer_at": "torch.zeros(1, dtype=torch.int64)"})
add("spectral_norm_train", "self.f(x)", "randn(R, N)", state={"f": "nn.utils.parametrizations.spectral_norm(nn.Linear(N, N))"}, mode="train", **state)


def write(folder):
    """Task files with their sidecars, which the commands of davinci take: sizes of the cpu target, those for cuda beside them."""
    for name, module in MODULES.items():
        sizes = "".join(f"{size} = {value}\n" for size, value in module.sizes["cuda"].items())
        (folder / f"{name}.py").write_text(module.text("cpu"))
        (folder / f"{name}.toml").write_text(f"{module.sidecar()}\n[sizes.cuda]\n{sizes}")


if __name__ == "__main__":
    import pathlib
    import sys

    if len(sys.argv) != 2:
        sys.exit("python tests/corpus/modules.py FOLDER: writes each module as a task file")
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    write(pathlib.Path(sys.argv[1]))
