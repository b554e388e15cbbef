package io.tessera.os.memory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bounds on the memory of a process by its control groups (version 1 or 2): those of its own group and of the groups above it, as far as this
 * process sees them. A container is such a group. Unused pages of files count as free, because the kernel drops them before it ends a process. A
 * group without a bound, or one that cannot be read, sets no bound. Immutable; reads files at each call. Thread-safe.
 */
public final class ControlGroupMemory {
    /** The bound of a process without any. */
    public static final long UNBOUNDED = Long.MAX_VALUE;

    private static final Pattern FIELDS_OF_MOUNT = Pattern.compile("\\S+ \\S+ \\S+ (\\S+) (\\S+) .*? - (cgroup2?) \\S+ (\\S+)");
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-3][0-7]{2})");

    /** The names of the files in a group's folder. */
    private record Version(List<String> limits, String usage, String unusedFiles) {
        private static final Version FIRST = new Version(List.of("memory.limit_in_bytes"), "memory.usage_in_bytes", "total_inactive_file");
        /** Version 2; beyond memory.high a process is slowed down so much that it hardly makes progress. */
        private static final Version SECOND = new Version(List.of("memory.max", "memory.high"), "memory.current", "inactive_file");
    }

    private final Version version;
    /** The process's group and those above it. */
    private final List<Path> groups;

    private ControlGroupMemory(Version version, List<Path> groups) {
        this.version = version;
        this.groups = List.copyOf(groups);
    }

    /** Returns the groups of this process. */
    public static ControlGroupMemory ofThisProcess() {
        return of(Path.of("/"), "self");
    }

    /** Returns the present groups of a process; a process that does not exist, or is another user's and hidden, has no bound. */
    public static ControlGroupMemory of(long pid) {
        return of(Path.of("/"), Long.toString(pid));
    }

    /**
     * Returns the groups of a process.
     *
     * @param root    folder that contains {@code proc} and the mounted groups
     * @param process name of a folder in {@code proc}
     */
    public static ControlGroupMemory of(Path root, String process) {
        String second = null;
        for (String line : lines(root.resolve("proc").resolve(process).resolve("cgroup"))) {
            String[] fields = line.split(":", 3); // number:controllers:path
            if (fields.length == 3 && List.of(fields[1].split(",")).contains("memory")) {
                return new ControlGroupMemory(Version.FIRST, folders(root, "cgroup", fields[2]));
            }
            second = fields.length == 3 && fields[0].equals("0") ? fields[2] : second;
        }
        return new ControlGroupMemory(Version.SECOND, second == null ? List.of() : folders(root, "cgroup2", second));
    }

    /** Returns the folders in which the groups of a path are visible here. With a namespace of groups the path may be outside of what is mounted. */
    private static List<Path> folders(Path root, String type, String path) {
        for (String line : lines(root.resolve("proc/self/mountinfo"))) {
            Matcher mount = FIELDS_OF_MOUNT.matcher(line);
            boolean fits = mount.lookingAt() && mount.group(3).equals(type)
                    && (type.equals("cgroup2") || List.of(mount.group(4).split(",")).contains("memory"));
            if (fits) {
                Path top = root.resolve(plain(mount.group(2)).substring(1)).normalize();
                Path seen = Path.of(plain(mount.group(1)));
                Path group = Path.of(path).normalize();
                Path folder = group.startsWith(seen) ? top.resolve(seen.relativize(group)).normalize() : top;
                List<Path> folders = new ArrayList<>();
                for (Path each = folder; each.startsWith(top); each = each.getParent()) {
                    folders.add(each);
                }
                return folders;
            }
        }
        return List.of();
    }

    /** Decodes a field of mountinfo, in which a space and the like are octal. */
    private static String plain(String field) {
        return OCTAL.matcher(field).replaceAll(match -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(match.group(1), 8))));
    }

    /** Returns a name of the process's group: the same for processes that share all bounds; empty if no group is visible. */
    public String group() {
        return groups.isEmpty() ? "" : groups.getFirst().toString();
    }

    /** Returns the smallest bound on the process's memory in bytes, or {@link #UNBOUNDED}. */
    public long limitBytes() {
        return groups.stream().mapToLong(this::limit).min().orElse(UNBOUNDED);
    }

    /** Returns how much more memory, in bytes, the process and others of its groups may take together; {@link #UNBOUNDED}: no bound. */
    public long roomBytes() {
        long room = UNBOUNDED;
        for (Path group : groups) {
            long limit = limit(group);
            if (limit != UNBOUNDED) {
                long used = number(first(group.resolve(version.usage())), 0) - unusedFiles(group);
                room = Math.min(room, Math.max(0, limit - Math.max(0, used)));
            }
        }
        return room;
    }

    private long limit(Path group) {
        return version.limits().stream().mapToLong(name -> number(first(group.resolve(name)), UNBOUNDED)).min().orElse(UNBOUNDED);
    }

    private long unusedFiles(Path group) {
        for (String line : lines(group.resolve("memory.stat"))) {
            if (line.startsWith(version.unusedFiles() + " ")) {
                return number(line.substring(version.unusedFiles().length() + 1), 0);
            }
        }
        return 0;
    }

    private static String first(Path file) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? "" : lines.getFirst();
    }

    /** Parses a value; for no bound, version 1 writes a number above 2^62, and version 2 the word max. */
    private static long number(String text, long otherwise) {
        try {
            long number = Long.parseLong(text.strip());
            return number < 0 || number >= 1L << 62 ? otherwise : number;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1).lines().toList();
        } catch (IOException e) {
            return List.of(); // no such group, or not readable for this user
        }
    }
}
