package io.tessera.manager.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.os.linux.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The account of executors of root's manager. */
class ExecutorAccountTest {
    private static final List<String> PASSWD = List.of("root:x:0:0:root:/root:/bin/sh", "tessera:x:998:997::/:/sbin/nologin",
            "late:x:61184:61184::/:/bin/sh", "# broken");

    @TempDir
    Path folder;
    private Path devices;

    @BeforeEach
    void makeDevices() throws IOException {
        devices = Files.createDirectory(folder.resolve("dev"));
    }

    @Test
    void anAccountIsFoundByItsNameOrNumber() throws IOException {
        ExecutorAccount account = new ExecutorAccount(998, 997, Set.of());
        assertEquals(Optional.of(account), ExecutorAccount.named(PASSWD, "tessera", devices));
        assertEquals(Optional.of(account), ExecutorAccount.named(PASSWD, "998", devices));
        assertEquals(Optional.empty(), ExecutorAccount.named(PASSWD, "nobody", devices));
    }

    @Test
    void withoutAnAccountANumberIsTakenThatNobodyHas() throws IOException {
        Path processes = Files.createDirectory(folder.resolve("proc"));
        assertEquals(61_185, ExecutorAccount.free(PASSWD, folder.resolve("executors"), processes, devices).uid(), "an account has the first one");
        assumeTrue(Linux.open().processes().uid() == 0, "only root gives files away");
        Path process = Files.createDirectory(processes.resolve("17"));
        Files.setAttribute(process, "unix:uid", 61_185);
        assertEquals(61_186, ExecutorAccount.free(PASSWD, folder.resolve("executors"), processes, devices).uid(), "a process has it");
        Path executors = Files.createDirectory(folder.resolve("executors"));
        Files.setAttribute(executors, "unix:uid", 61_185);
        assertEquals(61_185, ExecutorAccount.free(PASSWD, executors, processes, devices).uid(), "an executor of an earlier manager lives");
        Files.setAttribute(executors, "unix:uid", 61_184);
        assertEquals(61_186, ExecutorAccount.free(PASSWD, executors, processes, devices).uid(), "it has become an account's");
    }

    @Test
    void groupsAreThoseOfDeviceFilesThatNotEverybodyMayUse() throws IOException {
        Path everybodys = Files.createFile(devices.resolve("nvidia0"));
        Files.setPosixFilePermissions(everybodys, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertEquals(Set.of(), ExecutorAccount.free(PASSWD, folder.resolve("executors"), folder, devices).groups());
        assumeTrue(Linux.open().processes().uid() == 0, "only root gives files away");
        Path video = Files.createFile(devices.resolve("nvidiactl"));
        Files.setAttribute(video, "unix:gid", 44);
        Files.setPosixFilePermissions(video, PosixFilePermissions.fromString("rw-rw----"));
        ExecutorAccount account = ExecutorAccount.free(PASSWD, folder.resolve("executors"), folder, devices);
        assertEquals(Set.of(44), account.groups());
        assertTrue(account.prefix(Path.of("/log")).contains("--groups=44"), account::toString);
    }

    @Test
    void whatOthersCannotReachIsNamed() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv here");
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Path file = Files.createFile(closed.resolve("file"));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        String said = ExecutorAccount.hindrance(List.of(file));
        assertTrue(said.contains(folder.toString()) && said.contains("is not open to other users"), said);
        assertNull(ExecutorAccount.hindrance(List.of(Path.of("/etc/passwd"), Path.of("/tmp"))));
    }

    @Test
    void aFolderOfTheirsIsNobodyElses() throws IOException {
        assumeTrue(Linux.open().processes().uid() == 0, "only root gives files away");
        Path own = folder.resolve("own");
        new ExecutorAccount(61_200, 61_201, Set.of()).own(own);
        assertEquals(61_200, Files.getAttribute(own, "unix:uid"));
        assertEquals(61_201, Files.getAttribute(own, "unix:gid"));
        assertEquals("rwx--x--x", PosixFilePermissions.toString(Files.getPosixFilePermissions(own)));
        Path file = Files.createFile(own.resolve("file"));
        String said = assertThrows(IOException.class, () -> new ExecutorAccount(61_202, 61_202, Set.of()).own(own)).getMessage();
        assertTrue(said.contains("belongs to user 61200") && said.contains("remove it"), said);
        assertEquals(0, Files.getAttribute(file, "unix:uid"), "what could be a link is given to nobody");
        assertThrows(IOException.class, () -> ExecutorAccount.checkOwner(own, 0, 0), "nor does root write there");
    }

    @Test
    void whatRootHasLeftBecomesTheirs() throws IOException {
        assumeTrue(Linux.open().processes().uid() == 0, "only root gives files away");
        Path own = Files.createDirectory(folder.resolve("own"));
        Path file = Files.createFile(Files.createDirectory(own.resolve("state")).resolve("file"));
        Path target = Files.createFile(folder.resolve("target"));
        Path link = Files.createSymbolicLink(own.resolve("link"), target);
        new ExecutorAccount(61_200, 61_201, Set.of()).own(own);
        for (Path each : List.of(own, file, link)) {
            assertEquals(61_200, Files.getAttribute(each, "unix:uid", LinkOption.NOFOLLOW_LINKS), each::toString);
        }
        assertEquals(0, Files.getAttribute(target, "unix:uid"));
    }
}
