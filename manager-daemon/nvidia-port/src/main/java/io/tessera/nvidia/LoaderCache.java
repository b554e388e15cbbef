package io.tessera.nvidia;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The cache in which glibc's loader looks for libraries by name, format 1.1 (glibc 2.2 and later): a header of 48 bytes,
 * entries of 24, strings by their offset in the file. Stateless.
 */
final class LoaderCache {
    private static final Path FILE = Path.of("/etc/ld.so.cache");
    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int HEADER_BYTES = 48;
    private static final int ENTRY_BYTES = 24;
    /** {@code FLAG_ELF_LIBC6 | FLAG_X8664_LIB64} in the first word of an entry. */
    private static final int X86_64 = 0x0303;

    private LoaderCache() {
    }

    /** Returns absolute paths of this machine's libraries of that name, in the cache's order; none where there is no cache. */
    static List<Path> paths(String name) {
        try {
            return paths(ByteBuffer.wrap(Files.readAllBytes(FILE)), name);
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As above, for a cache's bytes; entries that point outside of them are skipped. */
    static List<Path> paths(ByteBuffer cache, String name) {
        ByteBuffer bytes = cache.order(ByteOrder.LITTLE_ENDIAN);
        List<Path> paths = new ArrayList<>();
        if (bytes.limit() < HEADER_BYTES || !text(bytes, 0, MAGIC.length()).equals(MAGIC)) {
            return paths;
        }
        long count = Integer.toUnsignedLong(bytes.getInt(MAGIC.length()));
        for (long i = 0; i < count && HEADER_BYTES + (i + 1) * ENTRY_BYTES <= bytes.limit(); i++) {
            int entry = (int) (HEADER_BYTES + i * ENTRY_BYTES);
            String value = string(bytes, bytes.getInt(entry + 8));
            if (bytes.getInt(entry) == X86_64 && string(bytes, bytes.getInt(entry + 4)).equals(name)
                    && value.startsWith("/")) {
                paths.add(Path.of(value));
            }
        }
        return paths;
    }

    private static String string(ByteBuffer bytes, int offset) {
        int end = offset;
        while (end >= 0 && end < bytes.limit() && bytes.get(end) != 0) {
            end++;
        }
        return offset >= 0 && end < bytes.limit() ? text(bytes, offset, end - offset) : "";
    }

    private static String text(ByteBuffer bytes, int offset, int length) {
        return new String(bytes.array(), bytes.arrayOffset() + offset, length, StandardCharsets.ISO_8859_1);
    }
}
