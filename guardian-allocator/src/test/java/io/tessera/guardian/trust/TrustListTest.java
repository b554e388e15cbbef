package io.tessera.guardian.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.image.ModuleImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Exactly the images that the user wrote are trusted. */
@Timeout(120)
class TrustListTest {
    private static final LocalDate DAY = LocalDate.of(2026, 1, 2);

    @TempDir
    Path folder;

    private static ModuleImage image(String text) {
        return ModuleImage.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static TrustedImage trusted(String text, String name) {
        return new TrustedImage(image(text).hash(), DAY, name);
    }

    @Test
    void aListIsReadAsItWasWritten() throws IOException {
        Path file = folder.resolve("a/b/trusted");
        assertEquals(List.of(), List.copyOf(TrustList.read(file).images()));
        List<TrustedImage> images = List.of(trusted("one", "/usr/lib/lib x.so .nv_fatbin"), trusted("two", "b\nc"));
        TrustList.empty().with(images).write(file);
        TrustList list = TrustList.read(file);
        assertEquals(images, List.copyOf(list.images()));
        assertTrue(list.contains(image("one")));
        assertFalse(list.contains(image("three")));
        list.with(List.of(trusted("one", "again"), trusted("three", "x"))).without(i -> i.name().equals("b c"))
                .write(file);
        assertEquals(List.of("/usr/lib/lib x.so .nv_fatbin", "x"),
                TrustList.read(file).images().stream().map(TrustedImage::name).toList());
        try (var left = Files.list(file.getParent())) {
            assertEquals(1, left.count());
        }
    }

    @Test
    void aListThatOthersMayWriteOrThatIsDamagedIsRefused() throws IOException {
        Path file = folder.resolve("trusted");
        TrustList.empty().with(List.of(trusted("one", "x"))).write(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));
        assertTrue(assertThrows(IOException.class, () -> TrustList.read(file)).getMessage().contains("by others"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        assertThrows(IOException.class, () -> TrustList.read(link));
        Files.writeString(file, "# x\n\nabc 2026-01-01 name\n");
        assertTrue(assertThrows(IOException.class, () -> TrustList.read(file)).getMessage().contains("line 3"));
    }

    @Test
    void whatIsTrustedLaterCountsAtOnceAndWhatIsTakenBackDoesNot() throws IOException {
        Path file = folder.resolve("trusted");
        CurrentTrustList current = new CurrentTrustList(file);
        assertFalse(current.contains(image("one")));
        TrustList.empty().with(List.of(trusted("one", "x"))).write(file);
        assertTrue(current.contains(image("one")));
        assertTrue(current.contains(image("one")));
        TrustList.empty().with(List.of(trusted("two", "x"))).write(file);
        assertFalse(current.contains(image("one")));
        assertTrue(current.contains(image("two")));
        assertTrue(current.contains(image("two").hash()));
        assertFalse(current.contains(image("one").hash()));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThrows(IOException.class, () -> current.contains(image("two")));
        assertThrows(IOException.class, () -> current.contains(image("two")));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(current.contains(image("two")));
        Files.delete(file);
        assertFalse(current.contains(image("two")));
    }

    @Test
    void itLiesWhereTheEnvironmentSays() {
        Path home = Path.of("/home/u");
        assertEquals(Path.of("/x/trusted"), TrustLocation.of(Map.of("TESSERA_STATE_DIR", "/x"), 0, home));
        assertEquals(Path.of("/var/lib/tessera/trusted"), TrustLocation.of(Map.of(), 0, home));
        assertEquals(Path.of("/s/tessera/trusted"), TrustLocation.of(Map.of("XDG_STATE_HOME", "/s"), 7, home));
        assertEquals(Path.of("/home/u/.local/state/tessera/trusted"), TrustLocation.of(Map.of(), 7, home));
    }
}
