from dataclasses import dataclass
import torch
import torch.nn as nn


@dataclass(frozen=True)
class MlpConfig:
    width: int = 288
    expansion: float = 2.5
    act: str = "relu2"
    use_bias: bool = True


CFG = MlpConfig()


def relu2(x):
    return torch.relu(x) ** 2


ACT2FN = {"relu2": relu2, "silu": torch.nn.functional.silu}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        inner = int(CFG.width * CFG.expansion)
        self.wi_0 = nn.Linear(CFG.width, inner, bias=CFG.use_bias)
        self.wi_1 = nn.Linear(CFG.width, inner, bias=CFG.use_bias)
        self.wo = nn.Linear(inner, CFG.width, bias=CFG.use_bias)

    def forward(self, hidden_states):
        hidden_act = ACT2FN[CFG.act](self.wi_0(hidden_states))
        hidden_linear = self.wi_1(hidden_states)
        return self.wo(hidden_act * hidden_linear)


def get_inputs():
    return [torch.randn(4, 220, CFG.width)]


def get_init_inputs():
    return []
