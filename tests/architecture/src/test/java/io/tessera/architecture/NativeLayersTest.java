package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.io.TempDir;
import io.tessera.architecture.NativeLayers.Use;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The preload library's layers: no include and no symbol goes up, and no files use each other in a circle. */
@Timeout(180)
class NativeLayersTest {
    private static final Path NATIVE = SourceTree.root().resolve("native-preload");
    private static final Path SOURCES = NATIVE.resolve("src");

    /** A library of its own. */
    private static final Set<String> APART = Set.of("nvml");
    /** One unit in two files: the entries jump through the table that the driver's opening fills. */
    private static final Set<String> ONE_UNIT = Set.of("driver/driver", "driver/trampolines");

    private static NativeLayers layers() throws IOException {
        return NativeLayers.read(NATIVE.resolve("layers"));
    }

    @Test
    void everyFolderWithSourcesIsALayer() throws IOException {
        Set<String> folders = new TreeSet<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            files.filter(Files::isRegularFile).map(file -> SOURCES.relativize(file.getParent()).toString()).filter(folder -> !APART.contains(folder))
                    .forEach(folders::add);
        }
        assertEquals(folders, new TreeSet<>(layers().all()));
    }

    /** A layer links alone, with what is below it: a program of its own shows that (layers.mk). */
    @Test
    void everyLayerHasATestProgram() throws IOException {
        assertEquals(List.of(), withoutTestProgram(layers().all(), NATIVE.resolve("test")));
        assertEquals(List.of("no/such"), withoutTestProgram(List.of("driver", "no/such"), NATIVE.resolve("test")));
    }

    private static List<String> withoutTestProgram(List<String> layers, Path tests) throws IOException {
        List<String> without = new ArrayList<>();
        for (String layer : layers) {
            Path folder = tests.resolve(layer);
            try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
                if (files.noneMatch(file -> file.getFileName().toString().endsWith("_test.c"))) {
                    without.add(layer);
                }
            }
        }
        return without;
    }

    @Test
    void noIncludeGoesUp() throws IOException {
        List<Use> includes = layers().includes(SOURCES);
        assertTrue(includes.size() > 500, includes.size() + " includes");
        assertEquals(List.of(), layers().forbidden(includes));
    }

    @Test
    void noSymbolGoesUpAndNoFilesAreInACircle() throws IOException {
        List<Use> symbols = layers().symbols(NATIVE.resolve("target/layers"));
        assertTrue(symbols.size() > 500, symbols.size() + " symbols");
        assertEquals(List.of(), layers().forbidden(symbols));
        assertEquals(List.of(), NativeLayers.circles(symbols).stream().filter(circle -> !circle.equals(ONE_UNIT)).toList());
    }

    @Test
    void whatIsForbiddenIsSeen() {
        NativeLayers layers = new NativeLayers(List.of("driver", "direct/turns", "relay/wire", "port"));
        List<Use> uses = List.of(new Use("port/port", "driver/a", "x"), new Use("driver/a", "port/port", "y"),
                new Use("relay/wire/r", "direct/turns/t", "z"),
                new Use("relay/wire/r", "relay/wire/s", "z"), new Use("relay/wire/s", "relay/wire/r", "z"));
        assertEquals(List.of(uses.get(1), uses.get(2)), layers.forbidden(uses));
        assertEquals(List.of(Set.of("driver/a", "port/port"), Set.of("relay/wire/r", "relay/wire/s")), NativeLayers.circles(uses));
    }

    @Test
    void includesThroughAParentFolderAreSeen(@TempDir Path sources) throws IOException {
        Files.createDirectories(sources.resolve("driver"));
        Files.createDirectories(sources.resolve("relay/wire"));
        Files.writeString(sources.resolve("driver/a.c"), "#include \"../relay/wire/r.h\"\n# include <relay/wire/s.inc>\n#include <stdio.h>\n");
        NativeLayers layers = new NativeLayers(List.of("driver", "relay/wire"));
        assertEquals(List.of("relay/wire/r.h", "relay/wire/s.inc"), layers.forbidden(layers.includes(sources)).stream().map(Use::to).toList());
    }
}
