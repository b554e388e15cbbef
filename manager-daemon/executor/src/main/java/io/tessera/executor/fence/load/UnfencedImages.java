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

/**
 * Images of one client without PTX that can be fenced. Decides whether they and their kernels may run, with fences in their machine code or without. Under the
 * policy {@code own}, every kernel may run beside programs of its own user; beside other users' programs, only kernels that stay in their window may run
 * ({@link MachineGrade}). One owner thread.
 */
public final class UnfencedImages {
    /** The advice for users. It makes an image that any device can load and that can be fenced. */
    private static final String REMEDY = "; compile it with PTX inside (nvcc -gencode arch=compute_75,code=compute_75, or -arch of an older GPU)";
    private static final String OTHERS = "; other users' programs share the device, so it is refused";
    private static final Logger LOG = LoggerFactory.getLogger(UnfencedImages.class);

    private final UnfencedPolicy policy;
    private final TenantPresence.Member member;
    private final TrustedImages trusted;
    private final RelaySegment segment;
    /** Images by the driver's handle; includes modules of libraries. */
    private final Map<Long, MachineImage> loaded = new HashMap<>();
    private final Map<Long, MachineImage> modules = new HashMap<>();
    /** The image of kernels whose origin is not known. */
    private final MachineImage nowhere = new MachineImage(Optional.empty(), null, false);
    private volatile MachineCodeFigures figures = MachineCodeFigures.NONE;

    /** Creates an instance for one client. */
    public UnfencedImages(UnfencedPolicy policy, TenantPresence.Member member, TrustedImages trusted, RelaySegment segment) {
        this.policy = policy;
        this.member = member;
        this.trusted = trusted;
        this.segment = segment;
    }

    /**
     * Accepts or refuses an image. An accepted image gets fences, or is presented again to {@link #decideAsItIs}.
     *
     * @param lacking  why it cannot be fenced
     * @param launched whether kernels have run, so that the program cannot be started again
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public void decide(ProgramSource source, String lacking, boolean launched) throws ProgramRefusedException {
        if (policy == UnfencedPolicy.OWN) {
            // No label: frameworks load gigabytes in this way, and hashing them would take seconds at their start.
            LOG.info("an image of {} bytes is not fenced from PTX: {}; the policy own lets it run", source.main().bytes().byteSize(), lacking);
            return;
        }
        String what = "image " + source.label() + " cannot be fenced: " + lacking;
        switch (policy) {
            case OWN -> { // above
            }
            case TRUSTED -> {
                if (!trusted.mayRunAsItIs(source.main())) {
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

    /**
     * Decides whether an image may be loaded without any fence; none of its kernels runs beside other users' programs.
     *
     * @param lacking why it cannot be fenced
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public void decideAsItIs(ProgramSource source, String lacking) throws ProgramRefusedException {
        if (policy == UnfencedPolicy.OWN && !member.isAmongItsOwn()) {
            throw refused("image " + source.label() + " cannot be fenced: " + lacking + OTHERS + REMEDY + ", or run it with --share time");
        }
    }

    /** Both decisions in sequence, for an image that gets no fences in its machine code either. Errors as above. */
    public void decideAsItIs(ProgramSource source, String lacking, boolean launched) throws ProgramRefusedException {
        decide(source, lacking, launched);
        decideAsItIs(source, lacking);
    }

