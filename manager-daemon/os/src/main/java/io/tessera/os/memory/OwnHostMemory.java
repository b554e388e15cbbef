package io.tessera.os.memory;

import java.nio.file.Path;
import java.util.function.Consumer;

/** What this process may have of the host's memory: all of it, unless its control groups (a container's, for example) bound it. */
public final class OwnHostMemory implements HostMemorySource {
    private final HostMemorySource host;
    private final ControlGroupMemory groups;

    /**
     * For this process, with the groups that it is in now.
     *
     * @param complaints hears once why nothing is known of the host's memory
     */
    public OwnHostMemory(Consumer<String> complaints) {
        this(new ProcHostMemory(Path.of("/proc/meminfo"), complaints), ControlGroupMemory.ofThisProcess());
    }

    OwnHostMemory(HostMemorySource host, ControlGroupMemory groups) {
        this.host = host;
        this.groups = groups;
    }

    @Override
    public long totalBytes() {
        return Math.min(host.totalBytes(), groups.limitBytes());
    }

    @Override
    public long availableBytes() {
        return Math.min(host.availableBytes(), groups.roomBytes());
    }
}
