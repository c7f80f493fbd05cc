import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Model that performs a matrix multiplication, subtracts a vector, multiplies by a constant and applies ReLU6.
    """
    def __init__(self, in_features, out_features, multiply_value):
        super(Model, self).__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.subtract_vector = nn.Parameter(torch.rand(out_features))
        self.multiply_value = multiply_value

    def forward(self, x):
        """
        Args:
            x (torch.Tensor): Input of shape (batch_size, in_features).

        Returns:
            torch.Tensor: Output of shape (batch_size, out_features).
        """
        x = self.linear(x)
        x = x - self.subtract_vector
        x = x * self.multiply_value
        x = nn.functional.relu6(x)
        return x


in_features = 1000
out_features = 500
batch_size = 160
multiply_value = 4.5


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, multiply_value]
