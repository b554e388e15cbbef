package io.tessera.os.memory;

import java.nio.file.Path;
import java.util.function.Consumer;

/** The host memory that this process may have: all of it, unless its control groups (a container's, for example) set a bound. */
public final class OwnHostMemory implements HostMemorySource {
    private final HostMemorySource host;
    private final ControlGroupMemory groups;

    /**
     * Creates the source for this process, with its present groups.
     *
     * @param complaints receives once why nothing is known about the host's memory
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
