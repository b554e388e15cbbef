package io.tessera.guardian.cache;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** Keys and code that are told apart by a number. */
final class CacheFixtures {
    static final CodeIdentity MASKED = new CodeIdentity("mask", "1", "90", CodeIdentity.ofDriver(13000, "580.1"), "");

    private CacheFixtures() {
    }

    static CacheKey key(long number) {
        return CacheKey.of(("image " + number).getBytes(StandardCharsets.UTF_8), MASKED);
    }

    /** The one code that belongs to a number: up to 40000 bytes, sometimes without tables. */
    static CachedCode code(long number) {
        Random random = new Random(number);
        byte[] machineCode = new byte[1 + random.nextInt(40_000)];
        byte[] tables = new byte[random.nextInt(200)];
        random.nextBytes(machineCode);
        random.nextBytes(tables);
        return new CachedCode(machineCode, tables);
    }

    static boolean same(CachedCode one, CachedCode other) {
        return Arrays.equals(one.code(), other.code()) && Arrays.equals(one.tables(), other.tables());
    }
}
