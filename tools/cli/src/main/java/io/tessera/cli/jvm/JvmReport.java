package io.tessera.cli.jvm;

import java.util.List;

/**
 * The requested parts of what a JVM has on the GPU.
 *
 * @param process   the JVM
 * @param summary   the scalar attributes; null: the agent has none yet
 * @param heap      live memory by call site; null if not asked for
 * @param leaks     old memory by call site; null if not asked for
 * @param olderMs   minimum age of that memory, milliseconds
 * @param launchers kernels and copies by call site; null if not asked for
 */
record JvmReport(JvmProcess process, GpuSummary summary, List<SiteRow> heap, List<LeakSite> leaks, long olderMs,
        List<LaunchSiteRow> launchers) {
    /** Returns whether the JVM uses CUDA only through libraries that the agent does not observe. */
    boolean unseen() {
        return process.client() && (summary == null || summary.liveAllocations() == 0 && summary.launches() == 0);
    }
}
