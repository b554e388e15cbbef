package io.tessera.executor.fence.program;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageExtent;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.trust.FencedArchitectures;
import io.tessera.guardian.trust.FencedLoops;
import io.tessera.guardian.trust.VendorCode;
import io.tessera.guardian.window.WindowLayout;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds fences for one client's window to images that have only machine code. One owner thread unless a method says otherwise.
 */
public final class MachineImages {
    /** Disabled only for measurements: MACHINE.md has the effect of a misaligned access on all programs. */
    private static final boolean ALIGNS = !"false".equals(System.getProperty("tessera.executor.alignAddresses"));
    private static final Logger LOG = LoggerFactory.getLogger(MachineImages.class);
    private static final double NS_PER_MS = 1e6;

    private final Target target;
    private final WindowAccess window;
    private final NanoClock clock;
    private final FencedArchitectures architectures;
    private final FencedLoops loops;
    private final KeptMachineCode kept;
    private final Predicate<String> vendors;

    /**
     * Creates an instance for one client of a device.
     *
     * @param cache         keeps fenced code for later starts
     * @param architectures GPU architectures for which code gets fences
     * @param loops         whether loops read the stop word
     */
    public MachineImages(Target target, WindowAccess window, CodeCache cache, NanoClock clock, FencedArchitectures architectures,
            FencedLoops loops) {
        this(target, window, cache, clock, architectures, loops, VendorCode::contains);
    }

    /** As above, with other vendors: hashes of cubins whose addresses are not aligned. */
    MachineImages(Target target, WindowAccess window, CodeCache cache, NanoClock clock, FencedArchitectures architectures, FencedLoops loops,
            Predicate<String> vendors) {
        this.vendors = vendors;
        this.architectures = architectures;
        this.loops = loops;
        this.target = target;
        this.kept = new KeptMachineCode(cache, target.architecture());
        this.window = window;
        this.clock = clock;
    }

    /** Returns the hash of an image's machine code for the device; null: it has no such code, or code for this device gets no fences. */
    public String hash(ProgramSource source) {
        try {
            architectures.require(target.capability().sm());
            Optional<byte[]> packed = packed(source.main());
            return packed.isEmpty() ? null : ModuleImage.of(cubin(packed.get())).hash();
        } catch (MachineCodeException | ImageException e) {
            return null;
        }
    }

    /**
     * Fences the part of an image that a driver would load.
     *
     * @param reportAddress address of the word that threads write instead of ending the context
     * @param stopAddress   address of the stop word, for loops that read it
     * @param number        number of the image, below {@link MachineFence#MOST_REPORT_VALUES}, which threads write in reports
     * @return null: it stays unfenced; the reason is in the log
     */
    public FencedImage fence(ProgramSource source, long reportAddress, long stopAddress, int number) {
        try {
            return fenced(packed(source), MachineFence.of(window.baseAddress(), window.sizeBytes()), reportAddress, stopAddress, number);
        } catch (MachineCodeException | ImageException e) {
            LOG.info("an image of {} bytes is not fenced: {}", source.main().bytes().byteSize(), e.getMessage());
            return null;
        }
    }

    /**
     * Makes the same code for the first 4 GiB of the window, where fences cost less.
     *
     * @param bytes memory that is held until {@code maker} is called
     * @param maker to be called once, by any thread; returns null if there is no such code
     */
    public record Narrow(long bytes, Supplier<FencedImage> maker) {
    }

    /** Prepares to fence for the first 4 GiB of the window. Parameters as {@link #fence}, which has taken the image; null: that is the whole window. */
    public Narrow narrow(ProgramSource source, long reportAddress, long stopAddress, int number) {
        MachineFence fence = MachineFence.of(window.baseAddress(), WindowLayout.MIN_SIZE_BYTES);
        if (window.sizeBytes() == WindowLayout.MIN_SIZE_BYTES) {
            return null;
        }
        try {
            byte[] packed = packed(source);
            return new Narrow(packed.length, () -> {
                try {
                    return fenced(packed, fence, reportAddress, stopAddress, number);
                } catch (MachineCodeException | ImageException e) {
                    LOG.info("an image of {} bytes has no fences for 4 GiB: {}", packed.length, e.getMessage());
                    return null;
                }
            });
        } catch (MachineCodeException | ImageException e) {
            return null;
        }
    }

    /**
     * Checks an image that a driver will load unfenced: a damaged one may end the process.
     *
     * @throws ProgramRefusedException if it is damaged, or of an unknown kind
     */
    public void requireReadable(ProgramSource source) throws ProgramRefusedException {
        ModuleImage image = source.main();
        try {
            Optional<byte[]> packed = packed(image);
            if (packed.isPresent()) {
                CubinVerifier.requireReadable(cubin(packed.get()));
            } else if (image.kind() == ImageKind.LTO_IR || image.kind() == ImageKind.UNKNOWN) {
                throw new ImageException("it is of no kind that can be loaded");
            }
        } catch (MachineCodeException | ImageException e) {
            throw ProgramRefusedException.toTell(CudaResult.INVALID_IMAGE,
                    "image " + source.label() + " is damaged, so no driver is to load it: " + e.getMessage());
        }
    }

