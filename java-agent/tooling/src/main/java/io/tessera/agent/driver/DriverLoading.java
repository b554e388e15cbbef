package io.tessera.agent.driver;

import io.tessera.agent.boot.Natives;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;

/**
 * Makes our {@code libcuda.so.1} the process's driver. It carries that SONAME, so once it is loaded, every later {@code dlopen} or
 * dependency of that name resolves to it. Its settings go into the native environment first, because it reads them when it is loaded;
 * variables that are already set are kept. Runs once, on the thread that starts the agent.
 */
public final class DriverLoading {
    private static final int VENDOR = 1;
    private static final int OURS = 2;
    private static final String OWN = "libtessera-agent.so";
    private static final String DRIVER = "libcuda.so.1";
    private static final List<String> RUNTIMES = List.of("libcudart.so.13", "libcudart.so.12");

    private final Map<String, String> environment;
    private final boolean runtime;
    private final boolean late;
    private NativeFiles files;

    /**
     * Prepares the loading of the driver.
     *
     * @param environment settings of the library, by the names of its variables
     * @param runtime whether our CUDA runtime library is loaded too
     * @param late whether the application is already running: it then keeps the driver that it has or will have, because inspecting a
     *         program must not make it a tenant
     */
    public DriverLoading(Map<String, String> environment, boolean runtime, boolean late) {
        this.late = late;
        this.environment = environment;
        this.runtime = runtime;
    }

    /**
     * Loads the driver unless one is already loaded.
     *
     * @param jar the agent's
     * @param folder folder to unpack into, or null for the usual ones
     * @return {@code agent}, {@code wrapper} (ours was there), {@code vendor} (another was there: left alone), or
     *         {@code none} (there is none yet, and it was late)
     * @throws IOException if it could not be loaded; the message says why
     */
    public String load(JarFile jar, String folder) throws IOException {
        if (!System.getProperty("os.name").equals("Linux") || !System.getProperty("os.arch").equals("amd64")) {
            throw new IOException("there is a driver library for Linux on x86-64 only, this is "
                    + System.getProperty("os.name") + " on " + System.getProperty("os.arch"));
        }
        files = new NativeFiles(jar);
        List<String> complaints = new ArrayList<>();
        for (File parent : Folders.candidates(folder)) {
            try {
                return loadFrom(parent);
            } catch (NativeFiles.WrongHashException hopeless) {
                throw hopeless;
            } catch (IOException | UnsatisfiedLinkError | UnsupportedOperationException failure) {
                complaints.add(parent + ": " + failure.getMessage());
            }
        }
        if (!Natives.available() && !late && JnaLoading.isPossible()) {
            for (File parent : Folders.candidates(folder)) {
                try {
                    return loadByJna(parent);
                } catch (IOException | UnsupportedOperationException failure) {
                    complaints.add(parent + ": " + failure.getMessage());
                }
            }
        }
        throw new IOException("no folder to unpack the driver library into; " + String.join("; ", complaints));
    }

    private String loadByJna(File parent) throws IOException {
        File folder = NativeFiles.folderIn(parent);
        try {
            JnaLoading.load(files.unpack(DRIVER, folder), files.expected(DRIVER), environment);
            return "agent";
        } finally {
            remove(folder);
        }
    }

    private String loadFrom(File parent) throws IOException {
        File folder = NativeFiles.folderIn(parent);
        try {
            if (!Natives.available()) {
                File own = files.unpack(OWN, folder);
                LibraryLoading.load(own);
                files.check(OWN, own);
            }
            int present = Natives.driver();
            if (present != 0) {
                return present == OURS ? "wrapper" : "vendor";
            }
            if (late) {
                return "none";
            }
            File driver = files.unpack(DRIVER, folder);
            files.check(DRIVER, driver);
            openWithSettings(driver);
            if (runtime) {
                for (String name : RUNTIMES) {
                    File library = files.unpack(name, folder);
                    files.check(name, library);
                    open(library);
                }
            }
            int now = Natives.driver();
            if (now != OURS) {
                throw new IOException("the process's driver is " + (now == VENDOR ? "another one" : "not there"));
            }
            return "agent";
        } finally {
            remove(folder);
        }
    }

    /**
     * Opens the library with its settings in the environment. They are removed afterwards, so that the application's children do not
     * inherit them.
     */
    private void openWithSettings(File driver) throws IOException {
        List<String> ours = new ArrayList<>();
        try {
            for (Map.Entry<String, String> setting : environment.entrySet()) {
                if (Natives.setIfAbsent(setting.getKey(), setting.getValue())) {
                    ours.add(setting.getKey());
                }
            }
            open(driver);
        } finally {
            for (String name : ours) {
                Natives.unset(name);
            }
        }
    }

    private static void open(File library) throws IOException {
        String complaint = Natives.open(library.getPath());
        if (complaint != null) {
            throw new IOException(complaint);
        }
    }

    /** Removes the unpacked files; a mapped library stays mapped. */
    private static void remove(File folder) throws IOException {
        File[] entries = folder.listFiles();
        boolean gone = entries != null;
        for (int i = 0; gone && i < entries.length; i++) {
            gone = entries[i].delete();
        }
        if (!gone || !folder.delete()) {
            throw new IOException("cannot remove " + folder);
        }
    }
}
