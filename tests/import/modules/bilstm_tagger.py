import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = 500
EMB = 32
HIDDEN = 96
TAGS = 9
SENT_LEN = 48


class Model(nn.Module):
    """BiLSTM sequence tagger returning per-token log probabilities."""

    def __init__(self, vocab_size, embedding_dim, hidden_dim, tagset_size, num_layers=1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=num_layers, bidirectional=True,
                            batch_first=True)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        embeds = self.word_embeds(sentence)
        lstm_out, (h_n, c_n) = self.lstm(embeds)
        tag_space = self.hidden2tag(lstm_out)
        return F.log_softmax(tag_space, dim=2)


def get_inputs():
    return [torch.randint(0, VOCAB, (12, SENT_LEN))]


def get_init_inputs():
    return [VOCAB, EMB, HIDDEN, TAGS]
