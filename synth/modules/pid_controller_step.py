import torch
import torch.nn as nn


class Model(nn.Module):
    """One step of many PID loops with anti-windup and an output limit.

    Returns the command, the new integral and the error (for the next derivative).
    """

    def __init__(self, kp, ki, kd, dt, limit):
        super().__init__()
        self.kp, self.ki, self.kd = kp, ki, kd
        self.dt = dt
        self.limit = limit

    def forward(self, setpoint, measured, integral, last_error):
        error = setpoint - measured
        candidate = integral + error * self.dt
        derivative = (error - last_error) / self.dt
        raw = self.kp * error + self.ki * candidate + self.kd * derivative
        command = raw.clamp(-self.limit, self.limit)
        saturated = raw != command
        integral = torch.where(saturated, integral, candidate)
        return command, integral, error


def get_inputs():
    return [torch.randn(330, 777) for _ in range(4)]


def get_init_inputs():
    return [1.2, 0.4, 0.05, 0.02, 3.0]
