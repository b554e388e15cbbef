package io.tessera.manager.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

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
}
