package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The options of {@code tessera run} about the tenant become options of {@code tessera tenant}. */
@Timeout(300)
class TermsScriptTest {
    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
        kit.pretendManager();
        kit.java(kit.home.resolve("jre"), "25.0.1", "exit 0\n");
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    private Result run(String options) throws Exception {
        return kit.tessera(("run --name=train " + options + " -- true").split(" "));
    }

    /** Whether a tenant is replayable does not decide how its programs share, as its class does not. */
    @ParameterizedTest
    @CsvSource({"--replayable,--replayable=yes", "--replayable=yes,--replayable=yes", "--replayable=no,--replayable=no",
            "--share space --replayable=no --replayable,--replayable=yes --space",
            "--replayable --weight 3 --class batch,--weight=3 --class=batch --replayable=yes"})
    void termsAreHandedOn(String options, String expected) throws Exception {
        assertEquals(new Result(0, "", ""), run(options));
        String java = Files.readString(kit.log());
        assertTrue(java.endsWith("--while-it-runs\n" + expected.replace(' ', '\n') + "\n--\ntrain\n"), java);
    }

    @Test
    void replayableHasNoEffectInTimeSharing() throws Exception {
        Result result = run("--share time --replayable");
        assertEquals(0, result.code());
        assertTrue(result.err().startsWith("tessera: --replayable has no effect without --share space"), result.err());
    }
}
