import torch
import torch.nn as nn
import torch.nn.functional as F

FIELDS, VOCAB = 20, 50
EMBED, ATTN, HEADS, LAYERS = 16, 32, 2, 2
SAMPLES = 96

class Model(nn.Module):
    def __init__(self, fields, vocab, embed, attn, heads, layers):
        super().__init__()
        self.register_buffer("offset", torch.arange(fields) * vocab)
        self.embedding = nn.Embedding(fields * vocab, embed)
        self.atten_embedding = nn.Linear(embed, attn)
        self.self_attns = nn.ModuleList([
            nn.MultiheadAttention(attn, heads, dropout=0.0) for _ in range(layers)
        ])
        self.V_res_embedding = nn.Linear(embed, attn)
        self.attn_fc = nn.Linear(fields * attn, 1)

    def forward(self, x):
        embed_x = self.embedding(x + self.offset)
        atten_embed = self.atten_embedding(embed_x)
        cross_term = atten_embed.transpose(0, 1)
        for self_attn in self.self_attns:
            cross_term, _ = self_attn(cross_term, cross_term, cross_term)
        cross_term = cross_term.transpose(0, 1)
        V_res = self.V_res_embedding(embed_x)
        cross_term += V_res
        cross_term = F.relu(cross_term).contiguous().view(-1, self.attn_fc.in_features)
        return torch.sigmoid(self.attn_fc(cross_term).squeeze(1))

def get_inputs():
    return [torch.randint(0, VOCAB, (SAMPLES, FIELDS))]
def get_init_inputs():
    return [FIELDS, VOCAB, EMBED, ATTN, HEADS, LAYERS]
