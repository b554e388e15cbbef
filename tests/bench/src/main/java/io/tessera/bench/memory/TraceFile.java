package io.tessera.bench.memory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Reads traces of programs, compressed with gzip where the file's name ends in {@code .gz}. Three kinds of lines, also
 * mixed:
 *
 * <ul>
 *   <li>those of {@code TESSERA_TRACE}: microseconds, thread, entry, result, eight arguments in hexadecimal, of which the
 *       first is what was made where an entry makes memory. Memory functions are taken, other entries and calls that
 *       failed are passed over.
 *   <li>{@code A ADDRESS BYTES} and {@code F ADDRESS}, the address in hexadecimal: an allocator's own events.
 *   <li>{@code + N BYTES} and {@code - N}, {@code r} and {@code l} for addresses, {@code c} and {@code d} for memory that a
 *       program makes itself: what {@code tests/gpu/run traces} keeps. N is decimal.
 * </ul>
 *
 * A free of something that was made before the trace began is passed over; what is made at an address or under a number
 * that is still live is an error, because then the trace has holes, and so is the end of a number that is not live.
 */
public final class TraceFile {
    private static final int FIRST_ARGUMENT = 4;

    private final MemoryTrace trace = new MemoryTrace();

    /** Addresses and handles, by what they are: the same number may be an address and a handle. */
    private final Map<MemoryTrace.Kind, Map<Long, Integer>> live = new HashMap<>();
    private int line;

    private TraceFile() {
    }

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, or if a line of it is damaged; the message has its number
     */
    public static MemoryTrace read(Path file) throws IOException {
        try (InputStream bytes = Files.newInputStream(file)) {
            return read(file.toString(), bytes);
        }
    }

    /**
     * Reads what a stream holds, which stays the caller's.
     *
     * @param name of where it comes from, for messages; it says whether the stream is compressed
     */
    static MemoryTrace read(String name, InputStream bytes) throws IOException {
        InputStream text = name.endsWith(".gz") ? new GZIPInputStream(bytes) : bytes;
        BufferedReader reader = new BufferedReader(new InputStreamReader(text, StandardCharsets.UTF_8));
        TraceFile result = new TraceFile();
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            result.line++;
            try {
                result.take(line.split(" "));
            } catch (IllegalArgumentException e) {
                throw new IOException(name + ":" + result.line + ": " + e.getMessage(), e);
            }
        }
        return result.trace;
    }

    private void take(String[] fields) {
        switch (fields[0]) {
            case "", "#" -> {
                // nothing, or a remark
            }
            case "A" -> begin(MemoryTrace.Kind.ALLOCATE, hex(field(fields, 1)), Long.parseLong(field(fields, 2)));
            case "F" -> end(MemoryTrace.Kind.ALLOCATE, MemoryTrace.Kind.FREE, hex(field(fields, 1)));
            case "+" -> begin(MemoryTrace.Kind.ALLOCATE, number(fields), Long.parseLong(field(fields, 2)));
            case "r" -> begin(MemoryTrace.Kind.RESERVE, number(fields), Long.parseLong(field(fields, 2)));
            case "c" -> begin(MemoryTrace.Kind.CREATE, number(fields), Long.parseLong(field(fields, 2)));
            case "-" -> endLive(MemoryTrace.Kind.ALLOCATE, MemoryTrace.Kind.FREE, number(fields));
            case "l" -> endLive(MemoryTrace.Kind.RESERVE, MemoryTrace.Kind.RELEASE, number(fields));
            case "d" -> endLive(MemoryTrace.Kind.CREATE, MemoryTrace.Kind.DESTROY, number(fields));
            default -> call(fields);
        }
    }

    private static long number(String[] fields) {
        return Long.parseLong(field(fields, 1));
    }

    private void endLive(MemoryTrace.Kind begun, MemoryTrace.Kind kind, long number) {
        if (!live.getOrDefault(begun, Map.of()).containsKey(number)) {
            throw new IllegalArgumentException(number + " is not live");
        }
        end(begun, kind, number);
    }

    private static String field(String[] fields, int at) {
        if (at >= fields.length) {
            throw new IllegalArgumentException("the line ends early");
        }
        return fields[at];
    }

    private static long hex(String text) {
        return Long.parseUnsignedLong(text, 16);
    }

    private static long argument(String[] fields, int number) {
        return hex(field(fields, FIRST_ARGUMENT + number));
    }

    private void call(String[] fields) {
        if (!field(fields, 3).equals("0")) {
            return;
        }
        switch (field(fields, 2)) {
            case "cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocAsync", "cuMemAllocAsync_ptsz",
                    "cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz" ->
                begin(MemoryTrace.Kind.ALLOCATE, argument(fields, 0), argument(fields, 1));
            case "cuMemFree_v2", "cuMemFreeAsync", "cuMemFreeAsync_ptsz" ->
                end(MemoryTrace.Kind.ALLOCATE, MemoryTrace.Kind.FREE, argument(fields, 0));
            case "cuMemAddressReserve" -> begin(MemoryTrace.Kind.RESERVE, argument(fields, 0), argument(fields, 1));
            case "cuMemAddressFree" ->
                end(MemoryTrace.Kind.RESERVE, MemoryTrace.Kind.RELEASE, argument(fields, 0));
            case "cuMemCreate" -> begin(MemoryTrace.Kind.CREATE, argument(fields, 0), argument(fields, 1));
            case "cuMemRelease" -> end(MemoryTrace.Kind.CREATE, MemoryTrace.Kind.DESTROY, argument(fields, 0));
            default -> {
                // makes and frees no device memory
            }
        }
    }

    private void begin(MemoryTrace.Kind kind, long address, long bytes) {
        Map<Long, Integer> known = live.computeIfAbsent(kind, _ -> new HashMap<>());
        if (known.containsKey(address)) {
            throw new IllegalArgumentException("0x" + Long.toHexString(address) + " is live already");
        }
        known.put(address, trace.begin(kind, bytes));
    }

    private void end(MemoryTrace.Kind begun, MemoryTrace.Kind kind, long address) {
        Integer block = live.computeIfAbsent(begun, _ -> new HashMap<>()).remove(address);
        if (block != null) {
            trace.end(kind, block);
        }
    }
}