    private ProgramRefusedException refused(String why) {
        LOG.warn("{}", why);
        segment.notice(why);
        return new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, why);
    }

    /**
     * Records the driver's result for an accepted image. If the driver refuses it, the user gets a line, because programs then only report a missing kernel, or
     * nothing.
     */
    public void asked(int result, long handle, ProgramSource source, PlacedImage fenced) {
        if (result == CudaResult.SUCCESS) {
            loaded(handle, source, fenced);
            return;
        }
        String why = "image " + source.label() + " cannot be fenced, and the driver does not load it as it is either (error " + result + ")" + REMEDY;
        LOG.warn("{}", why);
        segment.notice(why);
    }

    /** Records that an accepted image is loaded; with fences, if there are any. */
    public void loaded(long handle, ProgramSource source, PlacedImage fenced) {
        // By the hash of the cubin that was fenced, which does not depend on how the program had packed it.
        boolean vendors = fenced != null && !fenced.image().trusted().isEmpty() && trusted.isVendors(fenced.image().hash());
        loaded.put(handle, new MachineImage(source.isKept() && fenced == null ? Optional.of(source) : Optional.empty(), fenced, vendors));
        counted();
    }

    /** Returns whether kernels of an image, by the driver's handle of a module or library, may report and end. */
    public boolean reports(long handle) {
        MachineImage known = find(handle);
        return known != null && known.reports();
    }

    private MachineImage find(long handle) {
        return loaded.getOrDefault(handle, modules.get(handle));
    }

    /** Records that a library was asked for its module. */
    public void moduleOf(long library, long module) {
        MachineImage known = loaded.get(library);
        if (known != null) {
            modules.put(module, known);
        }
    }

    /** Returns the number that threads of an image write in reports, by the driver's handle of a module or library; 0: it has none of its own. */
    public int number(long handle) {
        MachineImage known = find(handle);
        return known == null || known.placed() == null ? 0 : known.placed().number();
    }

    /** Returns a kernel, by the driver's handle of its module or library. Null: no image has that handle. */
    public MachineKernel kernel(long handle, String name) {
        MachineImage known = find(handle);
        return known == null ? null : MachineKernel.of(known, name);
    }

    /** Returns a kernel of unknown origin. */
    public MachineKernel kernelFromNowhere(String name) {
        return MachineKernel.of(nowhere, name);
    }

    /**
     * Checks a kernel that a program asks for.
     *
     * @throws ProgramRefusedException if it could not run now; the user is told, once
     */
    public void ask(MachineKernel kernel) throws ProgramRefusedException {
        if (isOnlyForOwn(kernel.grade) && !member.isAmongItsOwn()) {
            throw refused(kernel, kernel.why);
        }
    }

    /**
     * Admits a kernel that is about to run or to become a node of a graph, which may run at any time. A kernel that may leave its window keeps other users'
     * programs out from now on.
     *
     * @throws ProgramRefusedException if it must not run, since other users' programs are there; the user is told, once
     */
    public void admit(MachineKernel kernel) throws ProgramRefusedException {
        if (!kernel.admitted) {
            admit(kernel, kernel.grade, kernel.why);
            kernel.admitted = kernel.grade.isForAll();
        }
    }

    /** As above, for a kernel whose tensor maps lead out of its window. Errors as above. */
    public void admitElsewhere(MachineKernel kernel) throws ProgramRefusedException {
        admit(kernel, MachineGrade.UNFENCED, "it is given a tensor map that leads out of its program's memory, or is not understood");
    }

    private boolean isOnlyForOwn(MachineGrade grade) {
        return policy == UnfencedPolicy.OWN && !grade.isForAll();
    }

    private void admit(MachineKernel kernel, MachineGrade grade, String why) throws ProgramRefusedException {
        if (isOnlyForOwn(grade) && !member.keepOthersOut()) {
            throw refused(kernel, why);
        }
        if (kernel.image.runs(grade)) {
            if (!grade.isForAll()) {
                LOG.info("kernel {} may leave its memory: {}", kernel.name, why);
            }
            counted();
        }
    }

    private ProgramRefusedException refused(MachineKernel kernel, String why) {
        String line = "kernel " + kernel.name + " may leave its program's memory: " + why + OTHERS
                + "; run the program with --share time, or when it has the device to itself";
        if (kernel.told) {
            return new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, line);
        }
        kernel.told = true;
        LOG.warn("{}", line);
        return ProgramRefusedException.toTell(CudaResult.NO_BINARY_FOR_GPU, line);
    }

    /**
     * Returns address and size of a variable in the window, by the driver's handle of a module or library; null: the driver knows whether there is such a
     * variable.
     */
    public long[] variable(long handle, String name) {
        MachineImage known = find(handle);
        return known == null || known.placed() == null ? null : known.placed().variable(name);
    }

    /**
     * Removes a handle that is no longer valid, after all work with it has ended.
     *
     * @return the image that it named, if that has fences
     */
    public Optional<PlacedImage> unloaded(long handle) {
        MachineImage gone = loaded.remove(handle);
        if (gone != null) {
            modules.values().removeIf(known -> known == gone);
            counted();
        }
        if (gone != null && gone.keepsOthersOut() && !nowhere.keepsOthersOut() && loaded.values().stream().noneMatch(MachineImage::keepsOthersOut)) {
            member.letOthersIn();
        }
        return Optional.ofNullable(gone).map(MachineImage::placed);
    }

    private void counted() {
        int[] counts = new int[MachineGrade.values().length];
        loaded.values().forEach(image -> counts[image.grade().ordinal()]++);
        figures = new MachineCodeFigures(counts[MachineGrade.SHOWN.ordinal()], counts[MachineGrade.VENDORS.ordinal()],
                counts[MachineGrade.UNKNOWN.ordinal()], counts[MachineGrade.UNFENCED.ordinal()]);
    }

    /** Returns how many images of each grade there are. Any thread. */
    public MachineCodeFigures figures() {
        return figures;
    }
}
