package io.tessera.cli.fence;

import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.cache.FencedTablesWriter;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fences images, and compiles and stores the results as requested. Thread-safe. */
final class ImageFencer {
    /** Fencing of a module, which stands alone or is linked with others; {@link Fencer#fence} except in tests. */
    @FunctionalInterface
    interface Fencing {
        FencedModule fence(PtxModule module, boolean linked) throws FenceRefusedException;
    }

    /** Part of the cache key if the tenant is alone on the device; only {@link FenceMode#NONE} is for that. */
    private static final String ALONE = "alone";
    private static final int HEAD_BYTES = 4096;
    private static final Pattern SUFFIXED = Pattern.compile("\\.target[ \\t]+sm_(\\d+[af])");
    private static final String NOT_CACHED = "cache unusable";

    /** The PTX of an image, and its target and options. */
    private record Source(byte[] image, byte[] ptx, String made, String target, List<String> options) {
    }

    private final FenceArguments request;
    private final Fencing fencing;
    private final CodeCache cache;

    ImageFencer(FenceArguments request, Fencing fencing, CodeCache cache) {
        this.request = request;
        this.fencing = fencing;
        this.cache = cache;
    }

    /**
     * Processes an image as requested.
     *
     * @param file   name of the file in reports
     * @param number its number in the file, from 0, for names of written files
     */
    FenceOutcome fence(String file, int number, FoundImage image) throws IOException, InterruptedException {
        Source source;
        try {
            if (!concerns(image)) {
                return refused(file, image, FenceOutcome.FOR_OTHER_GPUS, 0, "", List.of(), 0);
            }
            source = source(image);
        } catch (ImageException e) {
            return refused(file, image, image.kind().name().toLowerCase(Locale.ROOT), 0, e.getMessage(), List.of(), 0);
        }
        long start = request.threadCpuNs().getAsLong();
        FencedModule fenced;
        try {
            fenced = fencing.fence(PtxParser.parse(source.ptx()), image.isRelocatable());
        } catch (PtxException e) {
            return refused(file, image, source.made(), source.ptx().length, "PTX is not understood: " + e.getMessage(),
                    List.of(), request.threadCpuNs().getAsLong() - start);
        } catch (FenceRefusedException e) {
            return refused(file, image, source.made(), source.ptx().length, e.getMessage(), List.of(),
                    request.threadCpuNs().getAsLong() - start);
        } catch (RuntimeException | StackOverflowError e) {
            // A defect of the fencer in one module does not affect the results of the others.
            return refused(file, image, source.made(), source.ptx().length, "the fencer fails: " + e, List.of(),
                    request.threadCpuNs().getAsLong() - start);
        }
        String text = fenced.ptx();
        long took = request.threadCpuNs().getAsLong() - start;
        List<String> written = new ArrayList<>();
        write(file, number, ".ptx", text.getBytes(StandardCharsets.UTF_8), written);
        try {
            Map<String, KernelResources> before = Map.of();
            Map<String, KernelResources> after = Map.of();
            if (request.assembler() != null && !image.isRelocatable()) { // parts are compiled when a program links them
                Assembler.Assembled code = request.assembler().assemble(text, source.target(), source.options());
                after = code.kernels();
                write(file, number, ".cubin", code.machineCode(), written);
                keep(source, fenced, code.machineCode(), written);
                if (request.compare()) {
                    before = request.assembler().assemble(
                            new String(source.ptx(), StandardCharsets.ISO_8859_1), source.target(), source.options())
                            .kernels();
                }
            }
            return new FenceOutcome(file, image.where(), image.offset(), source.made(), source.ptx().length, "",
                    dropped(fenced), fenced.reports(), before, after, written, took);
        } catch (Assembler.RefusedException e) {
            return refused(file, image, source.made(), source.ptx().length, e.getMessage(), fenced.reports(), took)
                    .withWritten(written);
        }
    }

    /** Returns whether an image has code that the GPU can run; libraries contain much for older GPUs only. */
    private boolean concerns(FoundImage image) throws ImageException {
        return image.kind() != ImageKind.FAT_BINARY || image.image().fatBinary().hasCodeFor(request.gpu());
    }

    private Source source(FoundImage image) throws ImageException {
        byte[] bytes = image.bytes();
        ModuleImage module = ModuleImage.of(bytes);
        byte[] ptx = module.ptx(request.gpu(), ModuleImage.DEFAULT_CAP_BYTES);
        if (image.kind() != ImageKind.FAT_BINARY) {
            return new Source(bytes, ptx, "PTX", target(ptx), List.of());
        }
        FatBinaryEntry best = module.fatBinary().ptxFor(request.gpu()).getFirst();
        Optional<String> ahead = module.fatBinary().codeAheadOfPtx(request.gpu());
        if (ahead.isPresent()) {
            throw new ImageException(ahead.get());
        }
        return new Source(bytes, ptx, best.madeFor(),
                request.architecture().replaceAll("\\D", "") + best.specificity().suffix(), AssemblerOptions.of(best.options()));
    }

    /** Returns the target of a PTX file, which names it; a target with a suffix can only be assembled for itself. */
    private String target(byte[] ptx) {
        String head = new String(ptx, 0, Math.min(ptx.length, HEAD_BYTES), StandardCharsets.ISO_8859_1);
        Matcher suffixed = SUFFIXED.matcher(head);
        return suffixed.find() ? suffixed.group(1) : request.architecture();
    }

    private static Map<String, String> dropped(FencedModule fenced) {
        Map<String, String> dropped = new LinkedHashMap<>();
        fenced.refused().forEach((kernel, refusal) -> dropped.put(kernel, refusal.getMessage()));
        return dropped;
    }

    private FenceOutcome refused(String file, FoundImage image, String made, long ptxBytes, String why,
            List<KernelReport> reports, long took) {
        return new FenceOutcome(file, image.where(), image.offset(), made, ptxBytes, why, Map.of(), reports, Map.of(), Map.of(),
                List.of(), took);
    }

    private void write(String file, int number, String ending, byte[] bytes, List<String> written) throws IOException {
        if (request.output() != null) {
            String name = Path.of(file).getFileName() + "-" + number + "." + request.modeName() + ending;
            Files.write(request.output().resolve(name), bytes);
            written.add(name);
        }
    }

    /** Stores the code under the key by which an executor looks for code compiled ahead of time. */
    private void keep(Source source, FencedModule fenced, byte[] machineCode, List<String> written) {
        if (!request.caching()) {
            return;
        }
        String options = fenced.mode() == FenceMode.NONE ? ALONE : "";
        CodeIdentity identity = new CodeIdentity(request.modeName(), Fencer.version(), request.architecture(),
                CodeIdentity.AHEAD_OF_TIME, options);
        boolean kept = cache.store(CacheKey.of(source.image(), identity),
                new CachedCode(machineCode, FencedTablesWriter.write(FencedTables.of(fenced))));
        written.add(kept ? "cache" : NOT_CACHED);
    }
}
