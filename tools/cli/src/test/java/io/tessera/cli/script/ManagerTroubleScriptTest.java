package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script's messages about managers that do not answer and directories that cannot be used. */
@Timeout(300)
class ManagerTroubleScriptTest {
    /** A user without an account of its own on most systems: nobody. */
    private static final int OTHER = 65534;

    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    private static int self() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    /** Runs a shell command in which {@code tessera} is the script. */
    private Result shell(String command) throws IOException, InterruptedException {
        return kit.run(List.of("/bin/sh", "-c", "tessera() { '" + kit.scripts.resolve("tessera") + "' \"$@\"; }; " + command));
    }

    /** Runs the script as another user; only root can. */
    private Result asOther(String... arguments) throws IOException, InterruptedException {
        assumeTrue(self() == 0 && Files.isExecutable(Path.of("/usr/bin/setpriv")), "skipped: only root becomes another user, by setpriv");
        for (Path each = kit.runtime.getParent(); Files.isDirectory(each) && !each.equals(Path.of("/tmp")); each = each.getParent()) {
            if (Files.getOwner(each).getName().equals("root") && !each.equals(each.getRoot())) {
                Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
        List<String> command = new ArrayList<>(List.of("/usr/bin/setpriv", "--reuid=" + OTHER, "--regid=" + OTHER,
                "--clear-groups", kit.scripts.resolve("tessera").toString()));
        command.addAll(List.of(arguments));
        return kit.run(command);
    }

    private void says(Result result, int code, String... parts) {
        assertEquals(code, result.code(), result.toString());
        for (String part : parts) {
            assertTrue(result.err().contains(part), result.toString());
        }
    }

    private static void signal(String name, long pid) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
        assertTrue(kill.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS) && kill.exitValue() == 0);
    }

    static void awaitState(long pid, String state) throws IOException, InterruptedException {
        while (!Files.readString(Path.of("/proc/" + pid + "/stat")).replaceAll("(?s).*\\) ", "").startsWith(state)) {
            Thread.sleep(10);
        }
    }

    @Test
    void aStoppedManagerIsSaidToBe() throws Exception {
        kit.pretendManager();
        long pid = kit.managerPid();
        signal("STOP", pid);
        awaitState(pid, "T");
        for (List<String> command : List.of(List.of("status"), List.of("stop"), List.of("restart"), List.of("start"),
                List.of("stop", "--programs", "--yes"))) {
            List<String> whole = new ArrayList<>(List.of("manager"));
            whole.addAll(command);
            Result result = kit.tessera(whole.toArray(String[]::new));
            says(result, 1, "is stopped", "kill -CONT " + pid, "kill -9 " + pid);
            assertEquals("", result.out());
        }
        signal("CONT", pid);
        awaitState(pid, "S");
        assertEquals(0, kit.tessera("manager", "status").code());
        assertEquals(0, kit.tessera("manager", "stop").code());
    }

    /** The directories of the manager are the script's, too: it waits there, and a relative one is the caller's. */
    @Test
    void directoriesAmongTheManagersOptions() throws Exception {
        Path other = folder.resolve("other");
        for (String options : List.of("--runtime-directory other --shm-directory segments --mode on",
                "--runtime-directory=" + other + " --shm-directory=segments --mode on")) {
            Result started = shell("cd '" + folder + "' && tessera manager start -- " + options);
            assertEquals(0, started.code(), started.toString());
            assertTrue(started.out().endsWith(other + "\n"), started.toString());
            List<String> java = Files.readAllLines(kit.log());
            assertEquals("-- SR=40 PRELOAD=", java.getFirst());
            assertEquals(List.of("--mode", "on"), java.subList(java.indexOf("io.tessera.manager.ManagerMain") + 1, java.size()));
            long pid = Long.parseLong(Files.readString(other.resolve("manager.pid")).strip());
            assertTrue(Files.readString(Path.of("/proc/" + pid + "/environ")).contains("TESSERA_SHM_DIR=" + folder.resolve("segments") + "\0"));
            assertEquals(3, kit.tessera("manager", "status").code(), "nothing in the usual directory");
            kit.environment.put("TESSERA_RUNTIME_DIR", other.toString());
            assertEquals(0, kit.tessera("manager", "stop").code());
            kit.environment.put("TESSERA_RUNTIME_DIR", kit.runtime.toString());
            Files.delete(kit.log());
        }
        says(kit.tessera("manager", "start", "--", "--runtime-directory", ""), 2, "--runtime-directory '': a path is not empty");
        says(kit.tessera("manager", "restart", "--", "--shm-directory="), 2, "--shm-directory '': a path is not empty");
        says(kit.tessera("manager", "start", "--", "--shm-directory"), 2, "--shm-directory needs a value");
        assertEquals(0, kit.javaStarts());
    }

