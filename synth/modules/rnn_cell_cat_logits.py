import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(Model, self).__init__()
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(input_size + hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = self.i2h(combined)
        output = self.softmax(self.i2o(combined))
        return output, hidden

batch, n_letters, n_hidden, n_categories = 1024, 57, 128, 18

def get_inputs():
    return [torch.randn(batch, n_letters), torch.zeros(batch, n_hidden)]

def get_init_inputs():
    return [n_letters, n_hidden, n_categories]
