package io.tessera.executor.session;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Checks whether this process has room for one more client: mappings, of which the kernel allows a limited number ({@code vm.max_map_count}), and descriptors.
 * A JVM cannot continue without them, so a new client is refused before they run out.
 */
final class ProcessCapacity {
    /** Mappings that are kept free. A client takes at least seven mappings and three descriptors, and may take more later. */
    private static final long MAPPINGS_KEPT = 4_096;
    private static final long DESCRIPTORS_KEPT = 256;
    private static final String DESCRIPTORS = "Max open files";

    private final Path process;
    private final Path mostMappings;

    ProcessCapacity() {
        this(Path.of("/proc/self"), Path.of("/proc/sys/vm/max_map_count"));
    }

    /** Creates an instance that reads other files of the same form. */
    ProcessCapacity(Path process, Path mostMappings) {
        this.process = process;
        this.mostMappings = mostMappings;
    }

    /** Returns the reason why one more client cannot be served beside this many; null: it can, or nothing is known. */
    String refusal(long clients) {
        try {
            long mappings = lines(process.resolve("maps"));
            long most = number(mostMappings);
            if (mappings > most - Math.min(MAPPINGS_KEPT, most / 8)) {
                return "this executor has " + clients + " clients, and " + mappings + " of the " + most
                        + " mappings that the kernel allows it are in use; raise vm.max_map_count (sysctl), or end programs of this device";
            }
            long descriptors = entries(process.resolve("fd"));
            long allowed = allowedDescriptors();
            if (descriptors > allowed - Math.min(DESCRIPTORS_KEPT, allowed / 8)) {
                return "this executor has " + clients + " clients, and " + descriptors + " of the " + allowed
                        + " descriptors that it may have are in use; raise ulimit -n of the manager, or end programs of this device";
            }
            return null;
        } catch (IOException | RuntimeException e) {
            return null; // the kernel reports it itself when there is no room
        }
    }

    /** Reads the number in one read. {@link Files#readString} first reads one byte, after which the kernel does not return the rest. */
    private static long number(Path file) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            return Long.parseLong(reader.readLine().strip());
        }
    }

    private static long lines(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        }
    }

    private static long entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }

    private long allowedDescriptors() throws IOException {
        for (String line : Files.readAllLines(process.resolve("limits"))) {
            if (line.startsWith(DESCRIPTORS)) {
                String soft = line.substring(DESCRIPTORS.length()).strip().split("\\s+")[0];
                return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
            }
        }
        return Long.MAX_VALUE;
    }
}
