import math

import torch
from torch import nn

HIDDEN = 96
HEADS = 6
SEQ = 48


class BertConfig(object):
    def __init__(self, hidden_size=HIDDEN, num_attention_heads=HEADS, intermediate_size=4 * HIDDEN,
                 hidden_act="gelu", layer_norm_eps=1e-12, output_attentions=False):
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.layer_norm_eps = layer_norm_eps
        self.output_attentions = output_attentions


ACT2FN = {"gelu": nn.functional.gelu, "relu": torch.relu, "swish": lambda x: x * torch.sigmoid(x)}


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = int(config.hidden_size / config.num_attention_heads)
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(*new_x_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None, head_mask=None):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask
        attention_probs = nn.Softmax(dim=-1)(attention_scores)
        if head_mask is not None:
            attention_probs = attention_probs * head_mask
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_context_layer_shape = context_layer.size()[:-2] + (self.all_head_size,)
        context_layer = context_layer.view(*new_context_layer_shape)
        return (context_layer, attention_probs)


class BertOutput(nn.Module):
    def __init__(self, size_in, config):
        super().__init__()
        self.dense = nn.Linear(size_in, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden_states, input_tensor):
        return self.LayerNorm(self.dense(hidden_states) + input_tensor)


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.self = BertSelfAttention(config)
        self.output = BertOutput(config.hidden_size, config)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        if isinstance(config.hidden_act, str):
            self.intermediate_act_fn = ACT2FN[config.hidden_act]
        else:
            self.intermediate_act_fn = config.hidden_act
        self.final = BertOutput(config.intermediate_size, config)

    def get_extended_attention_mask(self, attention_mask, dtype):
        if attention_mask.dim() == 3:
            extended = attention_mask[:, None, :, :]
        elif attention_mask.dim() == 2:
            extended = attention_mask[:, None, None, :]
        else:
            raise ValueError("Wrong shape for attention_mask {}".format(attention_mask.shape))
        extended = extended.to(dtype=dtype)
        return (1.0 - extended) * -10000.0

    def forward(self, hidden_states, attention_mask=None):
        if attention_mask is not None:
            attention_mask = self.get_extended_attention_mask(attention_mask, hidden_states.dtype)
        self_outputs = self.self(hidden_states, attention_mask)
        attention_output = self.output(self_outputs[0], hidden_states)
        layer_output = self.final(self.intermediate_act_fn(self.intermediate(attention_output)), attention_output)
        outputs = (layer_output,)
        if self.config.output_attentions:
            outputs = outputs + self_outputs[1:]
        return outputs


def get_inputs():
    lengths = torch.tensor([SEQ, SEQ - 7, SEQ // 2])
    mask = (torch.arange(SEQ)[None, :] < lengths[:, None]).long()
    return [torch.randn(3, SEQ, HIDDEN), mask]


def get_init_inputs():
    return [BertConfig(output_attentions=True)]
