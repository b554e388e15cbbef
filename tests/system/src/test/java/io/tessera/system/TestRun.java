package io.tessera.system;

import io.tessera.testing.BuildOutputs;
import io.tessera.testing.TestFolders;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * One test's world: its directories, managers, programs and the witness; and what it declares to expect. Given to a test
 * by {@link RunWatcher}, which also judges what was left behind.
 */
final class TestRun {
    private final TestFolders folders = new TestFolders("tsr-");
    private final DriverActivity witness;
    private final KeptSegments segments;
    private final List<ManagerProcess> managers = new ArrayList<>();
    private final List<RunningProgram> programs = new ArrayList<>();
    private final List<Pattern> expectedLog = new ArrayList<>();
    private final List<Pattern> expectedErrors = new ArrayList<>();
    private final List<Pattern> expectedLines = new ArrayList<>();

    TestRun() throws IOException {
        Files.createDirectory(sharedMemory().resolve("kept"));
        witness = new DriverActivity(witnessFile());
        segments = new KeptSegments(segmentDirectory(), sharedMemory().resolve("kept"));
    }

    TestFolders folders() {
        return folders;
    }

    Path directory() {
        return folders.directory();
    }

    Path sharedMemory() {
        return folders.sharedMemory();
    }

    Path runtimeDirectory() {
        return folders.runtimeDirectory();
    }

    Path segmentDirectory() {
        return folders.segmentDirectory();
    }

    Path driverFolder() {
        return folders.driverFolder();
    }

    Path witnessFile() {
        return directory().resolve("witness");
    }

    DriverActivity witness() {
        return witness;
    }

    KeptSegments segments() {
        return segments;
    }

    /** Starts a manager for this run and waits until it can be reached. */
    ManagerProcess manager(String... options) {
        return manager(Map.of(), options);
    }

    /** The same with an environment of its own, which executors inherit: a script for their driver, for example. */
    ManagerProcess manager(Map<String, String> environment, String... options) {
        return managerOf(BuildOutputs.app(), environment, options);
    }

    /** The same of the jars in a folder. */
    ManagerProcess managerOf(Path app, Map<String, String> environment, String... options) {
        ManagerProcess manager = new ManagerProcess(this, app, environment, options);
        managers.add(manager);
        return manager;
    }

    /** A program of src/test/c. */
    ProgramLaunch program(String fixture, String... arguments) {
        return new ProgramLaunch(this, BuildOutputs.fixture(fixture).toString()).with(arguments);
    }

    /** Any other command. */
    ProgramLaunch command(String... command) {
        return new ProgramLaunch(this, command);
    }

    void started(RunningProgram program, boolean preloaded) {
        programs.add(program);
    }

    /** Declares that a manager may log a warning or error with this in it. */
    void expectLog(String regex) {
        expectedLog.add(Pattern.compile(regex));
    }

    /** Declares that a client may log an error with this in its text. */
    void expectClientError(String regex) {
        expectedErrors.add(Pattern.compile(regex));
    }

    /** Declares that the library may say a line with this in it. */
    void expectLine(String regex) {
        expectedLines.add(Pattern.compile(regex));
    }

    /** Ends what still runs. */
    void end() {
        programs.forEach(RunningProgram::close);
        for (ManagerProcess manager : managers) {
            if (manager.alive()) {
                ProcessSignals.send(manager.process(), ProcessSignals.CONT);
                int exit = manager.stop();
                if (exit != 0) {
                    throw new AssertionError("the manager ended with " + exit + ": " + manager.log());
                }
            }
        }
    }

    /** What was logged and said without being declared. */
    List<String> unexpected() {
        List<String> found = new ArrayList<>();
        for (ManagerProcess manager : managers) {
            manager.log().stream().filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                    .filter(line -> none(expectedLog, line)).forEach(line -> found.add("manager: " + line));
        }
        for (KeptSegments.ClientError error : segments.errors()) {
            if (none(expectedErrors, error.error().text())) {
                found.add("client's error log: " + error);
            }
        }
        for (RunningProgram program : programs) {
            program.errors().stream().filter(line -> line.startsWith("tessera: "))
                    .filter(line -> none(expectedLines, line)).forEach(line -> found.add("library: " + line));
        }
        return found;
    }

    private static boolean none(List<Pattern> patterns, String text) {
        return patterns.stream().noneMatch(pattern -> pattern.matcher(text).find());
    }

    /** What its processes said; taken before {@link #end} ends them. */
    ProcessSummary account() {
        ProcessSummary account = new ProcessSummary();
        managers.forEach(manager -> account.manager(manager.log()));
        account.executors(runtimeDirectory());
        account.programs(programs);
        return account;
    }

    /** Writes the logs beside the rest, for whoever looks at a failed run. */
    void keepLogs() throws IOException {
        int n = 0;
        for (ManagerProcess manager : managers) {
            Files.write(directory().resolve("manager-" + n++ + ".log"), manager.log());
        }
        n = 0;
        for (RunningProgram program : programs) {
            List<String> lines = new ArrayList<>(program.output());
            lines.addAll(program.errors());
            Files.write(directory().resolve("program-" + n++ + "-" + program.pid() + ".log"), lines);
        }
    }

    void forceClose() {
        managers.forEach(ManagerProcess::close);
        endExecutors();
        segments.close();
        witness.close();
    }

    /** Those of a manager that was killed live for a minute more. */
    private void endExecutors() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(runtimeDirectory().resolve("executors"), "executor-*.pid")) {
            for (Path file : files) {
                ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).filter(process -> process.info().commandLine()
                        .orElse("").contains(runtimeDirectory().toString())).ifPresent(ProcessHandle::destroyForcibly);
            }
        } catch (NoSuchFileException e) {
            // no manager was started
        } catch (IOException | NumberFormatException e) {
            throw new IllegalStateException("executors cannot be found", e);
        }
    }
}
