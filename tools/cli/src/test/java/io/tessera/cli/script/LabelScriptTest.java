package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The label that {@code tessera run} gives a program: the library takes 63 bytes, and a program with a longer one would be refused CUDA. */
@Timeout(300)
class LabelScriptTest {
    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
        kit.pretendManager();
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    /** A program that says its label and its process number. */
    private Path program(String name) throws IOException {
        Path program = Files.writeString(folder.resolve(name), "#!/bin/sh\nprintf '%s %s' \"$TESSERA_NAME\" $$\n");
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void labelIs(Result result, String name) {
        assertEquals(0, result.code(), result.err());
        String number = result.out().substring(result.out().lastIndexOf(' ') + 1);
        assertEquals(name + "-" + number + " " + number, result.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"short", "with blank", "-dash"})
    void withoutAnotherItIsTheProgramAndItsNumber(String name) throws Exception {
        labelIs(kit.tessera("run", "--", program(name).toString()), name);
    }

    /** Two runs of one program stay two tenants. */
    @ParameterizedTest
    @ValueSource(ints = {57, 62, 63, 64, 200})
    void aLongNameIsCutAndTheNumberIsNot(int bytes) throws Exception {
        Result result = kit.tessera("run", "--", program("p".repeat(bytes)).toString());
        String number = result.out().substring(result.out().lastIndexOf(' ') + 1);
        labelIs(result, "p".repeat(Math.min(bytes, 62 - number.length())));
    }

    /** Where sh is bash, its lengths are those of the language. The names are made by a shell, because this JVM's language may have no such characters. */
    @Test
    void bytesCountAndNotCharacters() throws Exception {
        kit.environment.put("LC_ALL", "C.UTF-8");
        String day = "\u65e5";
        Path program = program("program");
        Result result = bash("cp " + program + " " + folder + "/$(days 40)", "-- " + folder + "/$(days 40)");
        String number = result.out().substring(result.out().lastIndexOf(' ') + 1);
        labelIs(result, day.repeat((62 - number.length()) / 3));
        assertEquals(2, bash(":", "--name $(days 22) -- true").code());
        assertEquals(new Result(0, "C.UTF-8", ""), bash(":", "--name $(days 21) -- printenv -0 LC_ALL | tr -d '\\0'"));
    }

    private Result bash(String before, String options) throws Exception {
        return kit.run(List.of("bash", "-c", "days() { for i in $(seq $1); do printf '\\346\\227\\245'; done; }; " + before + "; bash "
                + kit.scripts.resolve("tessera") + " run " + options));
    }

    /** It is what the command that sets a tenant's terms is about, and none of its options. */
    @ParameterizedTest
    @ValueSource(strings = {"-x", "--reset", "--json"})
    void aLabelIsNoOption(String label) throws Exception {
        kit.java(kit.home.resolve("jre"), "25.0.1", "exit 0\n");
        assertEquals(0, kit.tessera("run", "--name=" + label, "--weight", "3", "--", "true").code());
        String java = Files.readString(kit.log());
        assertTrue(java.endsWith("--weight=3\n--\n" + label + "\n"), java);
    }
}
