package io.tessera.guardian.cache;

import static io.tessera.guardian.cache.CacheFixtures.code;
import static io.tessera.guardian.cache.CacheFixtures.key;
import static io.tessera.guardian.cache.CacheFixtures.same;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Finding, damage, eviction, and what disks and other users do. */
@Timeout(180)
class CodeCacheTest {
    private static final long LARGE = 1L << 30;

    @TempDir
    Path folder;
    private final List<String> said = new ArrayList<>();
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));

    private CodeCache open(long limitBytes) {
        return CodeCache.open(folder.resolve("cache"), limitBytes, now::get, said::add);
    }

    private Path directory() {
        return folder.resolve("cache").resolve("v1");
    }

    private Path file(CacheKey key) {
        return directory().resolve(key.hex() + ".code");
    }

    private void pass(Duration time) {
        now.updateAndGet(before -> before.plus(time));
    }

    @Test
    void whatWasStoredIsFoundByEveryCacheOfTheDirectory() {
        CodeCache cache = open(LARGE);
        assertTrue(cache.find(key(1)).isEmpty());
        assertTrue(cache.store(key(1), code(1)));
        assertTrue(same(code(1), cache.find(key(1)).orElseThrow()));
        assertTrue(same(code(1), open(LARGE).find(key(1)).orElseThrow()));
        assertTrue(cache.find(key(2)).isEmpty());
        assertEquals(new CacheCounters(1, 2, 1, 0, 0, 0), cache.counters());
        assertTrue(cache.store(key(1), code(7)));
        assertTrue(same(code(7), cache.find(key(1)).orElseThrow()));
        assertEquals(List.of(), said);
    }

    @Test
    void damagedFilesAreDeletedAndCounted() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        CodeCache cache = open(LARGE);
        for (int i = 0; i < 200; i++) {
            cache.store(key(1), code(1));
            byte[] whole = Files.readAllBytes(file(key(1)));
            byte[] damaged = whole.clone();
            if (i % 2 == 0) {
                damaged = Arrays.copyOf(whole, random.nextInt(whole.length));
            } else {
                damaged[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
            }
            Files.write(file(key(1)), damaged);
            assertTrue(cache.find(key(1)).isEmpty(), "seed " + seed + ", round " + i);
            assertFalse(Files.exists(file(key(1))), "seed " + seed + ", round " + i);
        }
        assertEquals(200, cache.counters().damaged());
        // A whole entry under another's name, and a longer one.
        cache.store(key(1), code(1));
        Files.copy(file(key(1)), file(key(2)));
        assertTrue(cache.find(key(2)).isEmpty());
        Files.write(file(key(1)), new byte[1], java.nio.file.StandardOpenOption.APPEND);
        assertTrue(cache.find(key(1)).isEmpty());
        assertEquals(202, cache.counters().damaged());
    }

    @Test
    void theEntriesUsedLeastRecentlyAreEvicted() throws IOException {
        byte[] kilobyte = new byte[1024];
        CodeCache cache = open(20 * 1200);
        for (int i = 0; i < 10; i++) {
            assertTrue(cache.store(key(i), new CachedCode(kilobyte, new byte[0])));
            Files.setLastModifiedTime(file(key(i)), java.nio.file.attribute.FileTime.from(now.get()));
            pass(Duration.ofMinutes(1));
        }
        assertTrue(cache.find(key(0)).isPresent());
        pass(Duration.ofMinutes(1));
        for (int i = 10; i < 40; i++) {
            cache.store(key(i), new CachedCode(kilobyte, new byte[0]));
            Files.setLastModifiedTime(file(key(i)), java.nio.file.attribute.FileTime.from(now.get()));
            if (i < 20) {
                assertTrue(cache.find(key(0)).isPresent(), "used just now");
            }
            pass(Duration.ofMinutes(1));
        }
        long left;
        try (var files = Files.list(directory())) {
            left = files.filter(f -> f.toString().endsWith(".code")).mapToLong(f -> f.toFile().length()).sum();
        }
        assertTrue(left <= 20 * 1200, left + " bytes are left");
        assertTrue(cache.counters().evicted() > 10);
        assertTrue(cache.find(key(39)).isPresent());
        assertTrue(cache.find(key(1)).isEmpty());
        assertFalse(cache.store(key(99), new CachedCode(new byte[30_000], new byte[0])), "larger than the cache");
        // A smaller limit holds from the opening on.
        CodeCache small = open(3 * 1200);
        assertTrue(small.counters().evicted() > 0);
        assertTrue(small.find(key(39)).isPresent());
    }

    @Test
    void leftoversOfDeadWritersGoOnceTheyAreOld() throws IOException {
        open(LARGE);
        Path old = Files.write(directory().resolve("x" + Evictor.UNFINISHED), new byte[5]);
        Files.setLastModifiedTime(old, java.nio.file.attribute.FileTime.from(now.get().minus(Evictor.ABANDONED)));
        Path fresh = Files.write(directory().resolve("y" + Evictor.UNFINISHED), new byte[5]);
        Files.setLastModifiedTime(fresh, java.nio.file.attribute.FileTime.from(now.get()));
        pass(Duration.ofSeconds(1));
        open(LARGE);
        assertFalse(Files.exists(old));
        assertTrue(Files.exists(fresh));
    }

    @Test
    void aFullDiskIsSaidOnceAndStoringRests() throws IOException {
        open(LARGE).store(key(5), code(5));
        FaultyFiles disk = new FaultyFiles(new EntryDirectory(directory()), 0, false);
        CodeCache cache = new CodeCache(disk, LARGE, now::get, said::add);
        for (int steps = 0; steps < 7; steps++) {
            disk.allow(steps);
            assertFalse(cache.store(key(1), code(1)));
            assertTrue(cache.counters().failed() > 0);
            disk.allow(100);
            assertFalse(cache.store(key(1), code(1)), "it rests");
            assertTrue(same(code(5), cache.find(key(5)).orElseThrow()), "what is there is still found");
            try (var files = Files.list(directory())) {
                assertTrue(files.noneMatch(f -> f.toString().endsWith(Evictor.UNFINISHED)), "after " + steps);
            }
            pass(Duration.ofMinutes(2));
        }
        assertEquals(List.of("compiled code is not cached for now: No space left on device"), said);
        disk.allow(100);
        assertTrue(cache.store(key(1), code(1)));
        assertTrue(same(code(1), cache.find(key(1)).orElseThrow()));
    }

    @Test
    void theDirectoryIsItsOwnersAlone() throws IOException {
        Files.createDirectories(directory());
        Files.setPosixFilePermissions(directory(), PosixFilePermissions.fromString("rwxrwxr-x"));
        open(LARGE).store(key(1), code(1));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory())));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file(key(1)))));
    }

    @Test
    void linksFilesAndOthersDirectoriesAreNotUsed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createDirectory(folder.resolve("cache"));
        Files.createSymbolicLink(directory(), elsewhere);
        assertFalse(open(LARGE).store(key(1), code(1)));
        Files.delete(directory());
        Files.write(directory(), new byte[1]);
        assertFalse(open(LARGE).store(key(1), code(1)));
        assertEquals(2, said.size(), said.toString());
        try (var files = Files.list(elsewhere)) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void aDirectoryOfSomebodyElseIsNotUsed() throws IOException {
        Files.createDirectories(directory());
        boolean root = Files.getAttribute(directory(), "unix:uid").equals(0);
        assumeTrue(root, "skipped: only root can give a directory away");
        Files.setAttribute(directory(), "unix:uid", 12345, LinkOption.NOFOLLOW_LINKS);
        assertFalse(open(LARGE).store(key(1), code(1)));
        assertTrue(said.getFirst().contains("belongs to somebody else"), said.toString());
    }

    @Test
    void aCacheWithoutADirectoryHasNothing() {
        CodeCache none = CodeCache.none();
        assertFalse(none.store(key(1), code(1)));
        assertTrue(none.find(key(1)).isEmpty());
        assertEquals(new CacheCounters(0, 1, 0, 0, 0, 0), none.counters());
    }

    @Test
    void itLiesWhereTheEnvironmentSays() {
        Path home = Path.of("/home/u");
        assertEquals(Path.of("/x/code"), CacheLocation.of(Map.of("TESSERA_CACHE_DIR", "/x"), 0, home));
        assertEquals(Path.of("/var/cache/tessera/code"), CacheLocation.of(Map.of(), 0, home));
        assertEquals(Path.of("/c/tessera/code"), CacheLocation.of(Map.of("XDG_CACHE_HOME", "/c"), 7, home));
        assertEquals(Path.of("/home/u/.cache/tessera/code"), CacheLocation.of(Map.of("XDG_CACHE_HOME", ""), 7, home));
    }

    @Test
    void everythingThatChangesCodeChangesItsKey() {
        byte[] image = ".version 9.0\n.target sm_90\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        CodeIdentity one = new CodeIdentity("mask", "1", "90", "driver 13000 580", "-O3");
        List<CacheKey> keys = List.of(CacheKey.of(image, one),
                CacheKey.of(image, new CodeIdentity("check", "1", "90", "driver 13000 580", "-O3")),
                CacheKey.of(image, new CodeIdentity("mask", "2", "90", "driver 13000 580", "-O3")),
                CacheKey.of(image, new CodeIdentity("mask", "1", "90a", "driver 13000 580", "-O3")),
                CacheKey.of(image, new CodeIdentity("mask", "1", "90", "driver 13000 580", "-O")),
                CacheKey.of(image, new CodeIdentity("mask", "1", "90", "driver 13000 580-", "O3")),
                CacheKey.of(image, one.aheadOfTime()), CacheKey.of(new byte[0], one));
        assertEquals(keys.size(), keys.stream().distinct().count());
        // Bytes behind an image's end do not belong to it.
        assertEquals(keys.getFirst(), CacheKey.of(Arrays.copyOf(image, image.length + 100), one));
        assertThrows(IllegalArgumentException.class, () -> new CacheKey("../../etc/passwd"));
    }
}
