package io.tessera.executor.fence;

import io.tessera.clock.NanoClock;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.executor.worker.Answer;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.executor.worker.FenceRequest;
import io.tessera.executor.worker.TenantTurns;
import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.verify.LinkCheck;
import io.tessera.guardian.verify.LinkInterface;
import io.tessera.guardian.verify.UnverifiedException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has fenced programs made of images, for all clients of an executor: each is made once, whoever asks first; the others wait
 * for it. Workers make them; here is looked at what they made. It is kept in memory as long as there is room, and on disk: as text, of
 * which the driver keeps the machine code in its own cache, or as machine code where several modules were linked. Thread-safe.
 */
public final class ProgramMaker {
    /** Part of the key of programs for a tenant that is alone. */
    private static final String ALONE = "alone";
    /** The longest wait for another client's compilation; beyond it something is wrong with it. */
    private static final long PATIENCE_S = 600;
    private static final int MOST_LINKED = 1024;
    private static final int MOST_CHECKS = 4;
    private static final Logger LOG = LoggerFactory.getLogger(ProgramMaker.class);

    /**
     * A program that is being made.
     *
     * @param client the thread that asked first, and makes it
     */
    private record Making(Thread client, CompletableFuture<FencedProgram> program) {
    }

    private final Target target;
    private final CodeCache cache;
    private final CodeWorkers workers;
    private final TextCheck check;
    private final LocalQuota localQuota;
    private final NanoClock clock;
    /** To look at texts, on the threads of those who ask. */
    private final TenantTurns turns;
    private final Map<CacheKey, SoftReference<FencedProgram>> known = new ConcurrentHashMap<>();
    private final Map<CacheKey, Making> running = new ConcurrentHashMap<>();
    /** Tables of what was linked for programs to load later, by the hash of the machine code. */
    private final Map<CacheKey, FencedProgram> linked = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<CacheKey, FencedProgram> eldest) {
            return size() > MOST_LINKED;
        }
    });

    ProgramMaker(Target target, CodeCache cache, CodeWorkers workers, TextCheck check, LocalQuota localQuota, NanoClock clock) {
        this.target = target;
        this.cache = cache;
        this.workers = workers;
        this.check = check;
        this.localQuota = localQuota;
        this.clock = clock;
        int processors = Runtime.getRuntime().availableProcessors();
        this.turns = new TenantTurns(Math.clamp(processors / 2, 1, MOST_CHECKS), TimeUnit.SECONDS.toNanos(PATIENCE_S), clock);
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
     * @param tenant  who asks
     * @param mode    how; {@link FenceMode#NONE} for a tenant that is alone
     * @param anew    whether what was kept must not be taken, because the driver refused it
     * @throws ProgramRefusedException if it cannot be fenced or compiled
     */
    FencedProgram make(String tenant, ProgramSource source, FenceMode mode, CodeOptions options, boolean anew)
            throws ProgramRefusedException {
        CodeIdentity identity = identity(source, mode, options);
        CacheKey key = key(source, identity);
        SoftReference<FencedProgram> reference = known.get(key);
        FencedProgram program = reference == null ? null : reference.get();
        if (program != null && !(anew && program.cached())) {
            return program;
        }
        CompletableFuture<FencedProgram> own = new CompletableFuture<>();
        Making others = running.putIfAbsent(key, new Making(Thread.currentThread(), own));
        if (others != null) {
            FencedProgram made = await(others);
            return made == null ? make(tenant, source, mode, options, anew) : made;
        }
        try {
            program = anew ? null : find(tenant, source, identity, mode, options);
            if (program == null) {
                program = build(tenant, source, mode, options);
                keep(key, program);
                markCompiled(source, identity);
            }
            known.put(key, new SoftReference<>(program));
            running.remove(key);
            own.complete(program);
            return program;
        } catch (ProgramRefusedException | RuntimeException | Error e) {
            running.remove(key); // first: who waited may begin anew
            own.completeExceptionally(e);
            throw e;
        }
    }

    /** What another client has made; null: nothing, since it has ended meanwhile. */
    private FencedProgram await(Making others) throws ProgramRefusedException {
        try {
            return others.program().get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (workers.isAbandoned(others.client())) {
                return null;
            }
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
        return new CodeIdentity(mode.name().toLowerCase(Locale.ROOT), Fencer.version(), target.architecture(),
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

    private FencedProgram find(String tenant, ProgramSource source, CodeIdentity identity, FenceMode mode, CodeOptions options)
            throws ProgramRefusedException {
        if (!target.compiles()) {
            return null;
        }
        FencedProgram program = checked(cache.find(key(source, identity)), mode);
        if (program == null && source.images().size() == 1) {
            program = checked(cache.find(key(source, identity.aheadOfTime())), mode);
        }
        if (program != null && program.isText() && cache.find(compiledKey(source, identity)).isEmpty()) {
            assemble(tenant, program.code(), options);
            markCompiled(source, identity);
        }
        return program;
    }

    /** Of text that was kept: that this driver's compiler has had it, in a worker. */
    private CacheKey compiledKey(ProgramSource source, CodeIdentity identity) {
        return key(source, new CodeIdentity(identity.mode(), identity.rewriterVersion(), identity.architecture(), target.compiler(),
                identity.options() + " compiled"));
    }

    private void markCompiled(ProgramSource source, CodeIdentity identity) {
        if (target.compiles() && source.images().size() == 1) {
            cache.store(compiledKey(source, identity), new CachedCode(new byte[1], new byte[1]));
        }
    }

    /**
     * What was kept, if it may be loaded. Text was verified before it was kept, its key names the verifier's code, and the cache is its
     * owner's alone, who runs this executor: it is not verified again, which would take longer than all else of a second start.
     */
    private FencedProgram checked(Optional<CachedCode> kept, FenceMode mode) {
        FencedProgram program = kept.map(ProgramMaker::read).orElse(null);
        if (program == null) {
            return null;
        }
        for (FencedTables tables : program.tables()) {
            String why = TablesCheck.refusal(tables, mode);
            if (why != null) {
                LOG.warn("cached code is made anew: {}", why);
                return null;
            }
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

    private FencedProgram build(String tenant, ProgramSource source, FenceMode mode, CodeOptions options)
            throws ProgramRefusedException {
        List<FencedText> fenced = fence(tenant, source.images(), mode, source.images().size() > 1);
        List<FencedTables> tables = fenced.stream().map(FencedText::tables).toList();
        if (fenced.size() > 1) {
            requireLinkable(fenced.stream().map(FencedText::link).toList());
            Answer made = link(tenant, fenced.stream().map(one -> new LinkerInput(LinkerInput.PTX, one.text())).toList(), options);
            return new FencedProgram(made.parts().getFirst(), tables, made.text(), false);
        }
        byte[] text = Arrays.copyOf(fenced.getFirst().text(), fenced.getFirst().text().length + 1);
        return new FencedProgram(text, tables, assemble(tenant, text, options), false);
    }

    /** Returns what the compiler said. */
    private String assemble(String tenant, byte[] text, CodeOptions options) throws ProgramRefusedException {
        return require(workers.assemble(tenant, text, options), "a fenced program").text();
    }

    /**
     * Has an image compiled that is loaded as it is, before this process's driver compiles it.
     *
     * @throws ProgramRefusedException if it cannot be
     */
    void assembleAsItIs(String tenant, ProgramSource source, CodeOptions options) throws ProgramRefusedException {
        if (target.compiles() && source.isCompiled(target.capability())) {
            require(workers.assemble(tenant, source.main().bytes().toArray(ValueLayout.JAVA_BYTE), options), "a program as it is");
        }
    }

    /**
     * Looks at what is to be linked, all of it together: what each of its texts was seen to be holds only where the others are as it says.
     *
     * @param texts all that are linked with each other
     * @throws ProgramRefusedException if they must not be
     */
    void requireLinkable(List<LinkInterface> texts) throws ProgramRefusedException {
        try {
            for (Map.Entry<String, Long> stack : LinkCheck.check(texts).entrySet()) {
                localQuota.check(stack.getKey(), stack.getValue());
            }
        } catch (UnverifiedException e) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "what is linked is not seen to be fenced: " + e.getMessage());
        }
    }

    /**
     * Links.
     *
     * @return its one part is the machine code
     */
    Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options) throws ProgramRefusedException {
        Answer made = require(workers.link(tenant, inputs, options), "linked modules");
        if (made.parts().size() != 1 || made.parts().getFirst().length == 0) {
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "nothing came of linking");
        }
        return made;
    }

    private static Answer require(Answer made, String what) throws ProgramRefusedException {
        if (made.result() != CudaResult.SUCCESS) {
            LOG.warn("{} is not compiled ({}): {}", what, made.result(), made.text().strip());
            throw new ProgramRefusedException(made.result(), made.text().isBlank()
                    ? "the driver does not compile it (" + made.result() + ")" : made.text());
        }
        return made;
    }

    /** What the workers read of an image: of a fat binary the PTX for the device alone, packed as it is. */
    private byte[] code(ModuleImage image) throws ProgramRefusedException {
        try {
            return image.ptxImage(target.capability(), ModuleImage.DEFAULT_CAP_BYTES);
        } catch (ImageException e) {
            throw new ProgramRefusedException(CudaResult.INVALID_IMAGE, e.getMessage());
        }
    }

    /**
     * Modules of PTX, fenced.
     *
     * @param linked whether they are linked with others of the kind
     */
    List<FencedText> fence(String tenant, List<ModuleImage> images, FenceMode mode, boolean linked) throws ProgramRefusedException {
        List<byte[]> codes = new ArrayList<>();
        for (ModuleImage image : images) {
            codes.add(code(image));
        }
        FenceRequest request = new FenceRequest(mode, target.capability(), linked, false);
        List<TextCheck.Checked> looked = new ArrayList<>();
        List<FencedText> fenced = texts(workers.fence(tenant, request, codes), images.size());
        String why = look(tenant, fenced, mode, linked, looked);
        if (why != null) {
            LOG.info("a module is fenced without proofs: {}", why);
            fenced = texts(workers.fence(tenant, request.plainly(), codes), images.size());
            look(tenant, fenced, mode, linked, looked);
        }
        List<FencedText> accepted = new ArrayList<>();
        for (int i = 0; i < fenced.size(); i++) {
            accepted.add(accepted(fenced.get(i), looked.get(i)));
        }
        return accepted;
    }

    /** Looks at all of them. Returns why one, or a kernel of one, is not accepted; null: all are. */
    private String look(String tenant, List<FencedText> fenced, FenceMode mode, boolean linked, List<TextCheck.Checked> looked)
            throws ProgramRefusedException {
        looked.clear();
        String why = null;
        for (FencedText one : fenced) {
            String wrong = TablesCheck.refusal(one.tables(), mode);
            TextCheck.Checked checked = wrong != null ? TextCheck.Checked.refused(wrong) : inTurn(tenant, one, linked);
            looked.add(checked);
            why = why == null ? checked.first() : why;
        }
        return why;
    }

    /** Looks at a text in its tenant's turn: of no tenant are two looked at at once, and not so many of all that there is no processor for launches. */
    private TextCheck.Checked inTurn(String tenant, FencedText text, boolean linked) throws ProgramRefusedException {
        Thread own = Thread.currentThread();
        if (!turns.await(tenant, () -> workers.isAbandoned(own))) {
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "no turn came to verify it");
        }
        long beginNs = clock.nanoTime();
        try {
            return check.check(text.text(), text.tables(), linked);
        } finally {
            turns.ended(tenant, clock.nanoTime() - beginNs);
        }
    }

    /** Somebody may not want any more what was asked for. */
    void wake() {
        turns.wake();
    }

    /** What is left of a text: kernels that are not seen to be fenced are as those that cannot be. */
    private static FencedText accepted(FencedText text, TextCheck.Checked looked) throws ProgramRefusedException {
        if (looked.refusal() != null) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "it is not seen to be fenced: " + looked.refusal());
        }
        looked.rejected().forEach((kernel, why) -> LOG.warn("kernel {} is refused: {}", kernel, why));
        return new FencedText(looked.text(), looked.rejected().isEmpty() ? text.tables() : text.tables().without(looked.rejected()), looked.link());
    }

    private static List<FencedText> texts(Answer answer, int count) throws ProgramRefusedException {
        if (answer.result() != CudaResult.SUCCESS) {
            throw new ProgramRefusedException(answer.result(), answer.text());
        }
        try {
            if (answer.parts().size() != 2 * count) {
                throw new IOException(answer.parts().size() + " parts for " + count + " images");
            }
            List<FencedText> texts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                texts.add(new FencedText(answer.parts().get(2 * i), FencedTables.read(answer.parts().get(2 * i + 1)), null));
            }
            return texts;
        } catch (IOException e) {
            LOG.error("what a worker has made cannot be read: {}", e.getMessage());
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "what was made of it cannot be read: " + e.getMessage());
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
            program = checked(cache.find(key), mode);
        }
        return program != null && program.tables().getFirst().mode() == mode ? program : null;
    }

    private CacheKey key(ModuleImage code) {
        return CacheKey.of(code, new CodeIdentity("linked", Fencer.version(), target.architecture(), target.compiler(),
                ""));
    }
}
