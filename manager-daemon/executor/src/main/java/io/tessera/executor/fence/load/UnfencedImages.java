package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.RelaySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Images of one client that cannot be fenced: whether they may run as they are, and which do. One owner thread. */
public final class UnfencedImages {
    /** What makes an image one that any device can load and fences can be put into. */
    private static final String REMEDY = "; compile it with PTX inside (nvcc -gencode arch=compute_75,code=compute_75, or -arch of an older GPU)";
    private static final Logger LOG = LoggerFactory.getLogger(UnfencedImages.class);

    private final UnfencedPolicy policy;
    private final TenantPresence.Member member;
    private final TrustedImages trusted;
    private final RelaySegment segment;
    /** By the driver's handle, with what it may read while that is loaded. */
    private final Map<Long, Optional<ProgramSource>> loaded = new HashMap<>();
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
            LOG.info("an image of {} bytes cannot be fenced: {}; it runs as it is (own)", source.main().bytes().byteSize(), lacking);
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
        LOG.info("{}; it runs as it is ({})", what, policy.label());
    }

    private ProgramRefusedException refused(String why) {
        LOG.warn("{}", why);
        segment.notice(why);
        return new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, why);
    }

    /** One that passed was given to the driver. Programs say of what it refuses that a kernel is missing, or nothing, so the user is told. */
    public void asked(int result, long handle, ProgramSource source) {
        if (result == CudaResult.SUCCESS) {
            loaded(handle, source);
            return;
        }
        String why = "image " + source.label() + " cannot be fenced, and the driver does not load it as it is either (error " + result + ")" + REMEDY;
        LOG.warn("{}", why);
        segment.notice(why);
    }

    /** One that passed is loaded. */
    public void loaded(long handle, ProgramSource source) {
        loaded.put(handle, source.isKept() ? Optional.of(source) : Optional.empty());
        counted();
    }

    /** A handle names nothing any more. */
    public void unloaded(long handle) {
        if (loaded.remove(handle) != null) {
            counted();
        }
    }

    private void counted() {
        count = loaded.size();
        member.unfencedImages(policy == UnfencedPolicy.OWN ? count : 0);
    }

    /** How many are loaded. Any thread. */
    public int count() {
        return count;
    }
}
