package io.tessera.cli.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes as a folder in the place of /proc shows them. */
class JvmProcessTest {
    @TempDir
    private Path proc;

    private Path process(long pid, int uid, String library, String... arguments) throws IOException {
        Path folder = Files.createDirectories(proc.resolve(Long.toString(pid)));
        Files.writeString(folder.resolve("status"), "Name:\tjava\nUid:\t0\t" + uid + "\t0\t0\n");
        Files.writeString(folder.resolve("cmdline"), String.join("\0", arguments) + "\0");
        Files.writeString(folder.resolve("maps"), "7f00-7f01 r-xp 0 08:01 5   /usr/lib/" + library + "\n");
        return Files.createDirectories(folder.resolve("fd"));
    }

    private JvmProcess of(long pid) {
        return JvmProcess.of(proc, pid).orElseThrow();
    }

    @Test
    void whatAJvmRunsIsReadFromItsCommandLine() throws IOException {
        process(1, 7, "server/libjvm.so", "/usr/bin/java", "-Xmx1g", "-cp", "a.jar:b.jar", "org.example.Main", "-x");
        assertEquals(new JvmProcess(1, 7, "org.example.Main", true, false, false), of(1));
        process(2, 7, "server/libjvm.so", "java", "-javaagent:/opt/t/tessera-agent.jar=share=space", "-jar", "/srv/a.jar");
        assertEquals(new JvmProcess(2, 7, "a.jar", true, true, false), of(2));
        process(3, 7, "server/libjvm.so", "java", "-javaagent:/opt/other.jar", "-p", "mods", "-m", "app/org.example.Main");
        assertEquals(new JvmProcess(3, 7, "org.example.Main", true, false, false), of(3));
        process(4, 8, "libc.so.6", "sleep", "-javaagent:tessera-agent.jar");
        assertEquals(new JvmProcess(4, 8, "sleep", false, false, false), of(4));
    }

    @Test
    void anAgentThatWasLoadedLaterIsSeenByItsOpenJar() throws IOException {
        Path descriptors = process(5, 7, "server/libjvm.so", "java", "Main");
        Files.createSymbolicLink(descriptors.resolve("3"), Path.of("/dev/null"));
        assertEquals(false, of(5).agent());
        Files.createSymbolicLink(descriptors.resolve("4"), Path.of("/opt/t/agent/tessera-agent.jar"));
        assertEquals(true, of(5).agent());
    }

    /** Only a process that has called cuInit has one, whatever language the call was made from. */
    @Test
    void aMappedSegmentShowsAClientOfAManager() throws IOException {
        process(6, 7, "server/libjvm.so", "java", "Main");
        assertEquals(false, of(6).client());
        Files.writeString(proc.resolve("6/maps"), "7f00-7f01 rw-s 0 00:1b 9   /dev/shm/tessera-0/client-12.segment\n", StandardOpenOption.APPEND);
        assertEquals(true, of(6).client());
    }

    @Test
    void theListHasTheUsersOwnByNumber() throws IOException {
        process(30, 7, "server/libjvm.so", "java", "-javaagent:tessera-agent.jar", "B");
        process(4, 7, "server/libjvm.so", "java", "-javaagent:tessera-agent.jar", "A");
        process(5, 8, "server/libjvm.so", "java", "-javaagent:tessera-agent.jar", "C");
        Files.createDirectories(proc.resolve("9")); // has ended meanwhile
        assertEquals(List.of("A", "B"), JvmProcess.withAgent(proc, 7).stream().map(JvmProcess::program).toList());
        assertEquals(Optional.empty(), JvmProcess.of(proc, 9));
    }
}
