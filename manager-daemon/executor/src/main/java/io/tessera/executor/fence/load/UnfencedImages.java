package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.machine.verify.TensorMapPlaces;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.RelaySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Images of one client that have no PTX to fence: whether they may run, with fences in their machine code or as they are, and which do. One owner thread.
 */
public final class UnfencedImages {
    /** What makes an image one that any device can load and fences can be put into. */
    private static final String REMEDY = "; compile it with PTX inside (nvcc -gencode arch=compute_75,code=compute_75, or -arch of an older GPU)";
    private static final Logger LOG = LoggerFactory.getLogger(UnfencedImages.class);

    private final UnfencedPolicy policy;
    private final TenantPresence.Member member;
    private final TrustedImages trusted;
    private final RelaySegment segment;
    /** By the driver's handle, also modules of libraries. */
    private final Map<Long, Loaded> loaded = new HashMap<>();
    private final Map<Long, Loaded> modules = new HashMap<>();
    private volatile int count;

    /** For one client. */
    public UnfencedImages(UnfencedPolicy policy, TenantPresence.Member member, TrustedImages trusted, RelaySegment segment) {
        this.policy = policy;
        this.member = member;
        this.trusted = trusted;
        this.segment = segment;
    }

    /**
     * Lets an image pass, or not.
     *
     * @param lacking  why it cannot be fenced
     * @param launched whether kernels have run, so that the program cannot start again
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public void decide(ProgramSource source, String lacking, boolean launched) throws ProgramRefusedException {
        if (policy == UnfencedPolicy.OWN && member.isAmongItsOwn()) {
            // No label: frameworks load gigabytes so, and a hash of them all is seconds of their start.
            LOG.info("an image of {} bytes cannot be fenced: {}; it runs by the policy own", source.main().bytes().byteSize(), lacking);
            return;
        }
        String what = "image " + source.label() + " cannot be fenced: " + lacking;
        switch (policy) {
            case OWN -> throw refused(what + "; other users' programs share the device, so it is refused" + REMEDY + ", or run it with --share time");
            case TRUSTED -> {
                if (!trusted.contains(source.main())) {
                    throw refused(what + ", and it is not trusted: tessera fence --trust with its library, or with " + source.main().hash());
                }
            }
            case TIME -> {
                if (launched) {
                    throw refused(what + ", and kernels have run already, so that the program cannot start again: run it "
                            + "with --share time");
                }
                LOG.info("{}: the program is asked to start again in time sharing", what);
                segment.askForTimeSharing();
                throw new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, what);
            }
            case REFUSE -> throw refused(what + "; run it with --share time, or see tessera help run, --unfenced");
        }
        LOG.info("{}; it runs by the policy {}", what, policy.label());
    }

    private ProgramRefusedException refused(String why) {
        LOG.warn("{}", why);
        segment.notice(why);
        return new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, why);
    }

    /**
     * An image that the driver has.
     *
     * @param source what it may read while it is loaded; empty: nothing
     * @param fenced null: it runs as it is
     * @param used   kernels without a fence that the program has asked for
     */
    private record Loaded(Optional<ProgramSource> source, FencedImage fenced, Set<String> used) {
        boolean runsUnfenced() {
            return fenced == null || !used.isEmpty();
        }
    }

    /** One that passed was given to the driver. Programs say of what it refuses that a kernel is missing, or nothing, so the user is told. */
    public void asked(int result, long handle, ProgramSource source, FencedImage fenced) {
        if (result == CudaResult.SUCCESS) {
            loaded(handle, source, fenced);
            return;
        }
        String why = "image " + source.label() + " cannot be fenced, and the driver does not load it as it is either (error " + result + ")" + REMEDY;
        LOG.warn("{}", why);
        segment.notice(why);
    }

    /** One that passed is loaded; with fences, if there are any. */
    public void loaded(long handle, ProgramSource source, FencedImage fenced) {
        loaded.put(handle, new Loaded(source.isKept() && fenced == null ? Optional.of(source) : Optional.empty(), fenced, new HashSet<>()));
        counted();
    }

    /** Whether kernels of an image, by the driver's handle of a module or library, may report and end. */
    public boolean reports(long handle) {
        Loaded known = loaded.getOrDefault(handle, modules.get(handle));
        return known != null && known.fenced() != null && known.fenced().reports();
    }

    /** A library was asked for its module. */
    public void moduleOf(long library, long module) {
        Loaded known = loaded.get(library);
        if (known != null) {
            modules.put(module, known);
        }
    }

    /**
     * What the launch of a kernel has to look at, by the driver's handle of a module or library. The image counts as unfenced from now on if the kernel has no fence.
     *
     * @return where in its parameters tensor maps lie; null: it has no fence
     */
    public TensorMapPlaces tensorMaps(long handle, String kernel) {
        Loaded known = loaded.getOrDefault(handle, modules.get(handle));
        if (known == null || known.fenced() == null) {
            return null;
        }
        String why = known.fenced().refused().get(kernel);
        if (why != null) {
            runsUnfenced(handle, kernel, why);
            return null;
        }
        return known.fenced().tensorMaps().getOrDefault(kernel, TensorMapPlaces.NONE);
    }

    /** A kernel of an image runs without what a fence needs. The image counts as unfenced from now on. */
    public void runsUnfenced(long handle, String kernel, String why) {
        Loaded known = loaded.getOrDefault(handle, modules.get(handle));
        if (known != null && known.used().add(kernel)) {
            LOG.info("kernel {} runs without a fence: {}", kernel, why);
            counted();
        }
    }

    /** A handle names nothing any more. */
    public void unloaded(long handle) {
        Loaded gone = loaded.remove(handle);
        if (gone != null) {
            modules.values().removeIf(known -> known == gone);
            counted();
        }
    }

    private void counted() {
        count = (int) loaded.values().stream().filter(Loaded::runsUnfenced).count();
        // Code with fences counts here too: what it may do beside global memory is not held in.
        member.unfencedImages(policy == UnfencedPolicy.OWN ? loaded.size() : 0);
    }

    /** How many images run as they are, or have kernels in use that do. Any thread. */
    public int count() {
        return count;
    }
}
