"""Prints the number of SMs of the first GPU, as CUDA's driver says."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
device, count = ctypes.c_int(), ctypes.c_int()
sm_count = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
for failed in (
    lambda: cuda.cuInit(0),
    lambda: cuda.cuDeviceGet(ctypes.byref(device), 0),
    lambda: cuda.cuDeviceGetAttribute(ctypes.byref(count), sm_count, device),
):
    code = failed()
    if code:
        raise SystemExit(f"CUDA error {code}")
print(count.value)
