package io.tessera.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.ScriptedControlServer;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.doctor.DoctorFinding.Level;
import io.tessera.cli.probe.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each check on what it should accept and what it should not; every problem says what to do. */
@Timeout(120)
class ChecksTest {
    private static final String LOADED = "{\"driver\":{\"path\":\"/l\",\"version\":13000,\"status\":\"ok\"},";

    @TempDir
    private Path folder;

    private static DoctorFinding worst(DoctorCheck check) {
        DoctorFinding worst = check.findings().stream()
                .max((a, b) -> a.level().compareTo(b.level())).orElseThrow();
        assertFalse(worst.level() == Level.PROBLEM && worst.advice().isEmpty(), "no advice: " + worst);
        return worst;
    }

    private static DoctorFinding problem(DoctorCheck check, String text) {
        DoctorFinding worst = worst(check);
        assertEquals(Level.PROBLEM, worst.level(), worst.toString());
        assertTrue(worst.text().contains(text), worst.toString());
        return worst;
    }

    private static void level(Level level, DoctorCheck check) {
        assertEquals(level, worst(check).level(), check.findings().toString());
    }

    @Test
    void java() {
        level(Level.OK, new JavaCheck(Runtime.Version.parse("25.0.3"), "/jdk"));
        problem(new JavaCheck(Runtime.Version.parse("21.0.1"), "/jdk"), "no Java 25");
    }

    private NativeLibraryCheck library(String content, String host) throws IOException {
        for (String name : List.of("libcuda.so.1", "libnvidia-ml.so.1", "libcuda.so")) {
            Files.writeString(folder.resolve(name), content, StandardCharsets.ISO_8859_1);
        }
        return new NativeLibraryCheck(folder, Optional.ofNullable(host));
    }

    @Test
    void nativeLibrary() throws IOException {
        problem(new NativeLibraryCheck(folder, Optional.of("2.36")), "cannot read");
        String content = "\u007fELF\0GLIBC_2.2.5\0\u00ffGLIBC_2.34\0GLIBC_2.4\0";
        level(Level.OK, library(content, "2.34"));
        level(Level.OK, library(content, "3.0"));
        level(Level.OK, library("\u007fELF without versions", null));
        problem(library(content, "2.9"), "needs glibc 2.34, the host has 2.9");
        problem(library(content, null), "no glibc");
        Files.delete(folder.resolve("libcuda.so"));
        problem(new NativeLibraryCheck(folder, Optional.of("2.36")), "libcuda.so is missing");
    }

    @Test
    void theHostsGlibcIsAVersion() {
        // The tests run where Tessera is built: on glibc.
        assertTrue(HostGlibc.version().orElseThrow().matches("\\d+\\.\\d+.*"));
    }

