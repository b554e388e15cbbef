package io.tessera.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever fails, the application runs as without the agent, with one line. */
@Timeout(200)
class FailureTest {
    private static final int NOT_PERMITTED = 96;

    @TempDir
    Path folder;

    /** The application's output is untouched; stderr has one line more, with these words. */
    private static void oneLine(Child.Outcome run, String... words) throws Exception {
        Child.Outcome without = Child.here().run("plain");
        assertEquals(without.code, run.code, run.toString());
        assertEquals(without.out, run.out, run.toString());
        List<String> more = run.err.lines().filter(l -> !without.err.contains(l)).collect(
                Collectors.toList());
        assertEquals(1, more.size(), run.toString());
        for (String word : words) {
            assertTrue(more.get(0).contains(word), run.toString());
        }
    }

    @Test
    void aClassIsMissing() throws Exception {
        Path jar = Fixtures.changed(folder, Collections.singletonMap("inst/io/tessera/agent/start/Startup.classdata",
                null));
        oneLine(Child.here().withAgent(jar, "").run("plain"), "tessera-agent: not started", "Startup");
    }

    @Test
    void theDriverLibraryIsNotTheBuilds() throws Exception {
        Path jar = Fixtures.changed(folder, Map.of("native/libcuda.so.1", "no library".getBytes(
                StandardCharsets.US_ASCII)));
        oneLine(Child.here().withAgent(jar, "").run("plain"), "keeps the vendor's driver",
                "is not the library that it was built with");
    }

    @Test
    void whereTheNativeLibraryIsForAnotherMachineJnaTakesOver() throws Exception {
        byte[] library = Fixtures.entry("native/libtessera-agent.so");
        library[18] = (byte) 0xb7; // e_machine: AArch64
        Path jar = Fixtures.changed(folder, Map.of("native/libtessera-agent.so", library));
        for (Path jvm : Child.jvms()) {
            Child.Outcome run = Child.on(jvm).withAgent(jar, "").run("driver");
            if (jvm.equals(Child.jvms().get(0))) {
                // For JVM 24 or newer: JNA would be restricted there.
                assertTrue(run.out.startsWith("Driver none") && run.err.contains("keeps the vendor's driver"),
                        run.toString());
            } else {
                assertEquals("exit 0\n--- stdout\nDriver agent\n--- stderr\n", run.toString());
            }
        }
    }

    @Test
    void anOptionIsUnknown() throws Exception {
        oneLine(Child.here().withAgent("colour=blue,share=sideways").run("plain"), "unknown option colour=blue",
                "share=sideways");
    }

    @Test
    void aLineOfTheTableMakesNoSense() throws Exception {
        Path table = Fixtures.table(folder);
        Files.write(table, List.of("alloc io.tessera.agent.fixture.FakeCuda alloc bytes=1"),
                StandardOpenOption.APPEND);
        oneLine(Child.here().withAgent("table=" + table).run("plain"), "line 17", "ALLOC needs address");
    }

    @Test
    void theFirstFolderCannotBeWrittenTo() throws Exception {
        Child.Outcome without = Child.here().run("plain");
        Child.Outcome run = Child.here().flag("-Djava.io.tmpdir=/proc/self").withAgent("").run("plain");
        assertEquals(without.toString(), run.toString());
    }

    /** Mounted where the machine has no such folder and permits it, in a view of the child's own. */
    @Test
    void theFirstFolderIsMountedNoexec() throws Exception {
        Child.Outcome without = Child.here().run("plain");
        Path noexec = Fixtures.noexecFolder();
        Child child = Child.here();
        if (noexec == null) {
            noexec = Files.createDirectory(folder.resolve("noexec"));
            child.under(List.of("unshare", "-m", "--propagation", "private", "sh", "-c", "mount -t tmpfs -o noexec none '"
                    + noexec + "' || exit " + NOT_PERMITTED + "; exec \"$@\"", "sh"));
            Process probe = new ProcessBuilder("unshare", "-m", "true").start();
            Assumptions.assumeTrue(probe.waitFor() == 0, "no writable noexec mount, and unshare -m is not permitted");
        }
        Child.Outcome run = child.flag("-Djava.io.tmpdir=" + noexec).withAgent("").run("plain");
        Assumptions.assumeTrue(run.code != NOT_PERMITTED, "no writable noexec mount, and mounting is not permitted");
        assertEquals(without.toString(), run.toString());
    }

    @Test
    void nothingStaysOnDisk() throws Exception {
        Child.here().withAgent("folder=" + folder).run("plain");
        try (var left = Files.list(folder)) {
            assertEquals(List.of(), left.collect(Collectors.toList()));
        }
    }
}
