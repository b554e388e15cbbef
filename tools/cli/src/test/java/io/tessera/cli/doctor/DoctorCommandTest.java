package io.tessera.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DoctorCommandTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void installation() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Files.createDirectories(folder.resolve("lib"));
        for (String name : List.of("libcuda.so.1", "libnvidia-ml.so.1", "libcuda.so")) {
            Files.writeString(folder.resolve("lib").resolve(name), "GLIBC_2.2.5");
        }
        Path probe = Files.createDirectories(folder.resolve("bin")).resolve("tessera-probe");
        Files.writeString(probe, "#!/bin/sh\necho '{\"driver\":null,\"devices\":[],\"membarrier\":true}'\n");
        Files.setPosixFilePermissions(probe, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void aMachineWithoutAGpuIsFine() throws IOException {
        CommandRun run = CommandRun.of(folder, "doctor");
        assertEquals(0, run.code(), run.out());
        assertTrue(run.out().contains("note    driver: no GPU driver"), run.out());
        assertTrue(run.out().endsWith("nothing is wrong\n"), run.out());
        assertFalse(run.out().contains("\u001b"));
    }

    @Test
    void aProblemIsCodeOneAndSaysWhatToDo() throws IOException {
        Files.delete(folder.resolve("lib/libcuda.so.1"));
        CommandRun run = CommandRun.of(folder, "doctor");
        assertEquals(1, run.code());
        assertTrue(run.out().contains("problem preload library: cannot read"), run.out());
        assertTrue(run.out().contains("-> build it: tools/build"), run.out());
        assertTrue(run.out().endsWith("1 problem\n"), run.out());
    }

    @Test
    void json() throws IOException {
        CommandRun run = CommandRun.of(folder, "doctor", "--json");
        assertEquals(0, run.code());
        JsonObject all = JsonParser.parseString(run.out()).getAsJsonObject();
        assertTrue(all.get("ok").getAsBoolean());
        assertTrue(all.getAsJsonObject("probe").get("membarrier").getAsBoolean());
        assertTrue(all.getAsJsonArray("findings").size() >= 7);
    }
}
