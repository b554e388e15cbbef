package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.linux.Linux;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of a process of its own, because it concerns that process's standard error. */
@Timeout(180)
class LogFileTest {
    private static final int MOST_BYTES = 10_000;
    private static final int LINES = 2_000;

    @TempDir
    Path folder;

    /** Writes many lines and checks the size after each. */
    public static final class Talker {
        private Talker() {
        }

        /** Runs with the folder of the logs that may be renamed. */
        public static void main(String[] arguments) throws Exception {
            LogFile log = new LogFile(Linux.open().files(), Linux.sharedMemory(), Path.of(arguments[0]), MOST_BYTES);
            for (int i = 0; i < LINES; i++) {
                System.err.println("line " + i + " of a talkative process");
                log.keepSmall();
            }
        }
    }

    private Path talk(Path allowed) throws Exception {
        Path log = folder.resolve("a.log");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), Talker.class.getName(),
                allowed.toString()).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(new File(log.toString()))).start();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), () -> log + " has its errors");
        return log;
    }

    @Test
    void aLogIsKeptSmallAndItsEndIsThere() throws Exception {
        Path log = talk(folder);
        assertEquals(4, folder.toFile().list().length, "the log and three before it");
        for (String name : folder.toFile().list()) {
            assertTrue(Files.size(folder.resolve(name)) < MOST_BYTES + 100, name);
        }
        String all = Files.readString(folder.resolve("a.log.1")) + Files.readString(log);
        assertTrue(all.endsWith("line " + (LINES - 1) + " of a talkative process\n"));
        assertFalse(Files.readString(folder.resolve("a.log.3")).contains("line 0 "));
    }

    @Test
    void aFileElsewhereIsNotOursToRename() throws Exception {
        Path log = talk(Files.createDirectory(folder.resolve("other")));
        assertEquals(LINES, Files.readAllLines(log).size());
    }
}
