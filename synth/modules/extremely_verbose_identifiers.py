import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, number_of_input_features, number_of_hidden_features, number_of_output_features):
        super(Model, self).__init__()
        self.first_fully_connected_projection_layer = nn.Linear(number_of_input_features, number_of_hidden_features)
        self.second_fully_connected_projection_layer = nn.Linear(number_of_hidden_features, number_of_output_features)
        self.learned_per_feature_output_multiplier = nn.Parameter(torch.ones(number_of_output_features) * 0.5)

    def forward(self, batch_of_feature_vectors):
        hidden_representation_before_activation = self.first_fully_connected_projection_layer(batch_of_feature_vectors)
        hidden_representation_after_activation = torch.tanh(hidden_representation_before_activation)
        output_representation_before_scaling = self.second_fully_connected_projection_layer(
            hidden_representation_after_activation
        )
        scaled_output_representation = output_representation_before_scaling * self.learned_per_feature_output_multiplier
        largest_value_of_each_row = torch.amax(scaled_output_representation, dim=1, keepdim=True)
        return scaled_output_representation - largest_value_of_each_row


number_of_examples_in_one_batch = 640


def get_inputs():
    return [torch.randn(number_of_examples_in_one_batch, 256)]


def get_init_inputs():
    return [256, 512, 128]
