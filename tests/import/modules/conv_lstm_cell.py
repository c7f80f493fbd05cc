import torch.nn as nn
import torch

CHANNELS, HIDDEN, SIZE, FRAMES = 4, 16, 16, 4


class ConvLSTMCell(nn.Module):

    def __init__(self, input_dim, hidden_dim, kernel_size, bias):
        """
        Parameters
        ----------
        input_dim: int
            Number of channels of input tensor.
        hidden_dim: int
            Number of channels of hidden state.
        kernel_size: (int, int)
            Size of the convolutional kernel.
        bias: bool
            Whether or not to add the bias.
        """
        super(ConvLSTMCell, self).__init__()
        self.hidden_dim = hidden_dim
        self.padding = kernel_size[0] // 2, kernel_size[1] // 2
        self.conv = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=self.padding, bias=bias)

    def forward(self, input_tensor, cur_state):
        h_cur, c_cur = cur_state
        combined = torch.cat([input_tensor, h_cur], dim=1)
        cc_i, cc_f, cc_o, cc_g = torch.split(self.conv(combined), self.hidden_dim, dim=1)
        i = torch.sigmoid(cc_i)
        f = torch.sigmoid(cc_f)
        o = torch.sigmoid(cc_o)
        g = torch.tanh(cc_g)
        c_next = f * c_cur + i * g
        h_next = o * torch.tanh(c_next)
        return h_next, c_next

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        return (torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device),
                torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device))


class Model(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size=(3, 3), num_layers=2, return_all_layers=False):
        super().__init__()
        self.return_all_layers = return_all_layers
        self.cell_list = nn.ModuleList(
            ConvLSTMCell(input_dim if i == 0 else hidden_dim, hidden_dim, kernel_size, True) for i in range(num_layers))

    def forward(self, input_tensor, hidden_state=None):
        b, seq_len, _, h, w = input_tensor.size()
        if hidden_state is not None:
            raise NotImplementedError()
        layer_output_list, last_state_list = [], []
        cur_layer_input = input_tensor
        for cell in self.cell_list:
            h_t, c_t = cell.init_hidden(b, (h, w))
            output_inner = []
            for t in range(seq_len):
                h_t, c_t = cell(input_tensor=cur_layer_input[:, t, :, :, :], cur_state=[h_t, c_t])
                output_inner.append(h_t)
            cur_layer_input = torch.stack(output_inner, dim=1)
            layer_output_list.append(cur_layer_input)
            last_state_list.append([h_t, c_t])
        if not self.return_all_layers:
            layer_output_list = layer_output_list[-1:]
            last_state_list = last_state_list[-1:]
        return layer_output_list, last_state_list


def get_inputs():
    return [torch.randn(2, FRAMES, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, HIDDEN]
