package io.tessera.manager.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.linux.Linux;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessLauncherTest {
    private static Map<String, String> environment(Map<String, String> of) {
        Map<String, String> environment = new HashMap<>(of);
        ProcessLauncher.environment(environment, Path.of("/cache/driver"));
        return environment;
    }

    @Test
    void driversKeepWhatTheyCompileBesideOurCache() {
        Map<String, String> environment = environment(Map.of("CUDA_CACHE_DISABLE", "1", "LD_PRELOAD", "x", "TESSERA_SHARE", "space"));
        assertEquals("/cache/driver", environment.get("CUDA_CACHE_PATH"));
        assertEquals("4294967296", environment.get("CUDA_CACHE_MAXSIZE"));
        for (String gone : List.of("CUDA_CACHE_DISABLE", "LD_PRELOAD", "TESSERA_SHARE")) {
            assertFalse(environment.containsKey(gone), gone);
        }
    }

    @Test
    void whereTheAdminSaysSoTheyKeepItElsewhere() {
        Map<String, String> environment = environment(Map.of("CUDA_CACHE_PATH", "/mine", "CUDA_CACHE_MAXSIZE", "1000"));
        assertEquals("/mine", environment.get("CUDA_CACHE_PATH"));
        assertEquals("1000", environment.get("CUDA_CACHE_MAXSIZE"));
    }

    @Test
    void optionsOfJavaAreWords() {
        assertEquals(List.of(), ProcessLauncher.words(null));
        assertEquals(List.of(), ProcessLauncher.words("  "));
        assertEquals(List.of("-Da=1", "-Xmx1g"), ProcessLauncher.words(" -Da=1   -Xmx1g "));
    }

    /** The manager's status tells the operator why executors then run as root. */
    @Test
    void whatKeepsThemFromAnotherUserIsKept(@TempDir Path folder) throws Exception {
        Path closed = Files.createDirectory(folder.resolve("closed"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        ProcessLauncher.Folders folders = new ProcessLauncher.Folders(closed, folder.resolve("cache"), folder);
        ProcessLauncher asAnother = new ProcessLauncher(Linux.open(), List.of("true"), folders, new ExecutorAccount(61_200, 61_200, Set.of()));
        String why = asAnother.rootBecause();
        assertTrue(why.endsWith(" is not open to other users") || why.contains("setpriv"), why);
        assertEquals("", new ProcessLauncher(Linux.open(), List.of("true"), folders, null).rootBecause(), "root was asked for");
    }
}
