package io.tessera.manager;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.session.ManagerDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a manager whose runtime directory was removed, moved or replaced: commands can no longer reach it, and the next manager would share its
 * devices with it. Its programs continue. One owner thread.
 */
final class DirectoryWatch implements Conductor.Timed {
    private static final long LOOK_NS = 2_000_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryWatch.class);

    private final ManagerDirectory directory;
    private final Runnable stop;
    private long nextNs;

    /** Creates a watch for a directory that is in place. */
    DirectoryWatch(ManagerDirectory directory, Runnable stop) {
        this.directory = directory;
        this.stop = stop;
    }

    @Override
    public int doWork(long nowNs) {
        if (nextNs > nowNs) {
            return 0;
        }
        nextNs = nowNs + LOOK_NS;
        if (!directory.isInPlace()) {
            LOG.error("the runtime directory {} was removed, moved or replaced: no command reaches this manager, and it ends. Programs go on; "
                    + "tessera manager start starts another one", directory.paths().path());
            nextNs = Long.MAX_VALUE;
            stop.run();
        }
        return 0;
    }

    @Override
    public long nextDeadlineNs() {
        return nextNs;
    }
}
