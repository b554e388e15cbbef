package io.tessera.agent;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.InflaterInputStream;

/**
 * The libraries' files in one entry of the jar. The JVM reads a jar's whole table of contents at each start, and
 * ByteBuddy alone has 2700 files; so they lie in one that is read when the first of them is asked for. The entry is
 * stored, not compressed, so that a file is reached by a skip; each file is compressed by itself. Big-endian: number
 * of files; for each its name (modified UTF-8), where its bytes begin behind the index, and how many they are; the
 * length of this index stands before it. Any thread.
 */
final class Pack {
    private static final int LENGTH_BYTES = 4;

    private final JarFile jar;
    private final JarEntry entry;
    private Map<String, int[]> places;
    private int begin;

    Pack(JarFile jar, JarEntry entry) {
        this.jar = jar;
        this.entry = entry;
    }

    /** Opens a file, uncompressed; null: it is not in the pack. */
    InputStream open(String name) throws IOException {
        int[] place = places().get(name);
        if (place == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            skip(in, begin + place[0]);
            byte[] packed = in.readNBytes(place[1]);
            return new InflaterInputStream(new ByteArrayInputStream(packed));
        }
    }

    private static void skip(InputStream in, long bytes) throws IOException {
        long left = bytes;
        while (left > 0) {
            long skipped = in.skip(left);
            if (skipped <= 0) {
                throw new IOException("the pack ends too early");
            }
            left -= skipped;
        }
    }

    private synchronized Map<String, int[]> places() throws IOException {
        if (places == null) {
            try (DataInputStream in = new DataInputStream(new BufferedInputStream(jar.getInputStream(entry)))) {
                begin = LENGTH_BYTES + in.readInt();
                int count = in.readInt();
                Map<String, int[]> read = new HashMap<>(2 * count);
                for (int i = 0; i < count; i++) {
                    String name = in.readUTF();
                    read.put(name, new int[] {in.readInt(), in.readInt()});
                }
                places = read;
            }
        }
        return places;
    }
}
