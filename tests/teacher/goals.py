"""The shares of tasks whose best kernel should beat eager, by what kind of task it is: name, share, and whether a task of such a family and
so many operators counts."""
CHAINS = {"conv_chain", "matmul_chain"}
ROWS = {"norm", "norm_chain", "softmax", "softmax_chain", "loss", "loss_chain", "reduction", "reduce_chain"}
GOALS = [
    ("convolution and matmul chains", 0.85, lambda family, operators: family in CHAINS),
    ("norm, softmax, loss, reduction", 0.85, lambda family, operators: family in ROWS),
    ("single operators", 0.5, lambda family, operators: operators == 1),
    ("networks", 0.6, lambda family, operators: family == "network"),
    ("all", None, lambda family, operators: True),
]
