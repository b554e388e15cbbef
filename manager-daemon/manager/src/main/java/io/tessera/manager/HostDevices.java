package io.tessera.manager;

import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.SoftwareDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Whether a host may have more devices than one, by its device files: the manager loads no driver. Stateless beside its folder, which is looked at
 * at each question.
 *
 * @param folder of device files, {@code /dev}
 */
record HostDevices(Path folder) {
    /** The devices of this host. */
    static final HostDevices OWN = new HostDevices(Path.of("/dev"));

    /**
     * Whether programs may see several devices.
     *
     * @param kind     whose devices executors have
     * @param software devices in software
     */
    boolean several(ExecutorKind kind, SoftwareDevices software) {
        long nvidia = count();
        boolean inSoftware = kind == ExecutorKind.SOFTWARE || kind == ExecutorKind.AUTO && nvidia == 0;
        long most = Math.max(nvidia, inSoftware ? software.count() : 0);
        // Without files of NVIDIA's and without software GPUs nothing is known: there are other ways to a driver, as WSL's.
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
