// Small value types of c10 that need no LibTorch header: dtype, device, layout, array views,
// scalars and options.
//
// Every type that crosses into LibTorch has the name, size, alignment and triviality of the real
// one, so that the operators exported by libtorch_cpu can be called directly; support.cc asserts
// all of it against the real headers once per torch version, and the compat stage is switched off
// for a version where an assertion fails.
#pragma once

#include <davinci_torch/array_ref.h>
#include <davinci_torch/checks.h>
#include <davinci_torch/options.h>
#include <davinci_torch/scalar.h>
#include <davinci_torch/scalar_types.h>
#include <davinci_torch/support.h>
