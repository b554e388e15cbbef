package io.tessera.cli.fence;

import io.tessera.guardian.fence.KernelReport;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Outcome of fencing one image. Immutable.
 *
 * @param file     the file that holds it
 * @param where    part of the file that is the image
 * @param offset   from the file's start, in bytes
 * @param made     target of the image's PTX ({@code sm_80}), or the kind of image if it has none
 * @param ptxBytes size of its PTX; 0: it has none
 * @param refused  why it cannot be fenced or compiled; empty if it can
 * @param dropped  kernels that cannot be fenced and are left out of an image that can, each with the reason
 * @param reports  one for each function, if it was fenced
 * @param before   resources of each unfenced kernel, if it was compiled
 * @param after    resources of each fenced kernel, if it was compiled
 * @param written  what was written: file names, or {@code cache}
 * @param fenceNs  processor time of reading and fencing, in nanoseconds
 */
record FenceOutcome(String file, String where, long offset, String made, long ptxBytes, String refused,
        Map<String, String> dropped, List<KernelReport> reports, Map<String, KernelResources> before, Map<String, KernelResources> after,
        List<String> written,
        long fenceNs) {
    /** The result for an image without code for the GPU. */
    static final String FOR_OTHER_GPUS = "for other GPUs alone";

    /** Copies the collections. */
    FenceOutcome {
        dropped = Collections.unmodifiableMap(new LinkedHashMap<>(dropped));
        reports = List.copyOf(reports);
        before = Map.copyOf(before);
        after = Map.copyOf(after);
        written = List.copyOf(written);
    }

    /** Returns whether it can be fenced, and compiled if that was tried. */
    boolean accepted() {
        return refused.isEmpty();
    }

    /** Returns a copy with the names of files that were written before it was refused. */
    FenceOutcome withWritten(List<String> names) {
        return new FenceOutcome(file, where, offset, made, ptxBytes, refused, dropped, reports, before, after, names, fenceNs);
    }

    /** Returns whether no part of it can run on the GPU. */
    boolean forOtherGpus() {
        return made.equals(FOR_OTHER_GPUS);
    }

    /** Returns the reports of its kernels, without those of device functions. */
    List<KernelReport> kernels() {
        return reports.stream().filter(KernelReport::kernel).toList();
    }
}
