package io.tessera.software.driver.abi;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Result codes of the CUDA driver interface (CUresult, cuda.h 13.0), with the text that cuGetErrorString gives. */
public enum CudaError {
    /** 0. */
    SUCCESS(0, "no error"),
    /** 1. */
    INVALID_VALUE(1, "invalid argument"),
    /** 2. */
    OUT_OF_MEMORY(2, "out of memory"),
    /** 3. */
    NOT_INITIALIZED(3, "initialization error"),
    /** 4. */
    DEINITIALIZED(4, "driver shutting down"),
    /** 5. */
    PROFILER_DISABLED(5, "profiler disabled while using external profiling tool"),
    /** 6. */
    PROFILER_NOT_INITIALIZED(6, "profiler not initialized: call cudaProfilerInitialize()"),
    /** 7. */
    PROFILER_ALREADY_STARTED(7, "profiler already started"),
    /** 8. */
    PROFILER_ALREADY_STOPPED(8, "profiler already stopped"),
    /** 34. */
    STUB_LIBRARY(34, "CUDA driver is a stub library"),
    /** 36. */
    CALL_REQUIRES_NEWER_DRIVER(36, "API call is not supported in the installed CUDA driver"),
    /** 46. */
    DEVICE_UNAVAILABLE(46, "CUDA-capable device(s) is/are busy or unavailable"),
    /** 100. */
    NO_DEVICE(100, "no CUDA-capable device is detected"),
    /** 101. */
    INVALID_DEVICE(101, "invalid device ordinal"),
    /** 102. */
    DEVICE_NOT_LICENSED(102, "device doesn't have valid Grid license"),
    /** 200. */
    INVALID_IMAGE(200, "device kernel image is invalid"),
    /** 201. */
    INVALID_CONTEXT(201, "invalid device context"),
    /** 202. */
    CONTEXT_ALREADY_CURRENT(202, "context already current"),
    /** 205. */
    MAP_FAILED(205, "mapping of buffer object failed"),
    /** 206. */
    UNMAP_FAILED(206, "unmapping of buffer object failed"),
    /** 207. */
    ARRAY_IS_MAPPED(207, "array is mapped"),
    /** 208. */
    ALREADY_MAPPED(208, "resource already mapped"),
    /** 209. */
    NO_BINARY_FOR_GPU(209, "no kernel image is available for execution on the device"),
    /** 210. */
    ALREADY_ACQUIRED(210, "resource already acquired"),
    /** 211. */
    NOT_MAPPED(211, "resource not mapped"),
    /** 212. */
    NOT_MAPPED_AS_ARRAY(212, "resource not mapped as array"),
    /** 213. */
    NOT_MAPPED_AS_POINTER(213, "resource not mapped as pointer"),
    /** 214. */
    ECC_UNCORRECTABLE(214, "uncorrectable ECC error encountered"),
    /** 215. */
    UNSUPPORTED_LIMIT(215, "limit is not supported on this architecture"),
    /** 216. */
    CONTEXT_ALREADY_IN_USE(216, "exclusive-thread device already in use by a different thread"),
    /** 217. */
    PEER_ACCESS_UNSUPPORTED(217, "peer access is not supported between these two devices"),
    /** 218. */
    INVALID_PTX(218, "a PTX JIT compilation failed"),
    /** 219. */
    INVALID_GRAPHICS_CONTEXT(219, "invalid OpenGL or DirectX context"),
    /** 220. */
    NVLINK_UNCORRECTABLE(220, "uncorrectable NVLink error detected during the execution"),
    /** 221. */
    JIT_COMPILER_NOT_FOUND(221, "PTX JIT compiler library not found"),
    /** 222. */
    UNSUPPORTED_PTX_VERSION(222, "the provided PTX was compiled with an unsupported toolchain."),
    /** 223. */
    JIT_COMPILATION_DISABLED(223, "PTX JIT compilation was disabled"),
    /** 224. */
    UNSUPPORTED_EXEC_AFFINITY(224, "the provided execution affinity is not supported"),
    /** 225. */
    UNSUPPORTED_DEVSIDE_SYNC(225, "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    /** 226. */
    CONTAINED(226, "an exception occurred that was contained"),
    /** 300. */
    INVALID_SOURCE(300, "device kernel image is invalid"),
    /** 301. */
    FILE_NOT_FOUND(301, "file not found"),
    /** 302. */
    SHARED_OBJECT_SYMBOL_NOT_FOUND(302, "shared object symbol not found"),
    /** 303. */
    SHARED_OBJECT_INIT_FAILED(303, "shared object initialization failed"),
    /** 304. */
    OPERATING_SYSTEM(304, "OS call failed or operation not supported on this OS"),
    /** 400. */
    INVALID_HANDLE(400, "invalid resource handle"),
    /** 401. */
    ILLEGAL_STATE(401, "the operation cannot be performed in the present state"),
    /** 402. */
    LOSSY_QUERY(402, "attempted introspection would be semantically lossy"),
    /** 500. */
    NOT_FOUND(500, "named symbol not found"),
    /** 600. */
    NOT_READY(600, "device not ready"),
    /** 700. */
    ILLEGAL_ADDRESS(700, "an illegal memory access was encountered"),
    /** 701. */
    LAUNCH_OUT_OF_RESOURCES(701, "too many resources requested for launch"),
    /** 702. */
    LAUNCH_TIMEOUT(702, "the launch timed out and was terminated"),
    /** 703. */
    LAUNCH_INCOMPATIBLE_TEXTURING(703, "launch uses incompatible texturing mode"),
    /** 704. */
    PEER_ACCESS_ALREADY_ENABLED(704, "peer access is already enabled"),
    /** 705. */
    PEER_ACCESS_NOT_ENABLED(705, "peer access has not been enabled"),
    /** 708. */
    PRIMARY_CONTEXT_ACTIVE(708, "cannot set while device is active in this process"),
    /** 709. */
    CONTEXT_IS_DESTROYED(709, "context is destroyed"),
    /** 710. */
    ASSERT(710, "device-side assert triggered"),
    /** 711. */
    TOO_MANY_PEERS(711, "peer mapping resources exhausted"),
    /** 712. */
    HOST_MEMORY_ALREADY_REGISTERED(712, "part or all of the requested memory range is already mapped"),
    /** 713. */
    HOST_MEMORY_NOT_REGISTERED(713, "pointer does not correspond to a registered memory region"),
    /** 714. */
    HARDWARE_STACK_ERROR(714, "hardware stack error"),
    /** 715. */
    ILLEGAL_INSTRUCTION(715, "an illegal instruction was encountered"),
    /** 716. */
    MISALIGNED_ADDRESS(716, "misaligned address"),
    /** 717. */
    INVALID_ADDRESS_SPACE(717, "operation not supported on global/shared address space"),
    /** 718. */
    INVALID_PC(718, "invalid program counter"),
    /** 719. */
    LAUNCH_FAILED(719, "unspecified launch failure"),
    /** 720. */
    COOPERATIVE_LAUNCH_TOO_LARGE(720, "too many blocks in cooperative launch"),
    /** 721. */
    TENSOR_MEMORY_LEAK(721, "a kernel exited with tensor memory allocated"),
    /** 800. */
    NOT_PERMITTED(800, "operation not permitted"),
    /** 801. */
    NOT_SUPPORTED(801, "operation not supported"),
    /** 802. */
    SYSTEM_NOT_READY(802, "system not yet initialized"),
    /** 803. */
    SYSTEM_DRIVER_MISMATCH(803, "system has unsupported display driver / cuda driver combination"),
    /** 804. */
    COMPAT_NOT_SUPPORTED_ON_DEVICE(804, "forward compatibility was attempted on non supported HW"),
    /** 805. */
    MPS_CONNECTION_FAILED(805, "MPS client failed to connect to the MPS control daemon or the MPS server"),
    /** 806. */
    MPS_RPC_FAILURE(806, "the remote procedural call between the MPS server and the MPS client failed"),
    /** 807. */
    MPS_SERVER_NOT_READY(807, "MPS server is not ready to accept new MPS client requests"),
    /** 808. */
    MPS_MAX_CLIENTS_REACHED(808, "the hardware resources required to create MPS client have been exhausted"),
    /** 809. */
    MPS_MAX_CONNECTIONS_REACHED(809, "the hardware resources required to support device connection"
            + "s have been exhausted"),
    /** 810. */
    MPS_CLIENT_TERMINATED(810, "the MPS client has been terminated by the server"),
    /** 811. */
    CDP_NOT_SUPPORTED(811, "CUDA dynamic parallelism is not supported"),
    /** 812. */
    CDP_VERSION_MISMATCH(812, "unsupported interaction between versions of CUDA dynamic parallelism"),
    /** 900. */
    STREAM_CAPTURE_UNSUPPORTED(900, "operation not permitted when stream is capturing"),
    /** 901. */
    STREAM_CAPTURE_INVALIDATED(901, "operation failed due to a previous error during capture"),
    /** 902. */
    STREAM_CAPTURE_MERGE(902, "operation would result in a merge of separate capture sequences"),
    /** 903. */
    STREAM_CAPTURE_UNMATCHED(903, "capture was not ended in the same stream as it began"),
    /** 904. */
    STREAM_CAPTURE_UNJOINED(904, "capturing stream has unjoined work"),
    /** 905. */
    STREAM_CAPTURE_ISOLATION(905, "dependency created on uncaptured work in another stream"),
    /** 906. */
    STREAM_CAPTURE_IMPLICIT(906, "operation would make the legacy stream depend on a capturing blocking stream"),
    /** 907. */
    CAPTURED_EVENT(907, "operation not permitted on an event last recorded in a capturing stream"),
    /** 908. */
    STREAM_CAPTURE_WRONG_THREAD(908, "attempt to terminate a thread-local capture sequence from another thread"),
    /** 909. */
    TIMEOUT(909, "wait operation timed out"),
    /** 910. */
    GRAPH_EXEC_UPDATE_FAILURE(910, "the graph update was not performed because it included chang"
            + "es which violated constraints specific to instantiated graph update"),
    /** 911. */
    EXTERNAL_DEVICE(911, "an async error has occured in external entity outside of CUDA"),
    /** 912. */
    INVALID_CLUSTER_SIZE(912, "a kernel launch error has occurred due to cluster misconfiguration"),
    /** 913. */
    FUNCTION_NOT_LOADED(913, "the function handle is not loaded when calling an API that requires a loaded function"),
    /** 914. */
    INVALID_RESOURCE_TYPE(914, "one or more resources passed in are not valid resource types for the operation"),
    /** 915. */
    INVALID_RESOURCE_CONFIGURATION(915, "one or more resources are insufficient or non-applicable for the operation"),
    /** 916. */
    KEY_ROTATION(916, "an error happened during key rotation"),
    /** 999. */
    UNKNOWN(999, "unknown error");

    private static final Map<Integer, CudaError> BY_CODE =
            Stream.of(values()).collect(Collectors.toMap(CudaError::code, Function.identity()));

    private final int code;
    private final String text;

    CudaError(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The number that a driver entry returns. */
    public int code() {
        return code;
    }

    /** What cuGetErrorString says. */
    public String text() {
        return text;
    }

    /** What cuGetErrorName says. */
    public String symbol() {
        return this == SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_" + name();
    }

    /** The constant of a code, null if there is none. */
    public static CudaError of(int code) {
        return BY_CODE.get(code);
    }
}
