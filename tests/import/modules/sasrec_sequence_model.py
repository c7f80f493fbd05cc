import torch
import numpy as np

ITEM_NUM, MAXLEN, HIDDEN_UNITS, NUM_BLOCKS, NUM_HEADS = 500, 40, 48, 2, 2


class PointWiseFeedForward(torch.nn.Module):
    def __init__(self, hidden_units, dropout_rate):
        super(PointWiseFeedForward, self).__init__()
        self.conv1 = torch.nn.Conv1d(hidden_units, hidden_units, kernel_size=1)
        self.dropout1 = torch.nn.Dropout(p=dropout_rate)
        self.relu = torch.nn.ReLU()
        self.conv2 = torch.nn.Conv1d(hidden_units, hidden_units, kernel_size=1)
        self.dropout2 = torch.nn.Dropout(p=dropout_rate)

    def forward(self, inputs):
        outputs = self.dropout2(self.conv2(self.relu(self.dropout1(self.conv1(inputs.transpose(-1, -2))))))
        outputs = outputs.transpose(-1, -2) # as Conv1D requires (N, C, Length)
        outputs += inputs
        return outputs


class Model(torch.nn.Module):
    def __init__(self, item_num, maxlen, hidden, blocks, heads):
        super().__init__()
        self.item_emb = torch.nn.Embedding(item_num+1, hidden, padding_idx=0)
        self.pos_emb = torch.nn.Embedding(maxlen, hidden)
        self.attention_layernorms = torch.nn.ModuleList()
        self.attention_layers = torch.nn.ModuleList()
        self.forward_layernorms = torch.nn.ModuleList()
        self.forward_layers = torch.nn.ModuleList()
        self.last_layernorm = torch.nn.LayerNorm(hidden, eps=1e-8)
        for _ in range(blocks):
            self.attention_layernorms.append(torch.nn.LayerNorm(hidden, eps=1e-8))
            self.attention_layers.append(torch.nn.MultiheadAttention(hidden, heads, 0.0))
            self.forward_layernorms.append(torch.nn.LayerNorm(hidden, eps=1e-8))
            self.forward_layers.append(PointWiseFeedForward(hidden, 0.0))

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs)
        seqs *= self.item_emb.embedding_dim ** 0.5
        positions = torch.arange(log_seqs.shape[1], device=log_seqs.device).expand(log_seqs.shape[0], -1)
        seqs = seqs + self.pos_emb(positions)
        timeline_mask = log_seqs == 0
        seqs = seqs * ~timeline_mask.unsqueeze(-1)  # broadcast in last dim
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool, device=seqs.device))
        for i in range(len(self.attention_layers)):
            seqs = torch.transpose(seqs, 0, 1)
            Q = self.attention_layernorms[i](seqs)
            mha_outputs, _ = self.attention_layers[i](Q, seqs, seqs, attn_mask=attention_mask)
            seqs = Q + mha_outputs
            seqs = torch.transpose(seqs, 0, 1)
            seqs = self.forward_layernorms[i](seqs)
            seqs = self.forward_layers[i](seqs)
            seqs = seqs * ~timeline_mask.unsqueeze(-1)
        return self.last_layernorm(seqs)

    def forward(self, log_seqs, pos_seqs, neg_seqs):
        log_feats = self.log2feats(log_seqs)
        pos_embs = self.item_emb(pos_seqs)
        neg_embs = self.item_emb(neg_seqs)
        pos_logits = (log_feats * pos_embs).sum(dim=-1)
        neg_logits = (log_feats * neg_embs).sum(dim=-1)
        return pos_logits, neg_logits


def get_inputs():
    s = torch.randint(1, ITEM_NUM, (8, MAXLEN))
    s[:4, :5] = 0
    return [s, s.roll(-1, 1), torch.randint(1, ITEM_NUM, (8, MAXLEN))]


def get_init_inputs():
    return [ITEM_NUM, MAXLEN, HIDDEN_UNITS, NUM_BLOCKS, NUM_HEADS]
