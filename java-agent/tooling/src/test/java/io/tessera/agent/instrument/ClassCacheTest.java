package io.tessera.agent.instrument;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kept entry is found for the same class and build only. */
class ClassCacheTest {
    private static final String NAME = "lib/Cuda";
    private static final byte[] CODE = {1, 2, 3};
    private static final byte[] CHANGED = {4, 5, 6, 7};

    @TempDir
    Path parent;
    private Path folder;

    @BeforeEach
    void keepOne() {
        folder = parent.resolve("made/for it");
        ClassCache cache = new ClassCache(folder, 1);
        assertFalse(cache.isFilled());
        assertNull(cache.find(NAME, CODE));
        cache.keep(NAME, CODE, CHANGED, true);
        assertTrue(cache.isFilled());
    }

    private Path file() throws IOException {
        try (var files = Files.list(folder)) {
            List<Path> all = files.collect(Collectors.toList());
            assertEquals(1, all.size(), all.toString());
            return all.get(0);
        }
    }

    @Test
    void anotherProcessFindsIt() {
        ClassCache.Kept kept = new ClassCache(folder, 1).find(NAME, CODE);
        assertArrayEquals(CHANGED, kept.code());
        assertTrue(kept.wrapped());
    }

    @Test
    void whatDiffersIsNotFound() {
        ClassCache cache = new ClassCache(folder, 1);
        assertNull(cache.find(NAME, CHANGED));
        assertNull(cache.find("lib/Other", CODE));
        assertNull(new ClassCache(folder, 2).find(NAME, CODE));
    }

    @Test
    void anotherBuildWritesOverIt() throws IOException {
        ClassCache later = new ClassCache(folder, 2);
        later.keep(NAME, CODE, CODE, false);
        assertNotNull(file());
        assertArrayEquals(CODE, later.find(NAME, CODE).code());
        assertFalse(later.find(NAME, CODE).wrapped());
    }

    @Test
    void noDamagedFileIsUsed() throws IOException {
        byte[] whole = Files.readAllBytes(file());
        Random random = new Random(7);
        for (int length = 0; length < whole.length; length++) {
            byte[] half = new byte[length];
            System.arraycopy(whole, 0, half, 0, length);
            Files.write(file(), half);
            assertNull(new ClassCache(folder, 1).find(NAME, CODE), "cut to " + length);
            byte[] flipped = whole.clone();
            flipped[length] ^= (byte) (1 << random.nextInt(8));
            Files.write(file(), flipped);
            assertNull(new ClassCache(folder, 1).find(NAME, CODE), "flipped at " + length);
        }
        Files.write(file(), whole);
        assertNotNull(new ClassCache(folder, 1).find(NAME, CODE));
    }

    @Test
    void aFolderThatOthersWriteToIsNotUsed() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        ClassCache cache = new ClassCache(folder, 1);
        assertNull(cache.find(NAME, CODE));
        cache.keep(NAME, CHANGED, CODE, false);
        assertNotNull(file());
        Path link = Files.createSymbolicLink(parent.resolve("link"), Files.createDirectory(parent.resolve("mine")));
        assertFalse(new ClassCache(link, 1).isFilled());
    }

    @Test
    void withoutAFolderNothingIsKept() throws IOException {
        ClassCache none = new ClassCache(null, 1);
        none.keep(NAME, CODE, CHANGED, false);
        assertNull(none.find(NAME, CODE));
        Path taken = Files.write(parent.resolve("file"), CODE);
        ClassCache cache = new ClassCache(taken.resolve("below"), 1);
        cache.keep(NAME, CODE, CHANGED, false);
        assertNull(cache.find(NAME, CODE));
    }
}
