import torch
import torch.nn as nn


class Model(nn.Module):
    """
    RMS normalisation in the style of Llama: statistics in fp32, the result
    cast back to the type of the input before the weight is applied.
    """

    def __init__(self, hidden_size: int, variance_epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size, dtype=torch.bfloat16))
        self.variance_epsilon = variance_epsilon

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


batch, seq, hidden_size = 3, 190, 2560


def get_init_inputs():
    return [hidden_size, 1e-5]


def get_inputs():
    return [torch.randn(batch, seq, hidden_size).to(torch.bfloat16)]
