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
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The environment of one test: its directories, managers, programs and witness, and the warnings and errors that it expects.
 * {@link RunWatcher} gives it to a test, and checks afterwards what the test has left.
 */
public final class TestRun {
    private final TestFolders folders = new TestFolders("tsr-");
    private final Function<SharedManager.Terms, SharedManager> sharedManagers;
    private final boolean sanitized;
    private final DriverActivity witness;
    /** The folders of manager and segments: those of this test, or of the manager that it shares. */
    private TestFolders managerFolders = folders;
    private Optional<SharedManager> shared = Optional.empty();
    private KeptSegments segments;
    private final List<ManagerProcess> managers = new ArrayList<>();
    private final List<RunningProgram> programs = new ArrayList<>();
    private final List<String> expectedLog = new ArrayList<>();
    private final List<Pattern> expectedErrors = new ArrayList<>();
    private final List<Pattern> expectedLines = new ArrayList<>();

    /**
     * Creates a run.
     *
     * @param sharedManagers returns a manager that tests of a class share; starts it if necessary
     * @param sanitized      whether programs load the library that was built with sanitizers
     */
    TestRun(Function<SharedManager.Terms, SharedManager> sharedManagers, boolean sanitized) throws IOException {
        this.sharedManagers = sharedManagers;
        this.sanitized = sanitized;
        Files.createDirectory(sharedMemory().resolve("kept"));
        witness = new DriverActivity(witnessFile());
        segments = new KeptSegments(segmentDirectory(), sharedMemory().resolve("kept"));
    }

    boolean isSanitized() {
        return sanitized;
    }

    public TestFolders folders() {
        return folders;
    }

    public Path directory() {
        return folders.directory();
    }

    public Path sharedMemory() {
        return folders.sharedMemory();
    }

    public Path runtimeDirectory() {
        return managerFolders.runtimeDirectory();
    }

    public Path segmentDirectory() {
        return managerFolders.segmentDirectory();
    }

    public Path driverFolder() {
        return folders.driverFolder();
    }

    public Path witnessFile() {
        return directory().resolve("witness");
    }

    public DriverActivity witness() {
        return witness;
    }

    public KeptSegments segments() {
        return segments;
    }

    /** Starts a manager for this run and waits until it can be reached. */
    public ManagerProcess manager(String... options) {
        return manager(Map.of(), options);
    }

    /** As above, with an environment of its own, which executors inherit, for example a script for their driver. */
    public ManagerProcess manager(Map<String, String> environment, String... options) {
        return managerOf(BuildOutputs.app(), environment, options);
    }

    /** As above, with the jars in a folder. */
    public ManagerProcess managerOf(Path app, Map<String, String> environment, String... options) {
        ManagerProcess manager = new ManagerProcess(folders, app, environment, options);
        managers.add(manager);
        return manager;
    }

    /**
     * Returns the manager with these options that tests of this class share. Called once, before any program starts and after {@link
     * #expectLog}, by tests that do not disturb others: their programs are their own, they kill neither manager nor executor, give no orders,
     * and use no sums over tests. Nothing may be left when the test ends. Lines that are logged from now on belong to the test.
     */
    public ManagerProcess sharedManager(String... options) {
        if (!managers.isEmpty() || !programs.isEmpty()) {
            throw new IllegalStateException("a shared manager is a test's first process");
        }
        SharedManager manager = sharedManagers.apply(new SharedManager.Terms(List.of(options), List.copyOf(expectedLog)));
        shared = Optional.of(manager);
        managers.add(manager.process());
        managerFolders = manager.folders();
        segments.close();
        segments = new KeptSegments(segmentDirectory(), sharedMemory().resolve("kept"));
        return manager.process();
    }

    Optional<SharedManager> shared() {
        return shared;
    }

    /** A program of src/test/c. */
    public ProgramLaunch program(String fixture, String... arguments) {
        return new ProgramLaunch(this, BuildOutputs.fixture(fixture).toString()).with(arguments);
    }

    /** Any other command. */
    public ProgramLaunch command(String... command) {
        return new ProgramLaunch(this, command);
    }

    void started(RunningProgram program, boolean preloaded) {
        programs.add(program);
    }

    /** Declares that a manager may log a warning or error that contains a match of this. */
    public void expectLog(String regex) {
        if (shared.isPresent()) {
            throw new IllegalStateException("what a shared manager may log is said before it is asked for");
        }
        expectedLog.add(regex);
    }

    /** Declares that a client may log an error whose text contains a match of this. */
    public void expectClientError(String regex) {
        expectedErrors.add(Pattern.compile(regex));
    }

    /** Declares that the library may write a line that contains a match of this. */
    public void expectLine(String regex) {
        expectedLines.add(Pattern.compile(regex));
    }

    /** Ends everything that still runs. A shared manager has to be in its initial state again. */
    void end() {
        programs.forEach(RunningProgram::close);
        shared.ifPresent(SharedManager::awaitNothingLeft);
        for (ManagerProcess manager : managers) {
            if (manager.alive() && shared.isEmpty()) {
                ProcessSignals.send(manager.process(), ProcessSignals.CONT);
                int exit = manager.stop();
                if (exit != 0) {
                    throw new AssertionError("the manager ended with " + exit + ": " + manager.log());
                }
            }
        }
    }

    /** Returns the lines that were logged or written without being declared. */
    List<String> unexpected() {
        List<String> found = new ArrayList<>();
        for (ManagerProcess manager : managers) {
            manager.complaints(expectedLog).forEach(line -> found.add("manager: " + line));
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

    /** Returns a summary of its processes' output; must be called before {@link #end}. */
    ProcessSummary account() {
        ProcessSummary account = new ProcessSummary();
        managers.forEach(manager -> account.manager(manager.log()));
        account.executors(runtimeDirectory());
        account.programs(programs);
        return account;
    }

    /** Writes the logs to the run's directory, for the analysis of a failed run. */
    void keepLogs() throws IOException {
        int n = 0;
        for (RunningProgram program : programs) {
            List<String> lines = new ArrayList<>(program.output());
            lines.addAll(program.errors());
            Files.write(directory().resolve("program-" + n++ + "-" + program.pid() + ".log"), lines);
        }
    }

    /** Ends all processes except those of a manager that other tests use after this one. */
    void forceClose(boolean keepsShared) {
        if (!keepsShared) {
            managers.forEach(ManagerProcess::close);
            endExecutors(runtimeDirectory());
        }
        segments.close();
        witness.close();
    }

    /** Ends executors: those of a killed manager would live for another minute. */
    static void endExecutors(Path runtimeDirectory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(runtimeDirectory.resolve("executors"), "executor-*.pid")) {
            for (Path file : files) {
                ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).filter(process -> process.info().commandLine()
                        .orElse("").contains(runtimeDirectory.toString())).ifPresent(ProcessHandle::destroyForcibly);
            }
        } catch (NoSuchFileException e) {
            // no manager was started
        } catch (IOException | NumberFormatException e) {
            throw new IllegalStateException("executors cannot be found", e);
        }
    }
}
