package io.tessera.executor.fence;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.fence.proof.SyntacticOracle;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.PtxException;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxParser;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes fenced programs of images, for all clients of an executor: each is made once, whoever asks first; the others wait
 * for it. What was made is kept in memory as long as there is room, and on disk: as text, of which the driver keeps the machine code
 * in its own cache, or as machine code where several modules were linked. Thread-safe.
 */
public final class ProgramMaker {
    /** Part of the key of programs for a tenant that is alone. */
    private static final String ALONE = "alone";
    /** The longest wait for another client's compilation; beyond it something is wrong with it. */
    private static final long PATIENCE_S = 600;
    private static final int MOST_LINKED = 1024;
    private static final Logger LOG = LoggerFactory.getLogger(ProgramMaker.class);

    private final Target target;
    private final CodeCache cache;
    private final Map<CacheKey, SoftReference<FencedProgram>> known = new ConcurrentHashMap<>();
    private final Map<CacheKey, CompletableFuture<FencedProgram>> running = new ConcurrentHashMap<>();
    /** Tables of what was linked for programs to load later, by the hash of the machine code. */
    private final Map<CacheKey, FencedProgram> linked = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<CacheKey, FencedProgram> eldest) {
            return size() > MOST_LINKED;
        }
    });

    ProgramMaker(Target target, CodeCache cache) {
        this.target = target;
        this.cache = cache;
    }

    Target target() {
        return target;
    }

    /** What the disk has done so far. */
    public CodeCache cache() {
        return cache;
    }

    /**
     * The fenced program of a source.
     *
     * @param mode    how; {@link FenceMode#NONE} for a tenant that is alone
     * @param anew    whether what was kept must not be taken, because the driver refused it
     * @param driver  of the calling thread
     * @throws ProgramRefusedException if it cannot be fenced or compiled
     */
    FencedProgram make(ProgramSource source, FenceMode mode, CodeOptions options, boolean anew, DriverCalls driver)
            throws ProgramRefusedException {
        CodeIdentity identity = identity(source, mode, options);
        CacheKey key = key(source, identity);
        SoftReference<FencedProgram> reference = known.get(key);
        FencedProgram program = reference == null ? null : reference.get();
        if (program != null && !(anew && program.cached())) {
            return program;
        }
        CompletableFuture<FencedProgram> own = new CompletableFuture<>();
        CompletableFuture<FencedProgram> others = running.putIfAbsent(key, own);
        if (others != null) {
            return await(others);
        }
        try {
            program = anew ? null : find(source, key, identity);
            if (program == null) {
                program = build(source, mode, options, driver);
                keep(key, program);
            }
            known.put(key, new SoftReference<>(program));
            own.complete(program);
            return program;
        } catch (ProgramRefusedException | RuntimeException | Error e) {
            own.completeExceptionally(e);
            throw e;
        } finally {
            running.remove(key);
        }
    }

    private static FencedProgram await(CompletableFuture<FencedProgram> others) throws ProgramRefusedException {
        try {
            return others.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ProgramRefusedException refused) {
                throw refused;
            }
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "another client's compilation failed");
        } catch (TimeoutException e) {
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "another client's compilation does not end");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "the executor ends");
        }
    }

    private CodeIdentity identity(ProgramSource source, FenceMode mode, CodeOptions options) {
        String alone = mode == FenceMode.NONE ? ALONE + " " : "";
        return new CodeIdentity(mode.name().toLowerCase(Locale.ROOT), Fencer.VERSION, target.architecture(),
                source.images().size() == 1 ? CodeIdentity.TEXT : target.compiler(), (alone + options.key()).strip());
    }

    private static CacheKey key(ProgramSource source, CodeIdentity identity) {
        if (source.images().size() == 1) {
            return CacheKey.of(source.images().getFirst(), identity);
        }
        StringBuilder parts = new StringBuilder("linked");
        for (ModuleImage image : source.images()) {
            parts.append(' ').append(CacheKey.of(image, identity).hex());
        }
        return CacheKey.of(parts.toString().getBytes(StandardCharsets.US_ASCII), identity);
    }

    private FencedProgram find(ProgramSource source, CacheKey key, CodeIdentity identity) {
        if (!target.compiles()) {
            return null;
        }
        FencedProgram program = cache.find(key).map(ProgramMaker::read).orElse(null);
        if (program == null && source.images().size() == 1) {
            CacheKey ahead = key(source, identity.aheadOfTime());
            program = cache.find(ahead).map(ProgramMaker::read).orElse(null);
        }
        return program;
    }

    private static FencedProgram read(CachedCode code) {
        try {
            return new FencedProgram(KeptText.code(code.code()), LinkedTables.read(code.tables()), "", true);
        } catch (IOException e) {
            LOG.debug("cached code is made anew: {}", e.getMessage());
            return null;
        }
    }

    private void keep(CacheKey key, FencedProgram program) {
        if (target.compiles()) {
            cache.store(key, new CachedCode(KeptText.kept(program.code()), LinkedTables.bytes(program.tables())));
        }
    }

    private FencedProgram build(ProgramSource source, FenceMode mode, CodeOptions options, DriverCalls driver)
            throws ProgramRefusedException {
        List<byte[]> texts = new ArrayList<>();
        List<FencedTables> tables = new ArrayList<>();
        for (ModuleImage image : source.images()) {
            FencedModule fenced = fence(ptx(image), mode, source.images().size() > 1);
            if (!fenced.refused().isEmpty() && fenced.module().functions().stream().noneMatch(
                    function -> function.kind() == PtxFunction.Kind.ENTRY)) {
                FenceRefusedException why = fenced.refused().values().iterator().next();
                throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, why.getMessage());
            }
            texts.add(fenced.ptx().getBytes(StandardCharsets.UTF_8));
            tables.add(FencedTables.of(fenced));
        }
        if (texts.size() == 1) {
            byte[] text = Arrays.copyOf(texts.getFirst(), texts.getFirst().length + 1);
            return new FencedProgram(text, tables, compile(text, options, driver), false);
        }
        DriverLinker.Made made = DriverLinker.link(driver, texts, options);
        if (made.result() != CudaResult.SUCCESS) {
            LOG.warn("the driver does not compile a fenced program ({}): {}", made.result(), made.error().strip());
            throw new ProgramRefusedException(made.result(), made.error().isBlank()
                    ? "the driver does not compile it (" + made.result() + ")" : made.error());
        }
        return new FencedProgram(made.code(), tables, made.info(), false);
    }

    private String compile(byte[] text, CodeOptions options, DriverCalls driver) throws ProgramRefusedException {
        try {
            return target.compiles() ? ProgramLoader.compile(text, options, driver) : "";
        } catch (ProgramRefusedException e) {
            LOG.warn("the driver does not compile a fenced program ({}): {}", e.result(), e.getMessage());
            throw e;
        }
    }

    /** The PTX of an image for the device. */
    byte[] ptx(ModuleImage image) throws ProgramRefusedException {
        try {
            return image.ptx(target.capability(), ModuleImage.DEFAULT_CAP_BYTES);
        } catch (ImageException e) {
            throw new ProgramRefusedException(CudaResult.INVALID_IMAGE, e.getMessage());
        }
    }

    /**
     * One module of PTX, fenced.
     *
     * @param linked whether it is linked with others of the kind
     */
    FencedModule fence(byte[] ptx, FenceMode mode, boolean linked) throws ProgramRefusedException {
        try {
            Fencer fencer = linked ? new Fencer(mode, new SyntacticOracle(), true) : new Fencer(mode);
            return fencer.fence(PtxParser.parse(ptx));
        } catch (PtxException e) {
            throw new ProgramRefusedException(ProgramRefusedException.INVALID_PTX, "PTX " + e.getMessage());
        } catch (FenceRefusedException e) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, e.getMessage());
        } catch (RuntimeException | StackOverflowError e) {
            // A fault of ours to mend; until then nothing runs that was not understood.
            LOG.error("a module was not fenced", e);
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "cannot be fenced: " + e);
        }
    }

    /** Remembers what was linked for a program that will load it, by its bytes alone. */
    void remember(FencedProgram program) {
        CacheKey key = key(ModuleImage.of(program.code()));
        linked.put(key, program);
        keep(key, program);
    }

    /** What was linked before and has these bytes, fenced so; null if it is not known. */
    FencedProgram linked(ModuleImage code, FenceMode mode) {
        CacheKey key = key(code);
        FencedProgram program = linked.get(key);
        if (program == null && target.compiles()) {
            program = cache.find(key).map(ProgramMaker::read).orElse(null);
        }
        return program != null && program.tables().getFirst().mode() == mode ? program : null;
    }

    private CacheKey key(ModuleImage code) {
        return CacheKey.of(code, new CodeIdentity("linked", Fencer.VERSION, target.architecture(), target.compiler(),
                ""));
    }
}
