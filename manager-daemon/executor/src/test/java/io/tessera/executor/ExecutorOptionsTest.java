package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an executor is started with, right and wrong. */
class ExecutorOptionsTest {
    private static ExecutorOptions parse(String line) {
        return ExecutorOptions.parse(List.of(line.split(" ")));
    }

    @Test
    void allAreRead() {
        assertEquals(new ExecutorOptions(3, 4, "software", ExecutorPlace.own(Path.of("/s")), 1 << 20),
                parse("--socket /s --device 3 --devices 4 --provider software --memory 1048576"));
        assertEquals(new ExecutorOptions(0, 1, "software", ExecutorPlace.own(Path.of("/s")), 0), parse("--socket /s --device software"));
        assertEquals(new ExecutorOptions(0, 1, "auto", ExecutorPlace.own(Path.of("/s")), 0), parse("--socket /s"));
    }

    @ParameterizedTest
    @CsvSource({"--devices 0,1 to 16", "--devices 17,1 to 16", "--devices x,a whole number", "--memory -1,0 to",
            "--provider amd,nvidia", "--device -1,0 to", "--colour red,no option", "--memory,needs a value"})
    void whatCannotBeMeantIsRefused(String options, String why) {
        String text = assertThrows(IllegalArgumentException.class, () -> parse("--socket /s " + options)).getMessage();
        assertTrue(text.contains(why), text);
    }

    @Test
    void aSocketIsNeeded() {
        assertThrows(IllegalArgumentException.class, () -> parse("--devices 2"));
    }
}
