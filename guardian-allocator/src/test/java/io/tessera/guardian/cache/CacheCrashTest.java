package io.tessera.guardian.cache;

import static io.tessera.guardian.cache.CacheFixtures.code;
import static io.tessera.guardian.cache.CacheFixtures.key;
import static io.tessera.guardian.cache.CacheFixtures.same;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writers that die at every step, and real processes that are killed while they write. */
@Timeout(300)
class CacheCrashTest {
    private static final long LIMIT_BYTES = 400_000;
    /** Keys that processes write at the same time, so that they replace each other's entries and evict. */
    static final int KEYS = 40;

    @TempDir
    Path folder;

    @Test
    void aWriterThatDiesAtAnyStepLeavesAWholeEntryOrNone() throws Exception {
        Path directory = folder.resolve("v1");
        int finished = -1;
        for (int step = 0; finished < 0; step++) {
            CodeCache before = new CodeCache(new EntryDirectory(directory), 1L << 30, InstantSource.system(), _ -> {});
            before.store(key(1), code(1));
            CodeCache dying = new CodeCache(new FaultyFiles(new EntryDirectory(directory), step, true), 1L << 30,
                    InstantSource.system(), _ -> {});
            boolean renamed = step >= 6;
            if (step < 7) {
                assertThrows(FaultyFiles.Death.class, () -> dying.store(key(1), code(2)));
                assertThrows(FaultyFiles.Death.class, () -> dying.store(key(3), code(3)));
            } else {
                assertTrue(dying.store(key(1), code(2)));
                finished = step;
            }
            CodeCache after = new CodeCache(new EntryDirectory(directory), 1L << 30, InstantSource.system(), _ -> {});
            CachedCode found = after.find(key(1)).orElseThrow();
            assertTrue(same(code(renamed ? 2 : 1), found), "died at step " + step);
            assertEquals(0, after.counters().damaged(), "died at step " + step);
            assertFalse(step < 7 && after.find(key(3)).isPresent(), "died at step " + step);
        }
        assertEquals(7, finished, "create, three writes, force, rename, what follows it");
    }

    /** Writes and reads forever; exits with 3 if it finds an entry that was never stored. */
    static final class Writer {
        private Writer() {
        }

        /** Directory and seed. */
        public static void main(String[] arguments) {
            CodeCache cache = CodeCache.open(Path.of(arguments[0]), LIMIT_BYTES, InstantSource.system(), line -> {
                System.out.println(line);
                System.exit(4);
            });
            Random random = new Random(Long.parseLong(arguments[1]));
            cache.store(key(0), code(0)); // a machine that is busy may get no further before the end
            System.out.println("started");
            while (true) {
                int number = random.nextInt(KEYS);
                cache.store(key(number), code(number));
                int other = random.nextInt(KEYS);
                Optional<CachedCode> found = cache.find(key(other));
                if (found.isPresent() && !same(code(other), found.get()) || cache.counters().damaged() > 0) {
                    System.exit(3);
                }
            }
        }
    }

    @Test
    void processesThatAreKilledLeaveWholeEntriesOrNone() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 4; round++) {
            List<Process> writers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                writers.add(start(random.nextLong()));
            }
            try {
                for (Process writer : writers) {
                    BufferedReader output = writer.inputReader();
                    assertEquals("started", output.readLine());
                }
                Thread.sleep(50 + random.nextInt(200));
            } finally {
                writers.forEach(Process::destroyForcibly);
            }
            for (Process writer : writers) {
                assertTrue(writer.waitFor(20, TimeUnit.SECONDS));
                assertEquals(128 + 9, writer.exitValue(), "it ended by itself; seed " + seed + ", round " + round);
            }
            CodeCache cache = CodeCache.open(folder, LIMIT_BYTES, InstantSource.system(), line -> {
                throw new AssertionError(line);
            });
            for (int number = 0; number < KEYS; number++) {
                Optional<CachedCode> found = cache.find(key(number));
                assertTrue(found.isEmpty() || same(code(number), found.get()), "seed " + seed + ", round " + round);
            }
            assertEquals(0, cache.counters().damaged(), "seed " + seed + ", round " + round);
            assertTrue(cache.counters().hits() > 0, "seed " + seed + ", round " + round);
        }
    }

    private Process start(long seed) throws Exception {
        return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                Writer.class.getName(), folder.toString(), Long.toString(seed)).redirectErrorStream(true).start();
    }
}
