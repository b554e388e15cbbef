"""Kernels of some 20 ms whose blocks fill the device once and all run to the kernel's end: two blocks of 1024 threads on each
multiprocessor (SM), which compute in registers. At most three are queued. The kernel is text of our own, loaded through the driver.
"""

import ctypes

from answer_driver import Driver
from queued import QueuedTask
from training import main

DEPTH = 3
THREADS = 1024
BLOCKS_PER_SM = 2
FMAS = 64
#: An SM of compute capability 9.0 issues an FMA of 4 of its 64 warps in a cycle: a round takes (64 + 3) * 16 cycles, and 20 ms at
#: 1.755 GHz are 35.1 million. It is a fixed number, and no calibration, so that all programs have the same to do.
ROUNDS = 32_700

TEXT = (
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry spin(.param .u64 out, .param .u32 rounds)\n"
    f".maxntid {THREADS}, 1, 1\n.minnctapersm {BLOCKS_PER_SM}\n"
    "{\n  .reg .pred %p<3>;\n  .reg .b32 %r<3>;\n  .reg .f32 %f<4>;\n  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n  ld.param.u32 %r1, [rounds];\n"
    "  mov.u32 %r2, %tid.x;\n  cvt.rn.f32.u32 %f1, %r2;\n  mov.f32 %f2, 0f3F7FF972;\n  mov.f32 %f3, 0f3F800000;\n"
    "LOOP:\n" + "  fma.rn.f32 %f1, %f1, %f2, %f3;\n" * FMAS + "  add.u32 %r1, %r1, -1;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra LOOP;\n"
    # Thread 0 keeps its result, so none of it is in vain.
    "  setp.eq.u32 %p2, %r2, 0;\n  @%p2 st.global.f32 [%rd1], %f1;\n  ret;\n}\n"
)


class SpinTask(QueuedTask):
    """Launches the kernel through the driver, in PyTorch's context and on its stream."""

    def __init__(self, torch):
        super().__init__(torch, DEPTH)
        self._out = torch.zeros(1, device="cuda")
        self._driver = Driver()
        self._stream = torch.cuda.current_stream().cuda_stream
        self._blocks = BLOCKS_PER_SM * torch.cuda.get_device_properties().multi_processor_count
        module, self._kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self._driver.need("cuModuleLoadData", ctypes.byref(module), ctypes.create_string_buffer(TEXT.encode()))
        self._driver.need("cuModuleGetFunction", ctypes.byref(self._kernel), module, b"spin")
        self._values = ctypes.c_uint64(self._out.data_ptr()), ctypes.c_uint32(ROUNDS)
        self._parameters = (ctypes.c_void_p * 2)(*(ctypes.addressof(value) for value in self._values))

    def submit(self):
        """One launch."""
        self._driver.need(
            "cuLaunchKernel", self._kernel, self._blocks, 1, 1, THREADS, 1, 1, 0, self._stream, self._parameters, ctypes.c_void_p()
        )
        return self._out[0]

    def state(self):
        """What the kernel computes."""
        return [self._out]


if __name__ == "__main__":
    main("spin", SpinTask)
