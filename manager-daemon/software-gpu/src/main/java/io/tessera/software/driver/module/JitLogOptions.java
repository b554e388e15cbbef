package io.tessera.software.driver.module;

import io.tessera.device.CudaEnums.JitOption;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import java.nio.charset.StandardCharsets;

/**
 * Options of the JIT (CUjit_option): a log for messages and one for errors are written, and the limit of a thread's registers is kept; the
 * others steer a compiler of machine code and have nothing to act upon. Used for one entry, or for the life of a linker.
 */
public final class JitLogOptions {
    /** No option has this number; cuda.h 13.0 has one less, and an option of a newer one is passed over. */
    private static final int OPTIONS = JitOption.NUM_OPTIONS + 1;
    private static final int VALUE_BYTES = 8;

    private final Log info = new Log();
    private final Log errors = new Log();
    private long wallTime;
    private int mostRegisters;

    private static final class Log {
        private long buffer;
        private long sizePlace;
        private long capacity;

        void write(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            long used = 0;
            if (buffer != 0 && capacity > 0) {
                HostMemory.putString(buffer, text, capacity);
                used = Math.min(bytes.length + 1L, capacity);
            }
            if (sizePlace != 0) {
                HostMemory.putLong(sizePlace, used);
            }
        }
    }

    /** Reads options: an array of numbers and one of values, each as wide as a pointer. */
    public JitLogOptions(int count, long options, long values) {
        DriverException.require(count >= 0 && (count == 0 || options != 0 && values != 0), CudaError.INVALID_VALUE);
        for (int i = 0; i < count; i++) {
            long place = values + (long) i * VALUE_BYTES;
            int option = HostMemory.getInt(options + 4L * i);
            DriverException.require(option >= 0 && option < OPTIONS, CudaError.INVALID_VALUE);
            read(option, place);
        }
        info.write("");
        errors.write("");
    }

    private void read(int option, long place) {
        switch (option) {
            case JitOption.MAX_REGISTERS -> mostRegisters = HostMemory.getInt(place);
            case JitOption.WALL_TIME -> wallTime = place;
            case JitOption.INFO_LOG_BUFFER -> info.buffer = HostMemory.getLong(place);
            case JitOption.INFO_LOG_BUFFER_SIZE_BYTES -> size(info, place);
            case JitOption.ERROR_LOG_BUFFER -> errors.buffer = HostMemory.getLong(place);
            case JitOption.ERROR_LOG_BUFFER_SIZE_BYTES -> size(errors, place);
            default -> {}
        }
    }

    private static void size(Log log, long place) {
        log.sizePlace = place;
        log.capacity = HostMemory.getLong(place) & 0xffffffffL;
    }

    /** Writes a message to the log of errors. */
    public void error(String text) {
        errors.write(text);
    }

    /** Registers that a thread may have at most; 0: not given. */
    int mostRegisters() {
        return mostRegisters;
    }

    /** Reports how long compiling took. */
    public void took(long nanos) {
        if (wallTime != 0) {
            HostMemory.putFloat(wallTime, nanos / 1e6f);
        }
    }
}
