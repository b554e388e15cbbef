package io.tessera.guardian.trust;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Cubins of NVIDIA's and PyTorch's wheels for sm_90, by the SHA-256 of their unpacked bytes. The resource {@code vendor-code} says of which versions; {@code tests/corpus/hashes}
 * makes it. Stateless, thread-safe.
 */
public final class VendorCode {
    private static final String RESOURCE = "vendor-code";

    private VendorCode() {
    }

    /** The list is read when it is first asked. */
    private static final class Known {
        static final Set<String> HASHES = read();
    }

    /** Returns whether a cubin with a hash ({@link io.tessera.guardian.image.ModuleImage#hash}) is known vendor code. */
    public static boolean contains(String hash) {
        return Known.HASHES.contains(hash);
    }

    private static Set<String> read() {
        try (InputStream stream = VendorCode.class.getResourceAsStream(RESOURCE)) {
            if (stream == null) {
                throw new IllegalStateException("the jar of guardian-allocator has no " + RESOURCE + ": build it again");
            }
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.US_ASCII))) {
                return lines.lines().filter(line -> !line.startsWith("#")).collect(Collectors.toUnmodifiableSet());
            }
        } catch (IOException e) {
            throw new IllegalStateException(RESOURCE + " cannot be read", e);
        }
    }
}
