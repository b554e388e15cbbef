package io.tessera.executor.jit;

import io.tessera.device.CudaEnums.JitInput;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Has a driver link several inputs. The linker's code can be slower than that of a module which is loaded alone: of 73 kernels, some took up to
 * 28 % longer (suite {@code fences}). So a single module is loaded as text ({@link TextLibrary}). Stateless; must be called on the thread
 * that owns the given calls.
 */
public final class DriverLinker {
    private DriverLinker() {
    }

    /**
     * Result of linking.
     *
     * @param result CUresult
     * @param code   the cubin; null where the result is not SUCCESS
     * @param info   the compiler's information
     * @param error  the compiler's errors
     */
    public record Made(int result, byte[] code, String info, String error) {
    }

    /** Compiles and links. */
    public static Made link(DriverCalls driver, List<LinkerInput> inputs, CodeOptions options) {
        try (Arena arena = Arena.ofConfined()) {
            JitArguments arguments = new JitArguments(options, arena);
            int result = driver.call(DriverEntry.cuLinkCreate_v2, arguments.count(), arguments.numbers(), arguments.values(),
                    driver.out(0));
            if (result != CudaResult.SUCCESS) {
                return new Made(result, null, "", "");
            }
            long state = driver.outLong(0);
            byte[] code = null;
            try {
                result = add(driver, state, inputs, arena);
                if (result == CudaResult.SUCCESS) {
                    result = driver.call(DriverEntry.cuLinkComplete, state, driver.out(0), driver.out(1));
                    code = result == CudaResult.SUCCESS ? MemorySegment.ofAddress(driver.outLong(0))
                            .reinterpret(driver.outLong(1)).toArray(ValueLayout.JAVA_BYTE) : null;
                }
            } finally {
                driver.call(DriverEntry.cuLinkDestroy, state);
            }
            return new Made(result, code, arguments.info(), arguments.error());
        }
    }

    private static int add(DriverCalls driver, long state, List<LinkerInput> inputs, Arena arena) {
        MemorySegment name = arena.allocateFrom("module");
        for (LinkerInput input : inputs) {
            byte[] data = input.data();
            boolean ended = input.type() != JitInput.PTX || data.length > 0 && data[data.length - 1] == 0;
            MemorySegment memory = arena.allocate(data.length + (ended ? 0 : 1L), 64);
            MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, 0, data.length);
            int result = driver.call(DriverEntry.cuLinkAddData_v2, state, input.type(), memory.address(), memory.byteSize(),
                    name.address(), 0, 0, 0);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
        }
        return CudaResult.SUCCESS;
    }
}
