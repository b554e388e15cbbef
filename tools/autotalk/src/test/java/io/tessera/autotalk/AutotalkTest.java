package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AutotalkTest {
    @TempDir
    private Path directory;
    private String header;
    private String api;
    private String annotations;
    private String generated;

    @BeforeEach
    void files() throws IOException {
        header = write("x.h", "#define CUDA_VERSION 5\nint cuOne(int a);\nint cuTwo(const char *text);\n");
        annotations = write("x.annotations", "cuOne pass\ncuTwo hook\n");
        api = directory.resolve("x.api").toString();
        generated = directory.resolve("deep/generated").toString();
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void describeCheckGenerateCoverage() throws IOException {
        assertEquals(new Run(0, "", ""), Run.of("describe", "--header", header, "--out", api));
        assertEquals(new Run(0, "", ""), Run.of("check", "--api", api, "--annotations", annotations));
        assertEquals(new Run(0, "", ""), Run.of("generate", "--api", api, "--annotations", annotations, "--out",
                generated));
        assertTrue(Files.readString(Path.of(generated, "trampolines.S")).contains("cuOne:"));
        String page = directory.resolve("COVERAGE.md").toString();
        Run missing = Run.of("coverage", "--api", api, "--annotations", annotations, "--out", page, "--check");
        assertEquals(1, missing.code());
        assertTrue(missing.err().contains("out of date"), missing.err());
        assertFalse(Files.exists(Path.of(page)));
        assertEquals(0, Run.of("coverage", "--api", api, "--annotations", annotations, "--out", page).code());
        assertEquals(0, Run.of("coverage", "--api", api, "--annotations", annotations, "--out", page, "--check").code());
        assertTrue(Files.readString(Path.of(page)).contains("| cuTwo | hook | · |"));
    }

    @Test
    void filesThatAreRightAreNotTouched() throws IOException {
        Run.of("describe", "--header", header, "--out", api);
        Run.of("generate", "--api", api, "--annotations", annotations, "--out", generated);
        FileTime long_ago = FileTime.fromMillis(1_000_000);
        Path unchanged = Path.of(generated, "exports.map");
        Path changed = Path.of(generated, "hooked_entries.c");
        Files.setLastModifiedTime(unchanged, long_ago);
        Files.setLastModifiedTime(changed, long_ago);
        write("x.annotations", "cuOne hook\ncuTwo hook\n");
        assertEquals(0, Run.of("generate", "--api", api, "--annotations", annotations, "--out", generated).code());
        assertEquals(long_ago, Files.getLastModifiedTime(unchanged));
        assertFalse(long_ago.equals(Files.getLastModifiedTime(changed)));
    }

    @Test
    void gapsStopTheGeneratorAndNothingIsWritten() throws IOException {
        Run.of("describe", "--header", header, "--out", api);
        write("x.annotations", "cuOne pass\n");
        Run check = Run.of("check", "--api", api, "--annotations", annotations);
        assertEquals(new Run(1, annotations + ": cuTwo has no decision: pass, submit, sync, room or hook\n", ""), check);
        Run generate = Run.of("generate", "--api", api, "--annotations", annotations, "--out", generated);
        assertEquals(1, generate.code());
        assertEquals(check.out(), generate.err());
        assertFalse(Files.exists(Path.of(generated)));
    }

    @Test
    void extentsAreAskedForOnlyOnDemand() {
        Run.of("describe", "--header", header, "--out", api);
        Run run = Run.of("check", "--api", api, "--annotations", annotations, "--extents");
        assertEquals(new Run(1, "cuTwo.text (const char*) has no extent\n", ""), run);
    }

    @Test
    void diffAgainstAHeaderAndAgainstADescription() throws IOException {
        Run.of("describe", "--header", header, "--out", api);
        assertEquals(new Run(0, "", ""), Run.of("diff", api, "--header", header));
        String other = write("y.h", "int cuOne(int a);\nint cuThree(void);\n");
        String expected = "- cuTwo(pointer(1) const char* text)\n+ cuThree()\n";
        assertEquals(new Run(1, expected, ""), Run.of("diff", api, "--header", other));
        String otherApi = directory.resolve("y.api").toString();
        Run.of("describe", "--header", other, "--out", otherApi);
        assertEquals(new Run(1, expected, ""), Run.of("diff", api, otherApi));
    }

    @Test
    void helpShowsEveryCommandWithAnExample() {
        Run help = Run.of("--help");
        assertEquals(0, help.code());
        for (String command : new String[] {"describe", "check", "diff", "generate", "coverage"}) {
            assertTrue(help.out().contains("\n      autotalk " + command + " ")
                    || help.out().contains("  autotalk " + command + " "), command);
        }
        assertEquals(help.out(), Run.of("generate", "--help").out());
        assertEquals(2, Run.of().code());
    }

    @Test
    void wrongUsageSaysWhatIsWrong() throws IOException {
        assertUsage("unknown command 'explain'", "explain");
        assertUsage("unknown option --heder", "describe", "--heder", "x");
        assertUsage("--out needs a value", "describe", "--out");
        assertUsage("--out is missing", "describe", "--header", header);
        assertUsage("nothing to read: --header or --names is missing", "describe", "--out", api);
        assertUsage("--api and --annotations come in pairs", "coverage", "--api", api, "--out", "x");
        assertUsage("'extra' is not expected here", "check", "extra");
        assertEquals(new Run(2, "", "nowhere.h: there is no such file\n"),
                Run.of("describe", "--header", "nowhere.h", "--out", api));
        String names = write("bad.names", "cuOne\nnot a name\n");
        assertEquals(new Run(2, "", names + ":2: 'not a name' is not a name\n"),
                Run.of("describe", "--names", names, "--out", api));
    }

    private static void assertUsage(String problem, String... arguments) {
        assertEquals(new Run(2, "", "autotalk: " + problem + "; 'autotalk --help' shows how\n"), Run.of(arguments));
    }
}
