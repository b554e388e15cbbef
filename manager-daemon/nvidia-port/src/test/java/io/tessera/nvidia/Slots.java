package io.tessera.nvidia;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Calls with arguments as Java writes them. Not thread-safe: the slots are its own. */
final class Slots {
    private static final int MOST = 32;
    private final DriverPort port;
    private final MemorySegment slots;

    Slots(DriverPort port, Arena arena) {
        this.port = port;
        this.slots = arena.allocate(ValueLayout.JAVA_LONG, MOST);
    }

    /** Calls; floats go in by their bits, all else as a 64-bit number. */
    int call(DriverEntry entry, Object... arguments) {
        for (int i = 0; i < arguments.length; i++) {
            slots.setAtIndex(ValueLayout.JAVA_LONG, i, switch (arguments[i]) {
                case MemorySegment segment -> segment.address();
                case Float number -> Integer.toUnsignedLong(Float.floatToRawIntBits(number));
                case Number number -> number.longValue();
                default -> throw new IllegalArgumentException(arguments[i].toString());
            });
        }
        return port.call(entry, slots);
    }
}
