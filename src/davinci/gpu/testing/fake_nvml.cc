// A stand-in for libnvidia-ml.so.1 with two devices, for machines without a driver. The second
// device supports no power reading, has lost nothing else, and its process list grows between two
// calls.
#include <cstdio>
#include <cstring>

extern "C" {

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned int gpu, memory;
};
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_gpu_memory;
  unsigned int gpu_instance_id, compute_instance_id;
};

static char devices[2];
static int Index(void* device) { return static_cast<int>(static_cast<char*>(device) - devices); }

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "fake error"; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.1.2");
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index == 1) return 15;  // fallen off the bus
  *device = &devices[index == 0 ? 0 : 1];
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "Fake %d", Index(device));
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "GPU-fake-%d", Index(device));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {1000, 600, 400};
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* mask) {
  *mask = Index(device) == 0 ? 0x1 : 0x44;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 41;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (Index(device) == 1) return 3;  // not supported
  *milliwatts = 123456;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  *utilization = {7, 3};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* list) {
  const unsigned running = Index(device) == 0 ? 1 : 100;
  if (*count < running) {
    *count = running;
    return 7;
  }
  *count = running;
  for (unsigned i = 0; i < running; ++i) list[i] = {100 + i, i == 0 ? ~0ULL : 55ULL, 0, 0};
  return 0;
}
}