    /** As --help does: the answer is what was asked for, and no manager is started or ended. */
    @Test
    void checkingOptionsStartsAndEndsNothing() throws Exception {
        assertEquals(new Result(0, "", ""), kit.tessera("manager", "start", "--", "--check"));
        says(kit.tessera("manager", "start", "--", "--check", "--wrong"), 2, "no option --wrong");
        assertFalse(Files.exists(kit.runtime.resolve("manager.pid")));
        assertEquals(0, kit.tessera("manager", "start").code());
        long pid = kit.managerPid();
        assertEquals(0, kit.tessera("manager", "restart", "--", "--check").code());
        assertEquals(pid, kit.managerPid());
        assertEquals(0, kit.tessera("manager", "status").code());
    }

    /** A bound of zero for files stands in for a full disk. The script's own words go to a pipe, which has none. */
    @Test
    void aRestartThatCouldNotWriteEndsNoManager() throws Exception {
        assertEquals(0, kit.tessera("manager", "start").code());
        long pid = kit.managerPid();
        long starts = kit.javaStarts();
        String bounded = "{ trap '' XFSZ; ulimit -f 0; tessera manager %s; echo code $?; } 2>&1 | cat";
        String restart = shell(bounded.formatted("restart")).out();
        assertTrue(restart.contains("nothing can be written to the runtime directory " + kit.runtime), restart);
        assertTrue(restart.contains("code 1"), restart);
        assertEquals(pid, kit.managerPid());
        assertEquals(0, kit.tessera("manager", "status").code());
        assertEquals(0, kit.tessera("manager", "stop").code());
        String start = shell(bounded.formatted("start")).out();
        assertTrue(start.contains("nothing can be written to the runtime directory " + kit.runtime), start);
        assertTrue(start.contains("code 3"), start);
        assertEquals(starts, kit.javaStarts());
        try (var left = Files.list(kit.runtime)) {
            assertTrue(left.noneMatch(file -> file.getFileName().toString().startsWith("trial")));
        }
        // A soft bound is the caller's own: a manager leaves it behind.
        assertEquals(0, shell("ulimit -S -f 1; tessera manager start 2>&1 | cat").code());
        assertEquals(0, kit.tessera("manager", "status").code());
    }

    /** In a name space of its own, where the kernel lets anybody mount. */
    @Test
    void aFullFileSystemIsSaidToBe() throws Exception {
        Result mounts = shell("unshare -rm mount -t tmpfs none '" + kit.runtime + "'");
        assumeTrue(mounts.code() == 0, "skipped: nothing can be mounted here");
        Result result = shell("unshare -rm /bin/sh -c \"mount -t tmpfs -o size=8k,mode=700 none '" + kit.runtime + "'; '"
                + kit.scripts.resolve("tessera") + "' manager start\"");
        says(result, 3, "no space left on the file system of the runtime directory " + kit.runtime);
        assertEquals(0, kit.javaStarts());
    }

    @Test
    void aManagerThatSaysNothingIsSaidToSayNothing() throws Exception {
        kit.java(kit.home.resolve("jre"), "25.0.1", "exit 4\n");
        says(kit.tessera("manager", "start"), 3, "ended at once with exit code 4 and wrote nothing to ");
    }

