package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every class of instruction becomes in every mode: {@code NAME.ptx} before, {@code NAME.MODE.ptx} after.
 * {@code -Dtessera.test.golden=write} writes what is after; look at the difference before it is committed.
 */
class GoldenTest {
    private static final boolean WRITE = "write".equals(System.getProperty("tessera.test.golden"));

    static Stream<Arguments> modules() {
        return Fences.names().stream().flatMap(name -> Stream.of(FenceMode.values()).map(mode -> Arguments.of(name, mode)));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void becomes(String name, FenceMode mode) throws Exception {
        String after = Fences.plain(Fences.read(name + ".ptx"), mode).ptx();
        String file = name + "." + mode.name().toLowerCase(Locale.ROOT) + ".ptx";
        write(file, after);
        assertEquals(Fences.read(file), after);
    }

    private static void write(String file, String text) throws IOException {
        if (WRITE) {
            Files.writeString(Fences.FOLDER.resolve(file), text);
        }
    }
}
