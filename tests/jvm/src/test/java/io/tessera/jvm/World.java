package io.tessera.jvm;

import io.tessera.testing.BuildOutputs;
import io.tessera.testing.TestFolders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A test's surroundings: folders, a manager of its own, the processes that it started. Closing it ends them all and
 * removes the folders. Starting is thread-safe.
 */
final class World implements AutoCloseable {
    private final TestFolders folders = new TestFolders("tjv-");
    private final List<JvmProgram> programs = new ArrayList<>();
    private final AtomicInteger started = new AtomicInteger();
    private JvmProgram manager;

    Path directory() {
        return folders.directory();
    }

    Path runtimeDirectory() {
        return folders.runtimeDirectory();
    }

    Path driverFolder() {
        return folders.driverFolder();
    }

    /** Starts a manager with the software GPU and waits until it can be reached. */
    World withManager() {
        return withManager("--executors", "software");
    }

    /** Starts a manager with these options and waits until it can be reached. */
    World withManager(String... options) {
        manager = start(folders.manager(BuildOutputs.app(), Map.of(), options));
        manager.awaitLine("tessera-manager ready");
        return this;
    }

    /** Starts a process. It inherits nothing of Tessera's or the loader's variables. */
    JvmProgram start(List<String> command, Map<String, String> environment) {
        return start(folders.process(command, environment));
    }

    private JvmProgram start(ProcessBuilder builder) {
        JvmProgram program = new JvmProgram(builder);
        synchronized (programs) {
            programs.add(program);
        }
        return program;
    }

    /** A sample as a tenant of the manager. */
    JvmProgram sample(Jvm jvm, Sample sample, TenantStart start) {
        return start(start.command(jvm, sample, BuildOutputs.agent(), unpacking()),
                Map.of("TESSERA_RUNTIME_DIR", runtimeDirectory().toString()));
    }

    /** The environment of a program on the scripted driver. */
    Map<String, String> scripted() {
        Map<String, String> environment = new TreeMap<>();
        environment.put("TESSERA_RUNTIME_DIR", runtimeDirectory().toString());
        environment.put("LD_LIBRARY_PATH", driverFolder().toString());
        return environment;
    }

    /** Options that give a program a folder of its own to unpack to: bindings use fixed names there. */
    List<String> unpacking() {
        try {
            Path folder = Files.createDirectory(directory().resolve("tmp-" + started.incrementAndGet()));
            return List.of("-Djava.io.tmpdir=" + folder, "-Dorg.bytedeco.javacpp.cachedir=" + folder.resolve("javacpp"));
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for a program", e);
        }
    }

    /** {@code tessera} with these words, to its end. */
    ProcessResult tessera(String... words) {
        List<String> command = new ArrayList<>(List.of(BuildOutputs.tessera().toString()));
        command.addAll(List.of(words));
        return start(command, Map.of("TESSERA_JAVA", System.getProperty("java.home"), "TESSERA_RUNTIME_DIR",
                runtimeDirectory().toString())).end();
    }

    /** What the manager logged so far. */
    List<String> managersLog() {
        return manager.errors();
    }

    @Override
    public void close() {
        if (manager != null) {
            manager.terminate();
            manager.end();
        }
        synchronized (programs) {
            programs.forEach(JvmProgram::close);
        }
        folders.delete();
    }
}
