package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.tessera.guardian.fence.FenceMode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The result of every class of instruction in every mode: {@code NAME.ptx} before, {@code fenced/NAME.MODE.ptx} after. Results of more than 16 KiB
 * are kept as SHA-256 digests in {@code fenced/digests}. {@code tests/golden} prints the difference between two versions of all results, and {@code
 * tests/golden --accept} keeps the new ones.
 */
class GoldenTest {
    private static final int LARGEST_TEXT = 16 << 10;
    private static final Path FENCED = Fences.FOLDER.resolve("fenced");
    private static final Path DIGESTS = FENCED.resolve("digests");
    /** A folder that gets all results as text; null: none. */
    private static final String OUT = System.getProperty("tessera.test.golden.out");
    private static final boolean ACCEPT = Boolean.getBoolean("tessera.test.golden.accept");

    static Stream<Arguments> modules() {
        return Fences.names().stream().flatMap(name -> Stream.of(FenceMode.values()).map(mode -> Arguments.of(name, mode)));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void becomes(String name, FenceMode mode) throws Exception {
        String after = Fences.plain(Fences.read(name + ".ptx"), mode).ptx();
        String file = name + "." + mode.name().toLowerCase(Locale.ROOT) + ".ptx";
        if (OUT != null) {
            Files.writeString(Files.createDirectories(Path.of(OUT)).resolve(file), after);
        }
        if (ACCEPT) {
            accept(file, after);
        }
        if (after.length() <= LARGEST_TEXT) {
            assertEquals(Files.readString(FENCED.resolve(file)), after);
        } else {
            String digest = digest(file);
            assertNotNull(digest, file + " has no digest; see the class comment");
            assertEquals(digest, sha256(after), file + " changed: tests/golden prints how");
        }
    }

    private static String digest(String file) throws IOException {
        return Files.readAllLines(DIGESTS).stream().filter(line -> line.endsWith("  " + file))
                .map(line -> line.substring(0, line.indexOf(' '))).findFirst().orElse(null);
    }

    private static String sha256(String text) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static void accept(String file, String text) throws IOException, NoSuchAlgorithmException {
        boolean large = text.length() > LARGEST_TEXT;
        Stream<String> others = Files.exists(DIGESTS) ? Files.readAllLines(DIGESTS).stream().filter(line -> !line.endsWith("  " + file))
                : Stream.of();
        Files.write(DIGESTS, Stream.concat(others, large ? Stream.of(sha256(text) + "  " + file) : Stream.of()).sorted(
                Comparator.comparing((String line) -> line.substring(line.indexOf(' ')))).toList());
        if (large) {
            Files.deleteIfExists(FENCED.resolve(file));
        } else {
            Files.writeString(FENCED.resolve(file), text);
        }
    }
}
