package io.tessera.protocol.segment;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.tessera.protocol.WireTypes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Reads a client's segment by mapping its file, without asking the client or the manager.
 *
 * <p>Owns its read-only mapping: close it. Readable by any thread until then. A number may be one event old, but is never torn.
 */
public final class CountersReader implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment segment;

    private CountersReader(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /** Result of an attempt to open a file. */
    public sealed interface Result {
    }

    /** The segment is usable. The receiver closes the reader. */
    public record Ready(CountersReader reader) implements Result {
    }

    /** The file does not exist, or is not complete yet: try again. */
    public record Awaiting(String what) implements Result {
    }

    /** The file is a segment of another version. */
    public record BadVersion(int version) implements Result {
    }

    /** The file, or the sizes in its header, are not those of this version. */
    public record BadSize(long bytes) implements Result {
    }

    /** The file is not a segment. */
    public record BadMagic(long magic) implements Result {
    }

    /**
     * Opens a segment file. Does not follow a link.
     *
     * @throws IOException if the file exists and cannot be read, for example without permission
     */
    public static Result open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, Set.of(StandardOpenOption.READ, NOFOLLOW_LINKS))) {
            long bytes = channel.size();
            if (bytes == 0) {
                return new Awaiting("size of " + file);
            }
            if (bytes != SegmentLayout.SEGMENT_BYTES) {
                return new BadSize(bytes);
            }
            Arena arena = Arena.ofShared();
            boolean kept = false;
            try {
                MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena);
                Result result = check(file, arena, mapped);
                kept = result instanceof Ready;
                return result;
            } finally {
                if (!kept) {
                    arena.close();
                }
            }
        } catch (NoSuchFileException e) {
            return new Awaiting("file " + file);
        }
    }

    private static Result check(Path file, Arena arena, MemorySegment mapped) {
        SegmentHeader header = new SegmentHeader(mapped);
        int version = header.version();
        if (version == 0) {
            return new Awaiting("version of " + file);
        }
        if (header.magic() != SegmentLayout.MAGIC) {
            return new BadMagic(header.magic());
        }
        if (version != SegmentLayout.VERSION) {
            return new BadVersion(version);
        }
        if (header.segmentBytes() != SegmentLayout.SEGMENT_BYTES) {
            return new BadSize(header.segmentBytes());
        }
        if (header.deviceSlots() != SegmentLayout.MAX_DEVICES || header.threadSlots() != SegmentLayout.MAX_THREADS) {
            return new BadSize(header.segmentBytes());
        }
        return new Ready(new CountersReader(arena, mapped));
    }

    /** Returns the value of a process-wide counter in a mapped segment. */
    public static long counter(MemorySegment segment, CounterId id) {
        return WireTypes.getOpaque(segment, SegmentLayout.COUNTERS_OFFSET + 8L * id.index());
    }

    /** Returns every process-wide counter that is not 0, in a mapped segment. */
    public static Map<CounterId, Long> counters(MemorySegment segment) {
        Map<CounterId, Long> values = new EnumMap<>(CounterId.class);
        for (CounterId id : CounterId.values()) {
            long value = counter(segment, id);
            if (value != 0) {
                values.put(id, value);
            }
        }
        return values;
    }

    /** Returns the header, with the device slots. */
    public SegmentHeader header() {
        return new SegmentHeader(segment);
    }

    /** Returns a device slot. */
    public DeviceBlock device(int slot) {
        return DeviceBlock.of(segment, slot);
    }

    /** Returns a thread slot. */
    public ThreadSlot thread(int index) {
        return ThreadSlot.of(segment, index);
    }

    /** Returns a process-wide counter. */
    public long counter(CounterId id) {
        return counter(segment, Objects.requireNonNull(id));
    }

    /** Returns the submissions of a kind over the life of the client. */
    public long submitted(SubmissionKind kind) {
        return ThreadSlot.submitted(segment, kind);
    }

    /** Returns the submissions to a device slot over the life of the client. */
    public long deviceSubmissions(int slot) {
        return ThreadSlot.deviceSubmissions(segment, slot);
    }

    /** Returns the distinct errors so far. */
    public List<LoggedError> errors() {
        return ErrorLogReader.read(segment);
    }

    @Override
    public void close() {
        arena.close();
    }
}
