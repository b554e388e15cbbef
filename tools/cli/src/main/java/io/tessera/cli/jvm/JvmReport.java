package io.tessera.cli.jvm;

import java.util.List;

/**
 * What a JVM has on the GPU, as far as it was asked for.
 *
 * @param process   the JVM
 * @param summary   the single numbers; null where the agent has none yet
 * @param heap      live memory by call site; null if not asked for
 * @param leaks     old memory by call site; null if not asked for
 * @param olderMs   how old that is at least, milliseconds
 * @param launchers kernels and copies by call site; null if not asked for
 */
record JvmReport(JvmProcess process, GpuSummary summary, List<SiteRow> heap, List<LeakSite> leaks, long olderMs,
        List<LaunchSiteRow> launchers) {
    /** Whether the JVM uses CUDA, and none of it through what the agent sees. */
    boolean unseen() {
        return process.client() && (summary == null || summary.liveAllocations() == 0 && summary.launches() == 0);
    }
}
