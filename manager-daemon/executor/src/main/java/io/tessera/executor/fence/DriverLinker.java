package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Has the driver make machine code of PTX. Stateless; every call on the thread that owns the given calls. */
final class DriverLinker {
    private static final int PTX = 1;
    /** CUjit_option. */
    private static final int INFO_LOG = 3;
    private static final int INFO_LOG_BYTES = 4;
    private static final int ERROR_LOG = 5;
    private static final int ERROR_LOG_BYTES = 6;
    private static final int LOG_BYTES = 16_384;

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

    /** Compiles texts, each without a final NUL, and links them if they are several. */
    static Made link(DriverCalls driver, List<byte[]> texts, CodeOptions options) {
        try (Arena arena = Arena.ofConfined()) {
            int own = options.numbers().size();
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_INT, own + 4L);
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, own + 4L);
            MemorySegment info = arena.allocate(LOG_BYTES);
            MemorySegment error = arena.allocate(LOG_BYTES);
            for (int i = 0; i < own; i++) {
                set(numbers, values, i, options.numbers().get(i), options.values().get(i));
            }
            set(numbers, values, own, INFO_LOG, info.address());
            set(numbers, values, own + 1, INFO_LOG_BYTES, LOG_BYTES);
            set(numbers, values, own + 2, ERROR_LOG, error.address());
            set(numbers, values, own + 3, ERROR_LOG_BYTES, LOG_BYTES);
            int result = driver.call(DriverEntry.cuLinkCreate_v2, own + 4L, numbers.address(), values.address(),
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
            return new Made(result, code, text(info), text(error));
        }
    }

    private static void set(MemorySegment numbers, MemorySegment values, int at, int number, long value) {
        numbers.setAtIndex(ValueLayout.JAVA_INT, at, number);
        values.setAtIndex(ValueLayout.JAVA_LONG, at, value);
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

    private static String text(MemorySegment log) {
        log.set(ValueLayout.JAVA_BYTE, log.byteSize() - 1, (byte) 0);
        return log.getString(0);
    }
}
