package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The search for Java 25 in {@code find-java.sh}, on a PATH without Java and with folders of stand-ins. */
@Timeout(300)
class FindJavaTest {
    /** What the scripts need of the system; the real folders on PATH may hold a Java. */
    private static final List<String> PROGRAMS = List.of("sh", "readlink", "sleep", "mkdir", "mktemp", "ls", "head", "tail", "mv", "id",
            "cat", "env", "ln", "rm");

    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
        Path bin = Files.createDirectory(folder.resolve("bin"));
        for (String program : PROGRAMS) {
            Path real = Path.of("/usr/bin", program);
            Files.createSymbolicLink(bin.resolve(program), Files.exists(real) ? real : Path.of("/bin", program));
        }
        Files.createDirectory(folder.resolve("jvm"));
        kit.environment.put("PATH", bin.toString());
        kit.environment.put("TESSERA_JVM_FOLDERS", folder.resolve("jvm").toString());
        Files.delete(kit.home.resolve("jre/bin/java"));
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    private void java(String name, String version, boolean compiler) throws IOException {
        Path home = folder.resolve(name);
        kit.java(home, version, "exit 0\n");
        if (compiler) {
            Files.createSymbolicLink(home.resolve("bin/javac"), home.resolve("bin/java"));
        }
    }

    /** What find_java says: the home, or the problem. */
    private String find(String kind) throws IOException, InterruptedException {
        Result result = kit.run(List.of("sh", "-u", "-c", ". '" + kit.scripts.resolve("find-java.sh") + "'; "
                + "if find_java " + kind + "; then echo \"$java_home\"; else echo \"$java_problem\"; fi"));
        assertEquals("", result.err());
        return result.out().strip();
    }

    @Test
    void noneIsSaidWithWhereItWasLookedFor() throws Exception {
        java("jvm/java-17", "17.0.2", true);
        java("jvm/java-250", "250", true);
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals(1, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains("No Java 25 found"), result.err());
        assertTrue(result.err().contains(folder.resolve("jvm").toString()), result.err());
        assertTrue(result.err().contains("TESSERA_JAVA"), result.err());
    }

    @Test
    void theFoldersAreSearchedAndACompilerAskedForWhereOneIsNeeded() throws Exception {
        java("jvm/a-17", "17.0.2", true);
        java("jvm/b-25-jre", "25.0.3", false);
        java("jvm/c-25-jdk", "25", true);
        assertEquals(folder.resolve("jvm/b-25-jre").toString(), find("jre"));
        assertEquals(folder.resolve("jvm/c-25-jdk").toString(), find("jdk"));
    }

    @Test
    void pathComesBeforeTheFoldersAndJavaHomeBeforePath() throws Exception {
        java("jvm/b", "25.0.3", false);
        java("on-path", "25.0.4", false);
        Files.createSymbolicLink(folder.resolve("bin/java"), folder.resolve("on-path/bin/java"));
        assertEquals(folder.resolve("on-path").toString(), find("jre"));
        java("java-home", "25.0.5", false);
        kit.environment.put("JAVA_HOME", folder.resolve("java-home").toString());
        assertEquals(folder.resolve("java-home").toString(), find("jre"));
        java("java-home", "21", false);
        assertEquals(folder.resolve("on-path").toString(), find("jre"));
    }

    @Test
    void theKitsOwnRuntimeComesFirst() throws Exception {
        java("java-home", "25.0.5", false);
        java("kit/jre", "25.0.1", false);
        kit.environment.put("JAVA_HOME", folder.resolve("java-home").toString());
        kit.environment.put("TESSERA_HOME", kit.home.toString());
        assertEquals(kit.home.resolve("jre").toString(), find("jre"));
    }

    @Test
    void tesseraJavaIsAnOrder() throws Exception {
        java("jvm/b", "25.0.3", false);
        java("named", "25.0.9", false);
        kit.environment.put("TESSERA_JAVA", folder.resolve("named").toString());
        assertEquals(folder.resolve("named").toString(), find("jre"));
        kit.environment.put("TESSERA_JAVA", folder.resolve("named/bin/java").toString());
        assertEquals(folder.resolve("named").toString(), find("jre"));
        assertTrue(find("jdk").contains("without a compiler"));
        java("named", "21.0.1", false);
        assertTrue(find("jre").contains("no Java 25 (it is 21.0.1)"), find("jre"));
    }

    @Test
    void aHomeWithoutAReleaseFileIsAsked() throws Exception {
        java("jvm/b", "25", false);
        Files.delete(folder.resolve("jvm/b/release"));
        Path java = folder.resolve("jvm/b/bin/java");
        Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"25.0.2\" 2026-01-20' >&2\n");
        assertEquals(folder.resolve("jvm/b").toString(), find("jre"));
        Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"17.0.2\" 2022-01-20' >&2\n");
        assertTrue(find("jre").startsWith("No Java 25 found"));
    }
}
