import torch
import torch.nn as nn

N_CHARS, CHAR_DIM, WORD_LEN = 100, 16, 12
FILTERS = [[1, 16], [2, 24], [3, 32], [4, 48]]
WORDS = 96


class Highway(nn.Module):
    def __init__(self, input_dim, num_layers=1):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(input_dim, input_dim * 2) for _ in range(num_layers)])
        self.activation = nn.ReLU()
        for layer in self.layers:
            # bias the carry gate towards carrying
            layer.bias[input_dim:].data.fill_(1)

    def forward(self, x):
        for layer in self.layers:
            projection = layer(x)
            proj_x, gate = projection.chunk(2, dim=-1)
            proj_x = self.activation(proj_x)
            gate = torch.sigmoid(gate)
            x = gate * x + (gate.new_tensor([1]) - gate) * proj_x
        return x


class Model(nn.Module):
    def __init__(self, n_chars, char_dim, filters, word_dim=64, eow=1):
        super().__init__()
        self.char_embeddings = nn.Embedding(n_chars, char_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(char_dim, n, kernel_size=w) for w, n in filters)
        last_dim = sum(f[1] for f in filters)
        self.symbol = nn.Parameter(torch.randn(1, last_dim))
        self.highway = Highway(last_dim, 2)
        self.projection = nn.Linear(last_dim, word_dim)
        self.eow = eow

    def forward(self, characters):
        B, T = characters.shape[:2]
        pads = characters[..., 0].eq(0).reshape(-1)
        x = self.char_embeddings(characters.view(-1, characters.size(-1))).transpose(1, 2)
        out = []
        for conv in self.convolutions:
            y = conv(x)
            y, _ = torch.max(y, -1)
            out.append(torch.relu(y))
        x = torch.cat(out, dim=-1)
        x = self.projection(self.highway(torch.where(pads.unsqueeze(1), self.symbol, x)))
        return x.view(B, T, -1)


def get_inputs():
    c = torch.randint(1, N_CHARS, (4, WORDS // 4, WORD_LEN))
    c[:, -2:] = 0
    return [c]


def get_init_inputs():
    return [N_CHARS, CHAR_DIM, FILTERS]
