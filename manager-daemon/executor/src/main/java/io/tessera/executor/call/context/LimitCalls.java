package io.tessera.executor.call.context;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits of the context, which all clients share. They only grow. They take device memory that is charged to no tenant, so a client may raise them only up to a
 * bound. A client that lowers one then reads the value that it set, as from a driver, but the limit itself stays. One owner thread.
 */
final class LimitCalls {
    /** Maximum by {@code CUlimit}: bytes of the stack of a thread, of the printf buffer, and of the heap of kernels. */
    private static final long[] MOST = {64L << 10, 64L << 20, 256L << 20};
    private static final String[] NAMES = {"a stack", "a buffer for printf", "a heap for malloc in kernels"};

    private final DriverCalls driver;
    /** Values that the client set, by limit; the context's limit is as high or higher. */
    private final Map<Long, Long> lowered = new HashMap<>();

    LimitCalls(DriverCalls driver) {
        this.driver = driver;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuCtxSetLimit).executes(this::set);
        calls.row(DriverApi.cuCtxGetLimit).executes(this::get);
        calls.plain(DriverApi.cuCtxResetPersistingL2Cache, DriverApi.cuProfilerStart, DriverApi.cuProfilerStop);
    }

    /** Parameters: value, limit. */
    private int get(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        Long own = lowered.get(frame.slot(1));
        if (result == CudaResult.SUCCESS && own != null) {
            frame.data(0).set(WireTypes.U64, 0, own);
        }
        return result;
    }

    /** Parameters: limit, value. */
    private int set(CallFrame frame, ClientContext context) throws RejectedException {
        int result = driver.call(DriverEntry.cuCtxGetLimit, driver.out(0), frame.slot(0));
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        if (Long.compareUnsigned(driver.outLong(0), frame.slot(1)) >= 0) {
            lowered.put(frame.slot(0), frame.slot(1));
            return result;
        }
        long limit = frame.slot(0);
        if (limit < MOST.length && limit >= 0 && Long.compareUnsigned(frame.slot(1), MOST[(int) limit]) > 0) {
            throw RejectedException
                    .bound(NAMES[(int) limit] + " of " + Long.toUnsignedString(frame.slot(1)) + " bytes is more than the " + MOST[(int) limit]
                            + " that a program in space sharing may set (cudaDeviceSetLimit); set less"
                            + ProgramRefusedException.REMEDY.replace("; ", ", or "));
        }
        result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            lowered.remove(frame.slot(0)); // a driver may raise it further than requested, and reports that value
        }
        return result;
    }
}
