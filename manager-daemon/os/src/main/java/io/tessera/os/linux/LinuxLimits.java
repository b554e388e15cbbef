package io.tessera.os.linux;

import static io.tessera.os.LinuxException.checked;

import io.tessera.os.LimitPort;
import io.tessera.os.LinuxException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** Resource limits of Linux (setrlimit(2)); the numbers are those of x86-64. */
final class LinuxLimits implements LimitPort {
    private static final int RLIMIT_DATA = 2;
    private static final int RLIMIT_CORE = 4;

    @Override
    public void dataBytes(long bytes) throws LinuxException {
        set(RLIMIT_DATA, bytes, "RLIMIT_DATA");
        set(RLIMIT_CORE, 0, "RLIMIT_CORE");
    }

    @Override
    public boolean endedEarly(int adjustment) {
        try {
            Files.writeString(Path.of("/proc/self/oom_score_adj"), Integer.toString(adjustment));
            return true;
        } catch (IOException e) {
            return false; // not root, or a system without it: no part of Tessera depends on it
        }
    }

    private static void set(int resource, long most, String name) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(ValueLayout.JAVA_LONG, 2);
            both.setAtIndex(ValueLayout.JAVA_LONG, 0, most);
            both.setAtIndex(ValueLayout.JAVA_LONG, 1, most);
            checked(LibC.setrlimit(resource, both), "setrlimit " + name, most);
        }
    }
}
