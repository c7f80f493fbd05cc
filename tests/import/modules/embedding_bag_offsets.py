import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB_SIZE, EMBED_DIM, NUM_CLASS = 5000, 64, 4
DOCS, WORDS = 1024, 60

class Model(nn.Module):
    # text classification tutorial style: flat token list + offsets
    def __init__(self, vocab_size, embed_dim, num_class):
        super(Model, self).__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, mode='mean')
        self.bigrams = nn.Parameter(torch.randn(1024, embed_dim) * 0.1)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def hash_bigrams(self, text):
        nxt = torch.cat([text[1:], text[:1]])
        return ((text * 36313) ^ (nxt * 27191)).remainder(1024)

    def forward(self, text, offsets):
        embedded = self.embedding(text, offsets)
        embedded = embedded + F.embedding_bag(self.hash_bigrams(text), self.bigrams, offsets, mode='sum')
        return self.fc(embedded)

def get_inputs():
    return [torch.randint(0, VOCAB_SIZE, (DOCS * WORDS,)), torch.arange(DOCS) * WORDS]

def get_init_inputs():
    return [VOCAB_SIZE, EMBED_DIM, NUM_CLASS]
