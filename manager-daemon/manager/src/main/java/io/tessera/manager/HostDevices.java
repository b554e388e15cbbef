package io.tessera.manager;

import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.SoftwareDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Finds out from device files whether a host may have more than one device, because the manager loads no driver. Stateless; the folder is read at
 * each question.
 *
 * @param folder folder of device files, {@code /dev}
 */
record HostDevices(Path folder) {
    /** The devices of this host. */
    static final HostDevices OWN = new HostDevices(Path.of("/dev"));

    /**
     * Returns whether programs may see several devices.
     *
     * @param kind     devices that executors serve
     * @param software software GPUs
     */
    boolean several(ExecutorKind kind, SoftwareDevices software) {
        long nvidia = count();
        boolean inSoftware = kind == ExecutorKind.SOFTWARE || kind == ExecutorKind.AUTO && nvidia == 0;
        long most = Math.max(nvidia, inSoftware ? software.count() : 0);
        // Without NVIDIA's files and without software GPUs nothing is known: there are other ways to a driver, such as WSL's.
        return most != 1 || nvidia == 0 && Files.exists(folder.resolve("dxg"));
    }

    private long count() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("nvidia\\d+")).count();
        } catch (IOException e) {
            return 0;
        }
    }
}
