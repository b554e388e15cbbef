package io.tessera.system;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The start of a program in a new process: command, environment, with the library or without. Made by {@link TestRun#program}. */
public final class ProgramLaunch {
    private final TestRun run;
    private final List<String> command = new ArrayList<>();
    private final Map<String, String> environment = new TreeMap<>();
    private boolean preloaded = true;

    ProgramLaunch(TestRun run, String... command) {
        this.run = run;
        this.command.addAll(List.of(command));
        if (run.isSanitized()) {
            // A sanitizer's own libraries have to be loaded first.
            environment.put("LD_LIBRARY_PATH", BuildOutputs.sanitizedPreload().getParent() + ":" + BuildOutputs.nativeFolder());
            environment.put("LD_PRELOAD", BuildOutputs.sanitizers() + ":" + BuildOutputs.sanitizedPreload() + ":" + BuildOutputs.nvml());
            environment.put("ASAN_OPTIONS", "detect_leaks=0");
            environment.put("UBSAN_OPTIONS", "print_stacktrace=1");
        } else {
            environment.put("LD_LIBRARY_PATH", BuildOutputs.nativeFolder().toString());
            environment.put("LD_PRELOAD", BuildOutputs.preload() + ":" + BuildOutputs.nvml());
        }
        environment.put("TESSERA_DRIVER", BuildOutputs.scriptedDriver().toString());
        environment.put("TESSERA_RUNTIME_DIR", run.runtimeDirectory().toString());
        environment.put("TESSERA_SCRIPT_WITNESS", run.witnessFile().toString());
        environment.put("TESSERA_TEST_PRELOAD", environment.get("LD_PRELOAD"));
    }

    public ProgramLaunch with(String... arguments) {
        command.addAll(List.of(arguments));
        return this;
    }

    public ProgramLaunch env(String name, String value) {
        environment.put(name, value);
        return this;
    }

    public ProgramLaunch without(String name) {
        environment.remove(name);
        return this;
    }

    /** The script of the driver; see tests/scripted-driver/README.md. */
    public ProgramLaunch script(String statements) {
        return env("TESSERA_SCRIPT", statements);
    }

    public ProgramLaunch plan(String plan) {
        return env("TESSERA_PLAN", plan);
    }

    public ProgramLaunch tenant(String label) {
        return env("TESSERA_NAME", label);
    }

    public ProgramLaunch memory(long bytes) {
        return env("TESSERA_MEMORY", Long.toString(bytes));
    }

    /** Makes the program run without Tessera's library: the scripted driver itself is its libcuda.so.1. */
    public ProgramLaunch natively() {
        preloaded = false;
        environment.remove("LD_PRELOAD");
        environment.put("LD_LIBRARY_PATH", run.driverFolder().toString());
        return this;
    }

    public RunningProgram start() {
        try {
            RunningProgram started = new RunningProgram(Path.of(command.getFirst()).getFileName() + " "
                    + command.subList(1, command.size()), run.folders().process(command, environment).start());
            run.started(started, preloaded);
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    public ProgramResult run() {
        return start().end();
    }
}
