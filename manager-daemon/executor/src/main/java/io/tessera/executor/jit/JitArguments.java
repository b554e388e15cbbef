package io.tessera.executor.jit;

import io.tessera.device.CudaEnums.JitOption;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Options of a compilation in the driver's form, with buffers for its compiler's output. Lives as long as its arena. */
final class JitArguments {
    private static final int LOG_BYTES = 16_384;

    private final int count;
    private final MemorySegment numbers;
    private final MemorySegment values;
    private final MemorySegment info;
    private final MemorySegment error;

    JitArguments(CodeOptions options, Arena arena) {
        int own = options.numbers().size();
        count = own + 4;
        numbers = arena.allocate(ValueLayout.JAVA_INT, count);
        values = arena.allocate(ValueLayout.JAVA_LONG, count);
        info = arena.allocate(LOG_BYTES);
        error = arena.allocate(LOG_BYTES);
        for (int i = 0; i < own; i++) {
            set(i, options.numbers().get(i), options.values().get(i));
        }
        set(own, JitOption.INFO_LOG_BUFFER, info.address());
        set(own + 1, JitOption.INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
        set(own + 2, JitOption.ERROR_LOG_BUFFER, error.address());
        set(own + 3, JitOption.ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
    }

    private void set(int at, int number, long value) {
        numbers.setAtIndex(ValueLayout.JAVA_INT, at, number);
        values.setAtIndex(ValueLayout.JAVA_LONG, at, value);
    }

    /** Returns the number of options. */
    long count() {
        return count;
    }

    /** Returns the address of the options' numbers. */
    long numbers() {
        return numbers.address();
    }

    /** Returns the address of the options' values, to which the driver also writes. */
    long values() {
        return values.address();
    }

    /** Returns the compiler's information. */
    String info() {
        return text(info);
    }

    /** Returns the compiler's errors. */
    String error() {
        return text(error);
    }

    private static String text(MemorySegment log) {
        log.set(ValueLayout.JAVA_BYTE, log.byteSize() - 1, (byte) 0);
        return log.getString(0);
    }
}
