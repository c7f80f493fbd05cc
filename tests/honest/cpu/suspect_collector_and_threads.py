"""Looks like tampering with the process: collects garbage, switches thread counts and gradients, and puts all back."""
import gc
import inspect

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        self.caller = inspect.stack()[1].function  # for a log that is never read
        gc.collect(0)
        threads, gradients = torch.get_num_threads(), torch.is_grad_enabled()
        torch.set_num_threads(1)
        rows = a.shape[0] // 4
        first = torch.mm(a[:rows], b)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(gradients)
        return torch.cat((first, torch.mm(a[rows:], b)))
