package io.tessera.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The activity that the scripted driver recorded, over all processes of a test, while they run. Layout: tests/scripted-driver/README.md.
 */
public final class DriverActivity implements AutoCloseable {
    private static final int PROCESSES = 256;
    private static final int RING = 8192;
    private static final long PROCESSES_OFFSET = 12_288;
    private static final long PROCESS_BYTES = 272;
    private static final long DEVICES_OFFSET = 81_920;
    private static final long DEVICE_BYTES = 262_720;
    private static final long SIZE = DEVICES_OFFSET + 8 * DEVICE_BYTES;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment map;

    /** Work of one process on a device. */
    public record Interval(int pid, boolean executing, long beginNs, long endNs) {
    }

    /** Two processes that had work at the same time. */
    public record Overlap(int enteringPid, int presentPid, long atNs) {
    }

    DriverActivity(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            if (channel.size() < SIZE) {
                channel.write(java.nio.ByteBuffer.allocate(1), SIZE - 1);
            }
            map = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, arena);
        } catch (IOException e) {
            throw new UncheckedIOException("the witness cannot be mapped", e);
        }
    }

    private long word(long offset) {
        return (long) ValueLayout.JAVA_LONG.varHandle().getVolatile(map, offset);
    }

    private int half(long offset) {
        return (int) ValueLayout.JAVA_INT.varHandle().getVolatile(map, offset);
    }

    private static long device(int device) {
        return DEVICES_OFFSET + device * DEVICE_BYTES;
    }

    public long overlaps(int device) {
        return word(device(device));
    }

    public long mostProcesses(int device) {
        return word(device(device) + 8);
    }

    public long switches(int device) {
        return word(device(device) + 40);
    }

    public List<Overlap> firstOverlaps(int device) {
        int count = (int) Math.min(32, overlaps(device));
        return IntStream.range(0, count).mapToObj(i -> {
            long at = device(device) + 64 + i * 16L;
            return new Overlap(half(at), half(at + 4), word(at + 8));
        }).toList();
    }

    /** The last intervals, at most 8192, in the order in which they ended. */
    public List<Interval> intervals(int device) {
        long written = word(device(device) + 48);
        List<Interval> found = new ArrayList<>();
        for (long i = Math.max(0, written - RING); i < written; i++) {
            long at = device(device) + 64 + 512 + (i % RING) * 32;
            if (word(at) == i + 1) {
                found.add(new Interval(half(at + 8), half(at + 12) == 2, word(at + 16), word(at + 24)));
            }
        }
        return found;
    }

    private long ofProcess(long pid, long offset, int device) {
        for (int i = 0; i < PROCESSES; i++) {
            long at = PROCESSES_OFFSET + i * PROCESS_BYTES;
            if (half(at) == (int) pid) {
                return word(at + offset + device * 8L);
            }
        }
        return 0;
    }

    public long submissions(long pid, int device) {
        return ofProcess(pid, 16 + 128, device);
    }

    public long executed(long pid, int device) {
        return ofProcess(pid, 16 + 192, device);
    }

    public long busy(long pid, int device) {
        return ofProcess(pid, 16, device);
    }

    public long usedBytes(long pid, int device) {
        return ofProcess(pid, 16 + 64, device);
    }

    @Override
    public void close() {
        arena.close();
    }
}
