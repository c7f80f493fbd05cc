import torch
import torch.nn as nn


class Model(nn.Module):
    """Return / state / action embeddings with shared time embedding, interleaved to one sequence."""

    def __init__(self, state_dim, act_dim, hidden, max_ep_len):
        super().__init__()
        self.embed_timestep = nn.Embedding(max_ep_len, hidden)
        self.embed_return = nn.Linear(1, hidden)
        self.embed_state = nn.Linear(state_dim, hidden)
        self.embed_action = nn.Linear(act_dim, hidden)
        self.embed_ln = nn.LayerNorm(hidden)

    def forward(self, states, actions, returns_to_go, timesteps):
        b, t = timesteps.shape
        time = self.embed_timestep(timesteps)
        s = self.embed_state(states) + time
        a = self.embed_action(actions) + time
        r = self.embed_return(returns_to_go) + time
        x = torch.stack((r, s, a), dim=1).permute(0, 2, 1, 3).reshape(b, 3 * t, -1)
        return self.embed_ln(x)


def get_inputs():
    return [torch.randn(32, 60, 17), torch.randn(32, 60, 6), torch.randn(32, 60, 1), torch.randint(0, 1000, (32, 60))]


def get_init_inputs():
    return [17, 6, 128, 1000]