    @Test
    void aRuntimeDirectoryThatIsTooLongForASocket() throws Exception {
        kit.environment.put("TESSERA_RUNTIME_DIR", folder.resolve("x".repeat(90)).toString());
        says(kit.tessera("manager", "start"), 3, "a socket's address has room for 94");
        assertEquals(0, kit.javaStarts());
    }

    @Test
    void rootsRuntimeDirectoryIsNotToBeRemoved() throws Exception {
        Result result = asOther("run", "--", "true");
        says(result, 3, "is root's", "an administrator starts one", "TESSERA_RUNTIME_DIR");
        assertFalse(result.err().contains("emove"), result.err());
    }

    @Test
    void anotherUsersRuntimeDirectoryIsNotToBeRemoved() throws Exception {
        assumeTrue(self() == 0, "skipped: only root gives a directory away");
        Files.setAttribute(kit.runtime, "unix:uid", OTHER);
        Result result = kit.tessera("run", "--", "true");
        says(result, 3, "belongs to user " + OTHER, "TESSERA_RUNTIME_DIR");
        assertFalse(result.err().contains("emove"), result.err());
    }

    @Test
    void aRuntimeDirectoryWithoutPermissionsIsSaidToBe() throws Exception {
        Files.setPosixFilePermissions(kit.runtime, PosixFilePermissions.fromString("---------"));
        String[][] commands = {{"manager", "start"}, {"run", "--", "true"}, {"manager", "status"}};
        for (String[] command : commands) {
            Result result;
            if (self() == 0) {
                Files.setAttribute(kit.runtime, "unix:uid", OTHER);
                result = asOther(command);
            } else {
                result = kit.tessera(command);
            }
            says(result, command[1].equals("status") ? 1 : 3, "permission denied", "chmod u+rwx");
            assertFalse(result.err().contains("cannot create"), result.err());
        }
        Files.setPosixFilePermissions(kit.runtime, PosixFilePermissions.fromString("rwx------"));
    }

    /** It could lead anywhere, and a pipe would be waited for. */
    @ParameterizedTest
    @ValueSource(strings = {"link", "pipe"})
    void whatIsNoLogInAnotherUsersDirectoryIsNotShown(String kind) throws Exception {
        assumeTrue(self() == 0, "skipped: only root gives a directory away");
        Path log = kit.runtime.resolve("manager.log");
        Path secret = Files.writeString(folder.resolve("secret"), "a secret\n");
        if (kind.equals("link")) {
            Files.createSymbolicLink(log, secret);
        } else {
            assertEquals(0, kit.run(List.of("mkfifo", log.toString())).code());
        }
        Files.setAttribute(kit.runtime, "unix:uid", OTHER, LinkOption.NOFOLLOW_LINKS);
        Result result = kit.tessera("manager", "logs");
        says(result, 1, "not shown");
        assertEquals("", result.out());
    }

    /** Waiting for a writer of it would be waiting for ever. */
    @Test
    void aPidFileThatIsAPipeIsNoManager() throws Exception {
        kit.pretendManager();
        Files.delete(kit.runtime.resolve("manager.pid"));
        assertEquals(0, kit.run(List.of("mkfifo", kit.runtime.resolve("manager.pid").toString())).code());
        assertEquals(3, kit.tessera("manager", "status").code());
        Files.delete(kit.runtime.resolve("manager.pid"));
    }

    @ParameterizedTest
    @ValueSource(ints = {13, 14})
    void tooFewFilesAreSaidToBe(int files) throws Exception {
        kit.pretendManager();
        says(shell("ulimit -n " + files + "; tessera run -- true"), 1, "too few files may be open (ulimit -n)");
        assertEquals(0, shell("ulimit -n 16; tessera run -- true").code());
    }

    /** Where even the reason cannot be found the shell has a word for it. */
    @Test
    void soFewFilesThatNothingCanBeSaidIsNotSilent() throws Exception {
        kit.pretendManager();
        Result result = shell("ulimit -n 12; tessera run -- true");
        assertTrue(result.code() != 0 && result.err().contains("files"), result.toString());
    }
}
