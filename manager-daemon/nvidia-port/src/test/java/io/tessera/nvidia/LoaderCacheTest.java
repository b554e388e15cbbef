package io.tessera.nvidia;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The loader's cache, well-formed and damaged. */
class LoaderCacheTest {
    private static final int HEADER = 48;
    private static final int ENTRY = 24;

    private static ByteBuffer cache(int flags, String key, String value) {
        byte[] name = (key + "\0").getBytes(StandardCharsets.ISO_8859_1);
        byte[] path = (value + "\0").getBytes(StandardCharsets.ISO_8859_1);
        int strings = HEADER + ENTRY;
        ByteBuffer bytes = ByteBuffer.allocate(strings + name.length + path.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(0, "glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1)).putInt(20, 1);
        bytes.putInt(HEADER, flags).putInt(HEADER + 4, strings).putInt(HEADER + 8, strings + name.length);
        return bytes.put(strings, name).put(strings + name.length, path);
    }

    @Test
    void aLibraryIsFoundByItsName() {
        assertEquals(List.of(Path.of("/drivers/libcuda.so.1")),
                LoaderCache.paths(cache(0x0303, "libcuda.so.1", "/drivers/libcuda.so.1"), "libcuda.so.1"));
        assertEquals(List.of(), LoaderCache.paths(cache(0x0003, "libcuda.so.1", "/32/libcuda.so.1"), "libcuda.so.1"));
        assertEquals(List.of(), LoaderCache.paths(cache(0x0303, "libother.so.1", "/drivers/x"), "libcuda.so.1"));
    }

    @Test
    void damageIsPassedOver() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            ByteBuffer bytes = cache(0x0303, "libcuda.so.1", "/drivers/libcuda.so.1");
            for (int k = 0; k < 4; k++) {
                bytes.put(20 + random.nextInt(bytes.limit() - 20), (byte) random.nextInt());
            }
            int kept = random.nextInt(bytes.limit());
            try {
                LoaderCache.paths(bytes.limit(kept), "libcuda.so.1");
            } catch (IndexOutOfBoundsException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }
}
