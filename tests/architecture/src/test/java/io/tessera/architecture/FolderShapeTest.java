package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sizes of folders, in the whole tree, tests included. Folders in a folder do not count: {@code tests/gpu/results} has one for each day of
 * measuring.
 */
@Timeout(300)
class FolderShapeTest {
    private static final int MOST_FILES = 30;

    private static Map<String, Integer> large(Path root) throws IOException {
        Map<String, Integer> large = new TreeMap<>();
        SourceTree.filesOfFolders(root).forEach((folder, files) -> {
            if (files > MOST_FILES) {
                large.put(root.relativize(folder).toString(), files);
            }
        });
        return large;
    }

    @Test
    void foldersAreSmall() throws IOException {
        int folders = SourceTree.filesOfFolders(SourceTree.root()).size();
        assertTrue(folders > 500, "only " + folders + " folders");
        assertEquals(Map.of(), large(SourceTree.root()), "folders of more than " + MOST_FILES + " files");
    }

    @Test
    void aLargeFolderIsSeen(@TempDir Path root) throws IOException {
        for (String folder : List.of("full/target", "larger/of/files")) {
            Files.createDirectories(root.resolve(folder));
        }
        for (int i = 0; i < MOST_FILES; i++) {
            Files.createFile(root.resolve("full/" + i));
            Files.createFile(root.resolve("larger/of/files/" + i));
        }
        for (int i = 0; i <= MOST_FILES; i++) {
            Files.createFile(root.resolve("full/target/" + i));
        }
        assertEquals(Map.of(), large(root));
        Files.createFile(root.resolve("larger/of/files/another"));
        assertEquals(Map.of("larger/of/files", MOST_FILES + 1), large(root));
    }
}