    private FencedImage fenced(byte[] packed, MachineFence plain, long reportAddress, long stopAddress, int number)
            throws MachineCodeException, ImageException {
        long began = clock.nanoTime();
        Architecture architecture = architectures.require(target.capability().sm());
        MachineFence fence = plain.reporting(reportAddress, number)
                .looking(loops == FencedLoops.LOOK && architecture.hasLooks() ? stopAddress : 0);
        boolean rounds = ALIGNS && architecture.hasRounding();
        CacheKey key = kept.key(packed, rounds ? fence.aligning() : fence);
        FencedImage image = kept.find(key, fence);
        boolean made = image == null;
        if (made) {
            image = made(key, cubin(packed), fence, rounds);
        }
        LOG.info(
                "machine code {}, fenced {} bytes {} by {}: {} of {} kernels, {} on trust, {}, {}, {} accesses, {} variables moved, {} ms",
                image.hash(), image.code().length, made ? "now" : "before", fence.kind(), image.kernels() - image.refused().size(), image.kernels(),
                image.trusted().size(), fence.looks() ? image.endless().size() + " may be endless" : "no loop looks",
                rounds && !vendors.test(image.hash()) ? image.misaligned().size() + " may misalign" : "no address is aligned", image.accesses(),
                image.moved().variables().size(),
                (clock.nanoTime() - began) / NS_PER_MS);
        image.endless().forEach((kernel, why) -> LOG.debug("kernel {} may be endless: {}", kernel, why));
        image.misaligned().forEach((kernel, why) -> LOG.debug("kernel {} may misalign: {}", kernel, why));
        image.waiting().forEach((kernel, why) -> LOG.debug("kernel {} may wait for other blocks: {}", kernel, why));
        image.refused().forEach((kernel, why) -> LOG.debug("kernel {} has no fence: {}", kernel, why));
        return image;
    }

    /** Fences an image. In vendors' code, addresses are not rounded to their alignment: that code aligns them itself, and rounding would cost speed. */
    private FencedImage made(CacheKey key, byte[] cubin, MachineFence fence, boolean rounds) throws MachineCodeException, ImageException {
        String hash = ModuleImage.of(cubin).hash();
        MachineFence wanted = rounds && !vendors.test(hash) ? fence.aligning() : fence;
        FencedCubin fenced = CubinFencer.fence(cubin, wanted);
        FencedImage image = checked(fenced, CubinVerifier.inspect(fenced.bytes(), wanted, fenced.moved().places()), hash, wanted.looks());
        kept.keep(key, image, fenced.window(), fence);
        return image;
    }

    private byte[] packed(ProgramSource source) throws MachineCodeException, ImageException {
        architectures.require(target.capability().sm());
        return packed(source.main()).orElseThrow(() -> new ImageException("it has no machine code for this device that can be told"));
    }

    /** Returns the part that a driver would load, packed as in the image, in memory that its client cannot write. */
    private Optional<byte[]> packed(ModuleImage image) throws ImageException {
        return switch (image.kind()) {
            case CUBIN -> Optional.of(image.bytes().asSlice(0, ImageExtent.of(image.bytes())).toArray(ValueLayout.JAVA_BYTE));
            case FAT_BINARY -> {
                Optional<FatBinaryEntry> entry = image.fatBinary().machineCodeFor(target.capability());
                yield entry.map(FatBinaryEntry::alone);
            }
            case PTX, LTO_IR, UNKNOWN -> Optional.empty();
        };
    }

    private byte[] cubin(byte[] packed) throws ImageException {
        ModuleImage image = ModuleImage.of(packed);
        return image.kind() == ImageKind.CUBIN ? packed
                : image.fatBinary().machineCodeFor(target.capability()).orElseThrow(() -> new ImageException("the image has no machine code"))
                        .unpack(ModuleImage.DEFAULT_CAP_BYTES);
    }

    /** Returns the checked image. A kernel has no fence if a function that it may call has none, and inherits the unverified properties of such functions. */
    private static FencedImage checked(FencedCubin fenced, VerifiedCubin seen, String hash, boolean looking) {
        Map<String, String> unfenced = seen.unfenced(fenced.functions());
        Map<String, String> trusted = seen.takenOnTrust();
        Set<String> kernels = fenced.functions().stream().filter(FunctionReport::kernel).map(FunctionReport::name).collect(Collectors.toSet());
        unfenced.keySet().retainAll(kernels);
        trusted.keySet().retainAll(kernels);
        trusted.keySet().removeAll(unfenced.keySet());
        Map<String, String> endless = looking ? seen.mayBeEndless() : new HashMap<>();
        endless.keySet().retainAll(kernels);
        Map<String, String> misaligned = seen.mayMisalign();
        misaligned.keySet().retainAll(kernels);
        Map<String, String> waiting = seen.mayWaitForBlocks();
        waiting.keySet().retainAll(kernels);
        Map<String, Integer> addedRegisters = fenced.functions().stream().filter(report -> report.kernel() && report.addedRegisters() > 0)
                .collect(Collectors.toMap(FunctionReport::name, FunctionReport::addedRegisters));
        return new FencedImage(fenced.bytes(), hash, unfenced, trusted, endless, misaligned, waiting, seen.tensorMaps(), addedRegisters,
                kernels.size(),
                fenced.functions().stream().anyMatch(FunctionReport::reports), looking && (seen.looks() || endless.size() < kernels.size()),
                fenced.functions().stream().mapToLong(FunctionReport::accesses).sum(),
                fenced.moved(), fenced.assertions());
    }
}
