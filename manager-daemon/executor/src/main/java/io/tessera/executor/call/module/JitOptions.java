package io.tessera.executor.call.module;

import io.tessera.device.CudaEnums.JitOption;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Options of the JIT compiler in one call. In a record they are numbers and logs; for the driver they are an array with addresses of log buffers (RELAY.md,
 * section 8). Lives for one call.
 */
final class JitOptions {
    private static final Set<Integer> ADDRESSES = Set.of(JitOption.GLOBAL_SYMBOL_NAMES, JitOption.GLOBAL_SYMBOL_ADDRESSES,
            JitOption.REFERENCED_KERNEL_NAMES,
            JitOption.REFERENCED_VARIABLE_NAMES);
    private static final int MOST_OPTIONS = 64;
    private static final long MOST_LOG_BYTES = 24_576;

    private final Room room;
    private final MemorySegment options;
    private final MemorySegment travelled;
    private final MemorySegment values;
    private final MemorySegment info;
    private final MemorySegment error;
    private final int count;
    private final int outBytes;

    /** Provides memory that the driver writes: bytes, zeroed. */
    @FunctionalInterface
    interface Room {
        MemorySegment allocate(long bytes) throws RejectedException;
    }

    /** Creates the options of one call; errors as with the other constructor. */
    JitOptions(CallFrame frame, int countAt, int optionsAt, int valuesAt) throws RejectedException {
        this(frame, countAt, optionsAt, valuesAt, frame::room);
    }

    /**
     * Reads the options of a call and puts the driver's array in their place.
     *
     * @param room allocates memory that lives as long as the driver writes there
     *
     * @throws RejectedException if they are not as RELAY.md describes
     */
    JitOptions(CallFrame frame, int countAt, int optionsAt, int valuesAt, Room room) throws RejectedException {
        this.room = room;
        long asked = frame.slot(countAt);
        if (asked < 0 || asked > MOST_OPTIONS || asked > 0 && (frame.inBytes(optionsAt) < asked * Integer.BYTES
                || frame.inBytes(valuesAt) < asked * Long.BYTES)) {
            throw CallFrame.malformed(asked + " options of the JIT");
        }
        count = (int) asked;
        options = room.allocate(Math.max(1, count) * (long) Integer.BYTES);
        if (count > 0) {
            MemorySegment.copy(frame.data(optionsAt), 0, options, 0, (long) count * Integer.BYTES);
        }
        travelled = frame.data(valuesAt);
        outBytes = frame.outBytes(valuesAt);
        values = room.allocate(Math.max(1, count) * (long) Long.BYTES);
        info = log(JitOption.INFO_LOG_BUFFER_SIZE_BYTES);
        error = log(JitOption.ERROR_LOG_BUFFER_SIZE_BYTES);
        for (int i = 0; i < count; i++) {
            int option = option(i);
            if (ADDRESSES.contains(option)) {
                throw CallFrame.malformed("an option whose value is an address: " + option);
            }
            values.set(WireTypes.U64, (long) i * Long.BYTES, switch (option) {
                case JitOption.INFO_LOG_BUFFER -> info.address();
                case JitOption.ERROR_LOG_BUFFER -> error.address();
                default -> travelled.get(WireTypes.U64, (long) i * Long.BYTES);
            });
        }
        if (outBytes > 0 && outBytes < answerBytes()) {
            throw CallFrame.malformed("too little room for the JIT's answer");
        }
        frame.slot(valuesAt, count == 0 ? 0 : values.address());
        frame.slot(optionsAt, count == 0 ? 0 : options.address());
    }

    private int option(int i) {
        return options.get(WireTypes.U32, (long) i * Integer.BYTES);
    }

    private MemorySegment log(int sizeOption) throws RejectedException {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            if (option(i) == sizeOption) {
                bytes = travelled.get(WireTypes.U64, (long) i * Long.BYTES) & 0xffff_ffffL;
            }
        }
        if (bytes > MOST_LOG_BYTES) {
            throw CallFrame.malformed("a log of " + bytes + " bytes");
        }
        return room.allocate(bytes).asSlice(0, bytes);
    }

    /** Returns the options that change the code. */
    CodeOptions code() {
        List<Integer> numbers = new ArrayList<>();
        List<Long> of = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(option(i));
            of.add(travelled.get(WireTypes.U64, (long) i * Long.BYTES));
        }
        return CodeOptions.of(numbers, of);
    }

    /** Writes the logs as the driver would; a log that is longer than the program's buffer is cut. */
    void log(String information, String errors) {
        log(information, info, JitOption.INFO_LOG_BUFFER_SIZE_BYTES);
        log(errors, error, JitOption.ERROR_LOG_BUFFER_SIZE_BYTES);
    }

    private void log(String text, MemorySegment to, int sizeOption) {
        if (to.byteSize() == 0) {
            return;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = (int) Math.min(bytes.length, to.byteSize() - 1);
        MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, 0, length);
        to.set(ValueLayout.JAVA_BYTE, length, (byte) 0);
        for (int i = 0; i < count; i++) {
            if (option(i) == sizeOption) {
                values.set(WireTypes.U64, (long) i * Long.BYTES, length + 1L);
            }
        }
    }

    private long answerBytes() {
        return (long) count * Long.BYTES + RelayLayout.align(info.byteSize(), 8L)
                + RelayLayout.align(error.byteSize(), 8L);
    }

    /** Copies the driver's output to the data that travels to the client. */
    void answer() {
        if (outBytes != 0) {
            write(travelled);
        }
    }

    /**
     * Copies the driver's output to other memory.
     *
     * @throws RejectedException if there is too little room
     */
    void answer(MemorySegment to, long bytes) throws RejectedException {
        if (bytes < answerBytes()) {
            throw CallFrame.malformed("too little room for the JIT's answer");
        }
        write(to);
    }

    private void write(MemorySegment to) {
        for (int i = 0; i < count; i++) {
            boolean address = option(i) == JitOption.INFO_LOG_BUFFER || option(i) == JitOption.ERROR_LOG_BUFFER;
            to.set(WireTypes.U64, (long) i * Long.BYTES,
                    address ? 0 : values.get(WireTypes.U64, (long) i * Long.BYTES));
        }
        long at = (long) count * Long.BYTES;
        MemorySegment.copy(info, 0, to, at, info.byteSize());
        at += RelayLayout.align(info.byteSize(), 8L);
        MemorySegment.copy(error, 0, to, at, error.byteSize());
    }
}
