package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Names of classes and sizes of packages, from the sources. */
@Timeout(300)
class ClassShapeTest {
    private static final int CLASSES_OF_A_PACKAGE = 25;

    private static List<Path> types() throws IOException {
        return SourceTree.files().stream().filter(file -> Language.of(file) == Language.JAVA)
                .filter(file -> !file.endsWith("package-info.java")).toList();
    }

    private static String simpleName(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.length() - ".java".length());
    }

    private static String packageName(Path file) {
        String path = file.getParent().toString();
        return path.substring(path.indexOf("src/main/java/") + "src/main/java/".length()).replace('/', '.');
    }

    @Test
    void simpleNamesOccurOnce() throws IOException {
        Map<String, List<Path>> byName = types().stream()
                .collect(Collectors.groupingBy(ClassShapeTest::simpleName, TreeMap::new, Collectors.toList()));
        assertTrue(byName.size() > 1000, "only " + byName.size() + " names");
        byName.values().removeIf(files -> files.size() == 1);
        assertEquals(Map.of(), byName, "simple names of several classes");
    }

    @Test
    void packagesAreSmall() throws IOException {
        Map<String, Long> sizes = types().stream().filter(file -> file.toString().contains("/src/main/java/"))
                .collect(Collectors.groupingBy(ClassShapeTest::packageName, TreeMap::new, Collectors.counting()));
        assertTrue(sizes.size() > 50, "only " + sizes.size() + " packages");
        Map<String, Long> large = new TreeMap<>(sizes);
        large.values().removeIf(size -> size <= CLASSES_OF_A_PACKAGE);
        assertEquals(Map.of(), large, "packages of more than " + CLASSES_OF_A_PACKAGE + " classes");
    }
}
