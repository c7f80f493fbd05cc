// The result the device comparison returns is the host comparison's, byte for byte. Compiling it is
// the test.
#include <cstddef>

#include "davinci/gpu/worker_abi.h"
#include "davinci/judge/compare/worker_abi.h"

static_assert(sizeof(dv_cuda_result) == sizeof(dv_result));
#define DAVINCI_SAME_OFFSET_(field) \
  static_assert(offsetof(dv_cuda_result, field) == offsetof(dv_result, field), #field)
DAVINCI_SAME_OFFSET_(passed);
DAVINCI_SAME_OFFSET_(failed_criteria);
DAVINCI_SAME_OFFSET_(n);
DAVINCI_SAME_OFFSET_(num_wrong);
DAVINCI_SAME_OFFSET_(num_dont_care);
DAVINCI_SAME_OFFSET_(num_special_match);
DAVINCI_SAME_OFFSET_(num_nan_truth);
DAVINCI_SAME_OFFSET_(num_nan_candidate);
DAVINCI_SAME_OFFSET_(num_unexpected_nan);
DAVINCI_SAME_OFFSET_(first_wrong_index);
DAVINCI_SAME_OFFSET_(first_wrong_truth);
DAVINCI_SAME_OFFSET_(first_wrong_candidate);
DAVINCI_SAME_OFFSET_(worst_index);
DAVINCI_SAME_OFFSET_(worst_err);
DAVINCI_SAME_OFFSET_(worst_tol);
DAVINCI_SAME_OFFSET_(worst_truth);
DAVINCI_SAME_OFFSET_(worst_candidate);
DAVINCI_SAME_OFFSET_(max_ratio);
DAVINCI_SAME_OFFSET_(rms_ratio);
DAVINCI_SAME_OFFSET_(rms_limit);
DAVINCI_SAME_OFFSET_(ratio_histogram);