    private Probe.Outcome probe(String... lines) throws IOException, InterruptedException {
        Path program = folder.resolve("probe-" + System.identityHashCode(lines));
        Files.writeString(program, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        return Probe.run(program, Duration.ofSeconds(10));
    }

    private DriverCheck driver(String json) throws IOException, InterruptedException {
        return new DriverCheck(probe("[ \"$1\" = --json ] || exit 9", "cat <<'END'", json, "END"));
    }

    @Test
    void aGoodDriver() throws Exception {
        DriverCheck check = driver("""
                {"driver":{"path":"/usr/lib64/libcuda.so.1","version":13020,"status":"ok"},"init":0,
                 "devices":[{"ordinal":0,"uuid":"GPU-1","name":"NVIDIA H200","totalBytes":150755450880}],
                 "exports":{"missing":[],"vendor":674,"ours":674},
                 "lookups":{"unmatched":[],"hooked":200,"present":198,"exact":900},
                 "membarrier":true}""");
        level(Level.OK, check);
        String all = check.findings().toString();
        for (String part : List.of("/usr/lib64/libcuda.so.1, CUDA 13.2", "NVIDIA H200, 140.4 GiB, GPU-1", "674",
                "200 entries are wrapped, 198 of them", "900 answers")) {
            assertTrue(all.contains(part), all);
        }
    }

    @Test
    void noDriverAndNoDeviceAreNoProblem() throws Exception {
        level(Level.NOTE, driver("{\"driver\":{\"path\":\"\",\"version\":0,\"status\":\"not found\"},\"membarrier\":true}"));
        level(Level.NOTE, driver("{\"driver\":null,\"devices\":[]}"));
        level(Level.NOTE, driver(LOADED + "\"init\":100,\"devices\":[]}"));
        level(Level.NOTE, driver(LOADED + "\"init\":0,\"devices\":[]}"));
        level(Level.NOTE, driver("{\"membarrier\":false}"));
    }

    @Test
    void aDriverThatDoesNotFit() throws Exception {
        problem(driver("{\"driver\":{\"path\":\"/l\",\"version\":0,\"status\":\"/l: wrong ELF class\"}}"),
                "cannot be loaded: /l: wrong ELF class");
        problem(driver(LOADED + "\"init\":803}"), "cuInit answers 803");
        String start = LOADED + "\"init\":0,\"devices\":[{\"ordinal\":0,\"name\":\"n\"}],";
        problem(driver(start + "\"exports\":{\"vendor\":3,\"missing\":[\"cuNew\"]}}"), "1 of them not by us: cuNew");
        problem(driver(start + "\"lookups\":{\"hooked\":3,\"exact\":2,\"unmatched\":[\"cuOdd\"]}}"), "not: cuOdd");
    }

    @Test
    void aProbeThatSaysNothingUsable() throws Exception {
        problem(new DriverCheck(Probe.run(folder.resolve("nowhere"), Probe.PATIENCE)), "cannot execute");
        problem(new DriverCheck(probe("exit 5")), "exit code 5");
        problem(new DriverCheck(probe("echo '{'", "kill -SEGV $$")), "exit code 139");
        Path hanging = folder.resolve("hanging");
        Files.writeString(hanging, "#!/bin/sh\nexec sleep 60\n");
        Files.setPosixFilePermissions(hanging, PosixFilePermissions.fromString("rwxr-xr-x"));
        problem(new DriverCheck(Probe.run(hanging, Duration.ofMillis(200))), "did not end");
    }

    /** As a manager says it of one that could not be started. */
    @Test
    void anExecutorThatCannotStart() throws IOException {
        Path socket = folder.resolve("control.sock");
        for (String state : List.of("absent", "restarting", "foreign")) {
            try (ScriptedControlServer _ = new ScriptedControlServer(socket, ("{\"ok\":true,\"manager\":{\"pid\":5,\"version\":\"1.0\",\"abi\":1},"
                    + "\"executors\":[{\"ordinal\":0,\"state\":\"%s\",\"reason\":\"no driver\"}]}%n").formatted(state))) {
                List<DoctorFinding> findings = new ManagerCheck(new ControlClient(socket, ControlClient.PATIENCE), "1.0").findings();
                problem(() -> findings.subList(1, 2), "no driver");
            }
            Files.delete(socket);
        }
    }

    @Test
    void executorsThatFellBackToRoot() throws IOException {
        Path socket = folder.resolve("control.sock");
        String root = ",\"rootBecause\":\"/root is not open to other users\"";
        for (String because : List.of(root, "")) {
            try (ScriptedControlServer _ = new ScriptedControlServer(socket, ("{\"ok\":true,\"manager\":{\"pid\":5,\"version\":\"1.0\",\"abi\":1},"
                    + "\"executors\":[{\"ordinal\":0,\"state\":\"ready\"%1$s},{\"ordinal\":1,\"state\":\"ready\"%1$s}]}%n").formatted(because))) {
                List<DoctorFinding> findings = new ManagerCheck(new ControlClient(socket, ControlClient.PATIENCE), "1.0").findings().stream()
                        .filter(finding -> finding.subject().equals("executors")).toList();
                assertEquals(because.isEmpty() ? 0 : 1, findings.size(), findings::toString);
                findings.forEach(finding -> {
                    assertEquals(DoctorFinding.Level.NOTE, finding.level());
                    assertTrue(finding.text().contains("run as root") && finding.text().contains("/root is not open to other users"), finding.text());
                    assertTrue(finding.advice().contains("chmod o+x") && finding.advice().contains("--executor-user root"), finding.advice());
                });
            }
            Files.delete(socket);
        }
    }

    private DoctorCheck manager(String version, int abi) throws IOException {
        Path socket = folder.resolve("control.sock");
        try (ScriptedControlServer _ = new ScriptedControlServer(socket, ("{\"ok\":true,\"manager\":{\"pid\":5,"
                + "\"version\":\"%s\",\"abi\":%d}}%n").formatted(version, abi))) {
            List<DoctorFinding> findings = new ManagerCheck(new ControlClient(socket, ControlClient.PATIENCE), "1.0")
                    .findings();
            Files.delete(socket);
            return () -> findings;
        }
    }

    @Test
    void theManager() throws IOException {
        level(Level.NOTE, new ManagerCheck(new ControlClient(folder.resolve("none"), ControlClient.PATIENCE), "1.0"));
        level(Level.OK, manager("1.0", 1));
        level(Level.NOTE, manager("0.9", 1));
        problem(manager("1.0", 2), "protocol 2");
        Path socket = folder.resolve("control.sock");
        try (ScriptedControlServer _ = new ScriptedControlServer(socket, "what?\n")) {
            problem(new ManagerCheck(new ControlClient(socket, ControlClient.PATIENCE), "1.0"), "no JSON object");
        }
    }

    @Test
    void theRuntimeDirectory() throws IOException {
        Path directory = Files.createDirectory(folder.resolve("run"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        int self = (Integer) Files.getAttribute(directory, "unix:uid");
        if (self != 0) {
            problem(new RuntimeDirectoryCheck(directory, self + 1), "not to you");
        }
        level(Level.OK, new RuntimeDirectoryCheck(directory, self));
        level(Level.OK, new RuntimeDirectoryCheck(folder.resolve("later"), self));
        Path link = Files.createSymbolicLink(folder.resolve("link"), directory);
        problem(new RuntimeDirectoryCheck(link, self), "is a link");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
        problem(new RuntimeDirectoryCheck(directory, self), "written to by others");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("---------"));
        problem(new RuntimeDirectoryCheck(directory, self), "you cannot use it yourself");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        // A file system without any room.
        problem(new RuntimeDirectoryCheck(Path.of("/proc", Long.toString(ProcessHandle.current().pid())), self), "no space left");
        problem(new RuntimeDirectoryCheck(folder.resolve("x".repeat(100)), self), "room for");
    }

    @Test
    void sharedMemory() throws IOException {
        int self = (Integer) Files.getAttribute(folder, "unix:uid");
        // The folder is not there yet: its parent's file system counts. Some megabytes are free where tests run.
        List<DoctorFinding> findings = new SharedMemoryCheck(folder.resolve("tessera-1/x"), self).findings();
        assertTrue(findings.getFirst().text().startsWith(folder.toString()), findings.toString());
        // A file system without any room.
        problem(new SharedMemoryCheck(Path.of("/proc", Long.toString(ProcessHandle.current().pid())), self), "room for 0");
        // What a manager refuses.
        Path segments = Files.createDirectory(folder.resolve("segments"));
        Files.setPosixFilePermissions(segments, PosixFilePermissions.fromString("rwx--x--x"));
        level(Level.OK, new SharedMemoryCheck(segments, self));
        problem(new SharedMemoryCheck(segments, self + 1), "belongs to user " + self + ", the manager is user " + (self + 1));
        problem(new SharedMemoryCheck(Files.createSymbolicLink(folder.resolve("link"), segments), self), "is a link");
        Files.setPosixFilePermissions(segments, PosixFilePermissions.fromString("rwxrwx---"));
        problem(new SharedMemoryCheck(segments, self), "written to by others");
    }

    private PreloadCheck preload(Map<String, String> environment) {
        return new PreloadCheck(environment, folder.resolve("ld.so.preload"), Path.of("/t/lib"));
    }

    @Test
    void preload() throws IOException {
        level(Level.OK, preload(Map.of()));
        level(Level.OK, preload(Map.of("TESSERA_CALLER_PRELOAD", "/t/lib/libcuda.so.1")));
        level(Level.NOTE, preload(Map.of("TESSERA_CALLER_PRELOAD", "/usr/lib/libjemalloc.so.2")));
        level(Level.NOTE, preload(Map.of("LD_AUDIT", "/x.so")));
        problem(preload(Map.of("TESSERA_CALLER_PRELOAD", "libc.so /opt/libnvshare.so")), "libnvshare");
        Files.writeString(folder.resolve("ld.so.preload"), "/usr/local/vgpu/libvgpu.so\n");
        problem(preload(Map.of()), "libvgpu");
    }
}
