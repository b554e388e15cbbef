package io.tessera.executor.fence;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.protocol.relay.RelayLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Attributes of the driver's kernels and functions.
 *
 * @param driver the driver
 * @param device its number of the device
 */
public record KernelAttributes(DriverCalls driver, int device) {
    private static final Logger LOG = LoggerFactory.getLogger(KernelAttributes.class);
    /** Shared memory of a block where the program does not ask for more (CUDA C++ Programming Guide, compute capabilities). */
    private static final int DEFAULT_SHARED = 48 << 10;
    /** The first and the last of those that programs set. */
    private static final int FIRST_SETTABLE = FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES;
    private static final int LAST_SETTABLE = FunctionAttribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE;

    /** Returns an attribute; -1 where the driver does not report it. */
    int get(long function, boolean kernel, int attribute) {
        return ask(function, kernel, attribute) == CudaResult.SUCCESS ? driver.outInt(0) : -1;
    }

    /**
     * Lets launches of a kernel have this much more dynamic shared memory than it may have by itself, as long as the program has not set an
     * amount.
     */
    void addDynamicShared(long function, boolean kernel, int bytes) {
        int most = DEFAULT_SHARED - get(function, kernel, FunctionAttribute.SHARED_SIZE_BYTES);
        if (get(function, kernel, FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES) == most && (kernel
                ? driver.call(DriverEntry.cuKernelSetAttribute, FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most + bytes, function, device)
                : driver.call(DriverEntry.cuFuncSetAttribute, function, FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        most + bytes)) != CudaResult.SUCCESS) {
            LOG.warn("a kernel is not given {} bytes of shared memory more: launches that need all of it are refused", bytes);
        }
    }

    /** Copies the program's settings of a kernel or function to another function, including settings that were reset: 0 or -1. */
    void copy(long from, boolean kernel, long to) {
        for (int attribute = FIRST_SETTABLE; attribute <= LAST_SETTABLE; attribute++) {
            if (ask(from, kernel, attribute) == CudaResult.SUCCESS) {
                int value = driver.outInt(0);
                if (ask(to, false, attribute) != CudaResult.SUCCESS || driver.outInt(0) != value) {
                    driver.call(DriverEntry.cuFuncSetAttribute, to, attribute, value);
                }
            }
        }
    }

    /**
     * Asks for an attribute. The driver reports some of them (threads of a block, constant and dynamic shared memory) only for functions that
     * are loaded. Functions enumerated from a module are loaded at their first use, so such a function is loaded here.
     *
     * @return the driver's CUresult; the value is in {@code driver.outInt(0)}
     */
    public int ask(long function, boolean kernel, int attribute) {
        int result = askOnce(function, kernel, attribute);
        if (result != CudaResult.FUNCTION_NOT_LOADED || kernel) {
            return result;
        }
        result = driver.call(DriverEntry.cuFuncLoad, function);
        return result == CudaResult.SUCCESS ? askOnce(function, false, attribute) : result;
    }

    private int askOnce(long function, boolean kernel, int attribute) {
        return kernel ? driver.call(DriverEntry.cuKernelGetAttribute, driver.out(0), attribute, function, device)
                : driver.call(DriverEntry.cuFuncGetAttribute, driver.out(0), attribute, function);
    }

    /** Returns the length of a kernel's packed parameters, as far as the driver reports it; 0: it does not. */
    long parameterBytes(long function, boolean kernel) {
        DriverEntry entry = kernel ? DriverEntry.cuKernelGetParamInfo : DriverEntry.cuFuncGetParamInfo;
        long end = 0;
        for (int i = 0; i < RelayLayout.PARAMETERS
                && driver.call(entry, function, i, driver.out(0), driver.out(1)) == CudaResult.SUCCESS; i++) {
            end = Math.max(end, driver.outLong(0) + driver.outLong(1));
        }
        return end;
    }
}
