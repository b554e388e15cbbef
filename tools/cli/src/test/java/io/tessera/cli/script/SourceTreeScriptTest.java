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

/** {@code tessera} in a source tree: it builds what is missing, once, with a build that is a stand-in. */
@Timeout(300)
class SourceTreeScriptTest {
    @TempDir
    private Path folder;
    private Kit kit;
    private Path tree;

    @BeforeEach
    void tree() throws IOException, InterruptedException {
        kit = new Kit(folder);
        kit.pretendManager();
        tree = folder.resolve("tree");
        Files.createDirectories(tree.resolve("native-preload"));
        Files.createFile(tree.resolve("native-preload/pom.xml"));
        Files.createDirectories(tree.resolve("tools"));
        for (String name : List.of("tessera", "run.sh", "place.sh", "manager.sh", "launch.sh", "find-java.sh", "start-java.sh", "help.sh")) {
            Files.copy(kit.scripts.resolve(name), tree.resolve("tools").resolve(name));
        }
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    private void build(String body) throws IOException {
        Path build = tree.resolve("tools/build");
        Files.writeString(build, "#!/bin/sh\necho building >>'" + folder.resolve("builds") + "'\n" + body);
        Files.setPosixFilePermissions(build, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Result run() throws IOException, InterruptedException {
        return kit.run(List.of(tree.resolve("tools/tessera").toString(), "run", "--", "printenv", "LD_PRELOAD"));
    }

    @Test
    void theFirstUseBuildsAndTheSecondDoesNot() throws Exception {
        String lib = tree.resolve("native-preload/target/lib").toString();
        build("mkdir -p '" + lib + "' && cp '" + kit.home + "'/lib/* '" + lib + "'\necho noise\n");
        Result first = run();
        assertEquals(0, first.code(), first.err());
        assertEquals(lib + "/libcuda.so.1:" + lib + "/libnvidia-ml.so.1\n", first.out());
        assertTrue(first.err().contains("not built yet"), first.err());
        assertEquals("", run().err());
        assertEquals(1, Files.readAllLines(folder.resolve("builds")).size());
    }

    @Test
    void aBuildThatFailsRunsNothing() throws Exception {
        build("echo 'cc is missing' >&2; exit 1\n");
        Result result = run();
        assertEquals(1, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains("cc is missing"), result.err());
        assertTrue(result.err().contains("the build failed"), result.err());
    }

    @Test
    void aBuildThatLeavesNoLibraryIsAFailure() throws Exception {
        build("exit 0\n");
        Result result = run();
        assertEquals(1, result.code());
        assertTrue(result.err().contains("made no"), result.err());
    }
}
