package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The path rules of SPEC.md, section 1. */
class RuntimeDirectoryTest {
    @Test
    void rootUsesTheSystemsDirectory() {
        RuntimeDirectory root = RuntimeDirectory.of(Map.of("XDG_RUNTIME_DIR", "/run/user/0"), 0);
        assertEquals(Path.of("/run/tessera/manager.sock"), root.registrationSocket());
        assertEquals(Path.of("/run/tessera/control.sock"), root.controlSocket());
        assertEquals(Path.of("/run/tessera/manager.pid"), root.pidFile());
        assertEquals(Path.of("/dev/shm/tessera-0/client-7.segment"), root.segment(7));
    }

    @Test
    void aUserUsesTheSessionsDirectoryOrTmp() {
        assertEquals(Path.of("/run/user/1000/tessera"),
                RuntimeDirectory.of(Map.of("XDG_RUNTIME_DIR", "/run/user/1000"), 1000).path());
        assertEquals(Path.of("/tmp/tessera-1000"), RuntimeDirectory.of(Map.of("XDG_RUNTIME_DIR", ""), 1000).path());
        assertEquals(Path.of("/dev/shm/tessera-1000"), RuntimeDirectory.of(Map.of(), 1000).shmDirectory());
    }

    @Test
    void theEnvironmentComesFirst() {
        Map<String, String> environment = Map.of("TESSERA_RUNTIME_DIR", "/a", "TESSERA_SHM_DIR", "/b");
        for (int uid : new int[] {0, 1000}) {
            assertEquals(new RuntimeDirectory(Path.of("/a"), Path.of("/b")), RuntimeDirectory.of(environment, uid));
        }
    }

    @Test
    void aClientTriesItsOwnManagerFirstAndEachOnce() {
        assertEquals(List.of(Path.of("/tmp/tessera-1000/manager.sock"), Path.of("/run/tessera/manager.sock")),
                RuntimeDirectory.registrationSockets(Map.of(), 1000));
        assertEquals(List.of(Path.of("/run/tessera/manager.sock")),
                RuntimeDirectory.registrationSockets(Map.of(), 0));
    }
}
