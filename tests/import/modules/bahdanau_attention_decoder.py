import torch
import torch.nn as nn
import torch.nn.functional as F

HIDDEN_SIZE = 64
VOCAB = 200
SRC_LEN, MAX_LENGTH = 20, 10
BATCH = 8


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class Model(nn.Module):
    """Greedy decoding: the argmax of each step is the next input."""

    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRUCell(2 * hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, dtype=torch.long, device=encoder_outputs.device).fill_(1)
        decoder_hidden = encoder_hidden
        decoder_outputs = []
        attentions = []
        for i in range(MAX_LENGTH):
            query = decoder_hidden.unsqueeze(1)
            context, attn_weights = self.attention(query, encoder_outputs)
            step = torch.cat((self.embedding(decoder_input), context.squeeze(1)), dim=1)
            decoder_hidden = self.gru(step, decoder_hidden)
            decoder_output = self.out(decoder_hidden)
            decoder_outputs.append(decoder_output)
            attentions.append(attn_weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i]  # teacher forcing
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        return F.log_softmax(torch.stack(decoder_outputs, dim=1), dim=-1), torch.cat(attentions, dim=1)


def get_inputs():
    return [torch.randn(BATCH, SRC_LEN, HIDDEN_SIZE), torch.randn(BATCH, HIDDEN_SIZE)]


def get_init_inputs():
    return [HIDDEN_SIZE, VOCAB]
