package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Has the driver link several modules of PTX. Code that is to be linked is not the code that a module alone becomes: of 73 kernels
 * some took up to 28 % longer (suite {@code fences}), so a module alone is loaded as text ({@link ProgramLoader}). Stateless;
 * every call on the thread that owns the given calls.
 */
final class DriverLinker {
    private static final int PTX = 1;

    private DriverLinker() {
    }

    /**
     * What came of it.
     *
     * @param result CUresult
     * @param code   the cubin; null where the result is not SUCCESS
     * @param info   the compiler's information
     * @param error  the compiler's errors
     */
    record Made(int result, byte[] code, String info, String error) {
    }

    /** Compiles and links texts, each without a final NUL. */
    static Made link(DriverCalls driver, List<byte[]> texts, CodeOptions options) {
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
                result = add(driver, state, texts, arena);
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

    private static int add(DriverCalls driver, long state, List<byte[]> texts, Arena arena) {
        MemorySegment name = arena.allocateFrom("module");
        for (byte[] text : texts) {
            MemorySegment input = arena.allocate(text.length + 1L);
            MemorySegment.copy(text, 0, input, ValueLayout.JAVA_BYTE, 0, text.length);
            int result = driver.call(DriverEntry.cuLinkAddData_v2, state, PTX, input.address(), input.byteSize(),
                    name.address(), 0, 0, 0);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
        }
        return CudaResult.SUCCESS;
    }
}
