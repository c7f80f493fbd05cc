import torch
import torch.nn as nn

class Model(nn.Module):
    """One-dimensional cellular automaton by Wolfram number, three generations."""

    def __init__(self, rule=110):
        super().__init__()
        bits = [(rule >> i) & 1 for i in range(8)]
        self.register_buffer("lut", torch.tensor(bits))

    def forward(self, tape):
        history = [tape]
        for _ in range(3):
            code = tape.roll(1, 1) * 4 + tape * 2 + tape.roll(-1, 1)
            tape = self.lut[code]
            history.append(tape)
        return torch.stack(history, dim=1)

def get_inputs():
    return [torch.randint(0, 2, (200, 2048))]

def get_init_inputs():
    return [30]
