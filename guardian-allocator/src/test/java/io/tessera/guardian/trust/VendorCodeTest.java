package io.tessera.guardian.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of the vendors' machine code that is part of the build. */
class VendorCodeTest {
    private static final int MOST_BYTES = 1 << 20;

    private static List<String> lines() throws IOException {
        try (InputStream stream = VendorCode.class.getResourceAsStream("vendor-code")) {
            byte[] bytes = stream.readAllBytes();
            assertTrue(bytes.length < MOST_BYTES, bytes.length + " bytes");
            return new String(bytes, StandardCharsets.US_ASCII).lines().toList();
        }
    }

    @Test
    void everyLineIsAHashOrSaysOfWhat() throws IOException {
        List<String> hashes = lines().stream().filter(line -> !line.startsWith("#")).toList();
        assertTrue(hashes.size() > 1000, hashes.size() + " hashes");
        assertTrue(hashes.stream().allMatch(TrustedImage::isHash));
        assertEquals(hashes.stream().sorted().distinct().toList(), hashes);
        assertTrue(lines().stream().anyMatch(line -> line.matches("# torch==\\S+")));
    }

    @Test
    void onlyThoseAreKnown() throws IOException {
        String last = lines().getLast();
        assertTrue(VendorCode.contains(last));
        assertFalse(VendorCode.contains(last.replace(last.charAt(0), last.charAt(0) == 'a' ? 'b' : 'a')));
        assertFalse(VendorCode.contains(""));
        assertFalse(VendorCode.contains(lines().getFirst()), "a comment");
    }
}
