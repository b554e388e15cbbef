package io.tessera.cli.fence;

import io.tessera.guardian.fence.KernelReport;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What became of one image. Immutable.
 *
 * @param file     the file that holds it
 * @param where    which part of the file
 * @param offset   from the file's start, in bytes
 * @param made     what the image's PTX was made for ({@code sm_80}), or what the image is where it has none
 * @param ptxBytes size of its PTX; 0 where it has none
 * @param refused  why it cannot be fenced or compiled; empty if it can
 * @param dropped  kernels that cannot be fenced and are left out of an image that can, each with the reason
 * @param reports  one for each function, if it was fenced
 * @param before   what each kernel takes unfenced, where that was compiled
 * @param after    what each kernel takes fenced, where that was compiled
 * @param written  what was written: file names, or {@code cache}
 * @param fenceNs  processor time that reading and fencing took, in nanoseconds
 */
record FenceOutcome(String file, String where, long offset, String made, long ptxBytes, String refused,
        Map<String, String> dropped, List<KernelReport> reports, Map<String, KernelResources> before, Map<String, KernelResources> after,
        List<String> written,
        long fenceNs) {
    /** The result for an image that has nothing for the GPU. */
    static final String FOR_OTHER_GPUS = "for other GPUs alone";

    /** Copies what is passed. */
    FenceOutcome {
        dropped = Collections.unmodifiableMap(new LinkedHashMap<>(dropped));
        reports = List.copyOf(reports);
        before = Map.copyOf(before);
        after = Map.copyOf(after);
        written = List.copyOf(written);
    }

    /** Whether it can be fenced, and compiled where that was tried. */
    boolean accepted() {
        return refused.isEmpty();
    }

    /** The same with what was written before it was refused. */
    FenceOutcome withWritten(List<String> names) {
        return new FenceOutcome(file, where, offset, made, ptxBytes, refused, dropped, reports, before, after, names, fenceNs);
    }

    /** Whether nothing of it can run on the GPU. */
    boolean forOtherGpus() {
        return made.equals(FOR_OTHER_GPUS);
    }

    /** The reports of its kernels, without its device functions'. */
    List<KernelReport> kernels() {
        return reports.stream().filter(KernelReport::kernel).toList();
    }
}
