package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.linux.Linux;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PidFileTest {
    @TempDir
    private Path folder;
    private final FilePort files = Linux.open().files();

    private Path file() {
        return folder.resolve("a.pid");
    }

    @Test
    void oneHasItUntilItIsClosed() throws Exception {
        Files.writeString(file(), "123456\n"); // of a process that was killed
        try (PidFile _ = PidFile.lock(files, file(), 4711)) {
            assertEquals("4711\n", Files.readString(file()));
            PidFile.HeldException held = assertThrows(PidFile.HeldException.class, () -> PidFile.lock(files, file(), 1));
            assertEquals("4711", held.pid());
        }
        assertFalse(Files.exists(file()));
        PidFile.lock(files, file(), 2).close();
    }

    @Test
    void whatAnotherHasMadeMeanwhileStays() throws Exception {
        PidFile first = PidFile.lock(files, file(), 1);
        Files.delete(file());
        try (PidFile _ = PidFile.lock(files, file(), 2)) {
            first.close();
            assertTrue(Files.exists(file()));
            assertEquals("2\n", Files.readString(file()));
        }
    }
}
