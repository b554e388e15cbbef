package io.tessera.cli.fence;

import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.image.FoundImage;
import java.util.Map;
import java.util.TreeMap;

/** Sums over outcomes. One thread. */
final class OutcomeTotals {
    private int images;
    private int refused;
    private int dropped;
    private int machineCodeAlone;
    private int forOtherGpus;
    private int parts;
    private int partsWithoutPtx;
    private long ptxBytes;
    private long fenceNs;
    private int kernels;
    private int waiting;
    private int compared;
    private int moreRegisters;
    private int spilling;
    private final Map<String, Integer> accesses = new TreeMap<>();
    private final Map<String, Integer> fences = new TreeMap<>();
    private final Map<String, Integer> proved = new TreeMap<>();

    void add(FenceOutcome outcome) {
        images++;
        boolean withPtx = outcome.ptxBytes() > 0;
        refused += withPtx && !outcome.accepted() ? 1 : 0;
        dropped += outcome.dropped().size();
        boolean part = FoundImage.isRelocatable(outcome.where());
        parts += part && withPtx ? 1 : 0;
        partsWithoutPtx += part && !withPtx && !outcome.forOtherGpus() ? 1 : 0;
        machineCodeAlone += !part && !withPtx && !outcome.forOtherGpus() ? 1 : 0;
        forOtherGpus += outcome.forOtherGpus() ? 1 : 0;
        ptxBytes += outcome.ptxBytes();
        fenceNs += outcome.fenceNs();
        kernels += outcome.kernels().size();
        waiting += (int) outcome.kernels().stream().filter(kernel -> kernel.waits() != null).count();
        for (KernelReport report : outcome.reports()) {
            report.accesses().forEach((name, count) -> accesses.merge(name, count, Integer::sum));
            report.fences().forEach((fence, count) -> fences.merge(ConstantName.text(fence), count, Integer::sum));
            report.proved().forEach((proof, count) -> proved.merge(ConstantName.text(proof), count, Integer::sum));
        }
        outcome.after().forEach((name, after) -> {
            KernelResources before = outcome.before().get(name);
            if (before != null) {
                compared++;
                moreRegisters += after.registers() > before.registers() ? 1 : 0;
                spilling += after.spillBytes() > before.spillBytes() ? 1 : 0;
            }
        });
    }

    /** Returns the number of parts without PTX beside parts with it. A program is linked without them unless it needs them. */
    int partsWithoutPtx() {
        return parts == 0 ? 0 : partsWithoutPtx;
    }

    int images() {
        return images;
    }

    int refused() {
        return refused;
    }

    /** Returns the number of kernels left out of images that can be fenced. */
    int dropped() {
        return dropped;
    }

    /** Returns the number of images that can run but cannot be fenced for lack of PTX. */
    int machineCodeAlone() {
        return machineCodeAlone + partsWithoutPtx - partsWithoutPtx();
    }

    int forOtherGpus() {
        return forOtherGpus;
    }

    long ptxBytes() {
        return ptxBytes;
    }

    int kernels() {
        return kernels;
    }

    /** Returns the number of kernels that may wait for other blocks of their grid. */
    int waiting() {
        return waiting;
    }

    int compared() {
        return compared;
    }

    int moreRegisters() {
        return moreRegisters;
    }

    int spilling() {
        return spilling;
    }

    Map<String, Integer> accesses() {
        return accesses;
    }

    Map<String, Integer> fences() {
        return fences;
    }

    Map<String, Integer> proved() {
        return proved;
    }

    /** Returns the bytes of PTX that one core reads and fences in a second; 0: there was none. */
    double bytesPerSecond() {
        return fenceNs == 0 ? 0 : ptxBytes * 1e9 / fenceNs;
    }
}
