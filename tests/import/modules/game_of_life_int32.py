import torch
import torch.nn as nn

SIZE, GENERATIONS = 256, 4
RULE = {"birth": (3,), "survive": (2, 3)}

class Model(nn.Module):
    """Outer-totalistic cellular automaton on a torus, in int32."""

    def __init__(self, generations, rule):
        super().__init__()
        self.generations = generations
        birth, survive = torch.zeros(9, dtype=torch.int32), torch.zeros(9, dtype=torch.int32)
        birth[list(rule["birth"])] = 1
        survive[list(rule["survive"])] = 1
        self.register_buffer("table", torch.stack([birth, survive]).flatten())

    def step(self, world):
        total = torch.zeros_like(world)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx or dy:
                    total += world.roll((dy, dx), dims=(0, 1))
        return self.table[(world * 9 + total).long()]

    def forward(self, world):
        alive = [world.sum()]
        for _ in range(self.generations):
            world = self.step(world)
            alive.append(world.sum())
        return world, torch.stack(alive)


def get_inputs():
    return [(torch.rand(SIZE, SIZE) < 0.3).int()]


def get_init_inputs():
    return [GENERATIONS, RULE]
