package io.tessera.executor.fence.report;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Reads texts to which a driver points. Stateless. */
public final class DriverText {
    private static final long LONGEST = 65_536;

    private DriverText() {
    }

    /** Returns the text at an address, cut where it is very long; empty for address 0. */
    public static String at(long address) {
        if (address == 0) {
            return "";
        }
        MemorySegment text = MemorySegment.ofAddress(address).reinterpret(LONGEST);
        int length = 0;
        while (length < LONGEST && text.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return new String(text.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
