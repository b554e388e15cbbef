package io.tessera.cli.fence.machine;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Sums over images with machine code. One thread. */
final class MachineTotals {
    private final Map<String, Integer> refused = new TreeMap<>();
    private final Map<String, Integer> refusedImages = new TreeMap<>();
    private final Map<String, Integer> trusted = new TreeMap<>();
    private final Set<String> architectures = new LinkedHashSet<>();
    private int images;
    private int kernels;
    private int fenced;
    private int tensorMaps;
    private int waiting;
    private long accesses;
    private long inserted;
    private long bytes;

    /** Adds an image. */
    void add(CubinOutcome outcome) {
        architectures.addAll(outcome.code().architectures());
        if (!outcome.hasCode()) {
            return;
        }
        images++;
        bytes += outcome.code().cubin() == null ? 0 : outcome.code().cubin().length;
        if (outcome.refused() != null) {
            refusedImages.merge(FunctionFence.kind(outcome.refused()), 1, Integer::sum);
        }
        for (FunctionFence function : outcome.functions()) {
            accesses += function.report().accesses();
            inserted += function.report().inserted();
            if (function.report().kernel()) {
                kernel(function);
            }
        }
    }

    private void kernel(FunctionFence kernel) {
        kernels++;
        waiting += kernel.waits() == null ? 0 : 1;
        if (kernel.isFenced()) {
            fenced++;
            tensorMaps += kernel.maps().isEmpty() ? 0 : 1;
            if (kernel.trusted() != null) {
                trusted.merge(FunctionFence.kind(kernel.trusted()), 1, Integer::sum);
            }
        } else {
            refused.merge(FunctionFence.kind(kernel.refusal()), 1, Integer::sum);
        }
    }

    /** Returns the number of kernels that are not fenced, by reason. */
    Map<String, Integer> refused() {
        return refused;
    }

    /** Returns the number of images of which nothing can be fenced, by reason. */
    Map<String, Integer> refusedImages() {
        return refusedImages;
    }

    /** Returns the number of fenced kernels with an unverified assumption, by the assumption. */
    Map<String, Integer> trusted() {
        return trusted;
    }

    /** Returns the architectures of the machine code. */
    Set<String> architectures() {
        return architectures;
    }

    /** Returns the number of images with machine code for the GPU. */
    int images() {
        return images;
    }

    int kernels() {
        return kernels;
    }

    int fenced() {
        return fenced;
    }

    /** Returns the number of fenced kernels that copy by tensor maps. */
    int tensorMaps() {
        return tensorMaps;
    }

    /** Returns the number of kernels that may wait for other blocks of their grid. */
    int waiting() {
        return waiting;
    }

    long accesses() {
        return accesses;
    }

    long inserted() {
        return inserted;
    }

    /** Returns the total size of the cubins in bytes. */
    long bytes() {
        return bytes;
    }

    /** Returns whether there is code and all of it is fenced. */
    boolean isWhole() {
        return images > 0 && refused.isEmpty() && refusedImages.isEmpty();
    }
}
