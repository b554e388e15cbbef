package io.tessera.guardian.trust;

import io.tessera.guardian.image.ModuleImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The images that a user trusts. The file has one line per image: the hash, the date and the name; lines that begin with {@code #} are comments. A
 * file that another user owns or may write is refused: a user who can write it can run code beside all tenants. Immutable; a change creates a new
 * list, which {@link #write} atomically puts in place of the file.
 */
public final class TrustList {
    private static final String HEADER = "# Images of machine code that run unfenced under the policy `trusted`, and whose cubins count as a "
            + "vendor's beside other users' programs: SHA-256, since when, where from. See: tessera help fence\n";
    private static final int FIELDS = 3;

    private final Map<String, TrustedImage> images;

    private TrustList(Map<String, TrustedImage> images) {
        this.images = images;
    }

    /** A list of nothing. */
    public static TrustList empty() {
        return new TrustList(Map.of());
    }

    /**
     * Reads the list in a file; empty if there is no file.
     *
     * @param file see {@link TrustLocation}
     * @throws IOException if it cannot be read, if anyone but this user or root may write it, or if a line is not an entry
     */
    public static TrustList read(Path file) throws IOException {
        Map<String, TrustedImage> images = new LinkedHashMap<>();
        try {
            checkOwner(file);
            List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                if (!line.isEmpty() && !line.startsWith("#")) {
                    TrustedImage image = entry(file, i + 1, line);
                    images.put(image.hash(), image);
                }
            }
        } catch (NoSuchFileException e) {
            return empty();
        }
        return new TrustList(images);
    }

    private static TrustedImage entry(Path file, int number, String line) throws IOException {
        String[] fields = line.split("\\s+", FIELDS);
        try {
            return new TrustedImage(fields[0], LocalDate.parse(fields[1]), fields[2]);
        } catch (ArrayIndexOutOfBoundsException | IllegalArgumentException | DateTimeParseException e) {
            throw new IOException(file + ", line " + number + ": no hash, date and name", e);
        }
    }

    private static void checkOwner(Path file) throws IOException {
        int owner = (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        int self = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
        if (owner != self && owner != 0 || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileSystemException(file.toString(), null, "is not a file of this user");
        }
        if (permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new FileSystemException(file.toString(), null, "may be written by others; nothing in it is trusted");
        }
    }

    /** Returns whether an image, as a program passed it to the driver, is in the list. */
    public boolean contains(ModuleImage image) {
        return !images.isEmpty() && images.containsKey(image.hash());
    }

    /** Returns whether an image with a hash is in the list. */
    public boolean contains(String hash) {
        return images.containsKey(hash);
    }

    /** The images in the order in which they were trusted. */
    public Collection<TrustedImage> images() {
        return List.copyOf(images.values());
    }

    /** This list and more; an image that is there already stays as it is. */
    public TrustList with(Collection<TrustedImage> more) {
        Map<String, TrustedImage> all = new LinkedHashMap<>(images);
        more.forEach(image -> all.putIfAbsent(image.hash(), image));
        return new TrustList(all);
    }

    /** This list without some. */
    public TrustList without(Predicate<TrustedImage> leaving) {
        Map<String, TrustedImage> rest = new LinkedHashMap<>(images);
        rest.values().removeIf(leaving);
        return new TrustList(rest);
    }

    /** Puts the list in a file's place, readable by all and writable by its owner; makes folders that are missing. */
    public void write(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString("rwxr-xr-x")));
        String text = images.values().stream()
                .map(image -> image.hash() + " " + image.since() + " " + image.name() + "\n")
                .collect(Collectors.joining("", HEADER, ""));
        Path unfinished = Files.createTempFile(folder, "trusted-", ".new",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
        try {
            try (FileChannel channel = FileChannel.open(unfinished, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }
}
