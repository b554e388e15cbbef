package io.tessera.executor.fence.program;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.JitInput;
import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.executor.worker.Answer;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.verify.LinkCheck;
import io.tessera.guardian.verify.LinkInterface;
import io.tessera.guardian.verify.UnverifiedException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
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
 * Makes fenced programs from images, for all clients of an executor. Each is made once, for the first client that requests it; the others wait for it. Workers
 * make them, and their results are checked here. Programs are kept in memory as long as there is room, and on disk: as text, whose machine code the driver
 * keeps in its own cache, or as machine code if several modules were linked. Thread-safe.
 */
public final class ProgramMaker {
    /** Part of the key of programs for a tenant that is alone. */
    private static final String ALONE = "alone";
    /** As above, for a kernel for parts of its grid. */
    private static final String SLICED = "sliced";
    /** The longest wait for another client's compilation; beyond it something is wrong with it. */
    private static final long PATIENCE_S = 600;
    private static final int MOST_LINKED = 1024;
    private static final Logger LOG = LoggerFactory.getLogger(ProgramMaker.class);

    /**
     * A program that is being made.
     *
     * @param client the thread that requested it first, and makes it
     */
    private record Making(Thread client, CompletableFuture<FencedProgram> program) {
    }

    private final Target target;
    private final CodeCache cache;
    private final CodeWorkers workers;
    private final LocalQuota localQuota;
    /** Checks texts, on the threads of the callers. */
    private final FencingRounds rounds;
    private final Map<CacheKey, SoftReference<FencedProgram>> known = new ConcurrentHashMap<>();
    private final Map<CacheKey, Making> running = new ConcurrentHashMap<>();
    /** Tables of linked code that programs will load later, by the hash of the machine code. */
    private final Map<CacheKey, FencedProgram> linked = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<CacheKey, FencedProgram> eldest) {
            return size() > MOST_LINKED;
        }
    });

    /** Creates a maker for one device. */
    public ProgramMaker(Target target, CodeCache cache, CodeWorkers workers, TextCheck check, LocalQuota localQuota, NanoClock clock) {
        this.target = target;
        this.cache = cache;
        this.workers = workers;
        this.localQuota = localQuota;
        this.rounds = new FencingRounds(target.capability(), workers, check, clock, TimeUnit.SECONDS.toNanos(PATIENCE_S));
    }

    /** Returns the target of the programs. */
    public Target target() {
        return target;
    }

    /** Returns the cache on disk, with its figures. */
    public CodeCache cache() {
        return cache;
    }

    /**
     * Returns the fenced program of a source.
     *
     * @param tenant the tenant that asks
     * @param form    form of the code
     * @param anew    whether kept code must not be used, because the driver refused it
     * @throws ProgramRefusedException if it cannot be fenced or compiled
     */
    public FencedProgram make(String tenant, ProgramSource source, FenceForm form, CodeOptions options, boolean anew)
            throws ProgramRefusedException {
        CodeIdentity identity = identity(source, form, options);
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
            return made == null ? make(tenant, source, form, options, anew) : made;
        }
        try {
            program = anew ? null : find(tenant, source, identity, form, options);
            if (program == null) {
                program = build(tenant, source, form, options);
                keep(key, program);
                markCompiled(source, identity);
            }
            known.put(key, new SoftReference<>(program));
            running.remove(key);
            own.complete(program);
            return program;
        } catch (ProgramRefusedException | RuntimeException | Error e) {
            running.remove(key); // before the others wake, since one of them may begin again
            own.completeExceptionally(e);
            throw e;
        }
    }

    /** Waits for a program that another client has made; null: there is none, since that client has ended meanwhile. */
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

    private CodeIdentity identity(ProgramSource source, FenceForm form, CodeOptions options) {
        String which = form.mode() == FenceMode.NONE ? ALONE + " " : form.sliced().map(kernel -> SLICED + " " + kernel + " ").orElse("");
        return new CodeIdentity(form.mode().name().toLowerCase(Locale.ROOT), Fencer.version(), target.architecture(),
                source.images().size() == 1 ? CodeIdentity.TEXT : target.compiler(), (which + options.key()).strip());
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

    private FencedProgram find(String tenant, ProgramSource source, CodeIdentity identity, FenceForm form, CodeOptions options)
            throws ProgramRefusedException {
        if (!target.compiles()) {
            return null;
        }
        FencedProgram program = checked(cache.find(key(source, identity)), form.mode());
        if (program == null && source.images().size() == 1) {
            program = checked(cache.find(key(source, identity.aheadOfTime())), form.mode());
        }
        if (program != null && program.isText() && cache.find(compiledKey(source, identity)).isEmpty()) {
            assemble(tenant, program.code(), options);
            markCompiled(source, identity);
        }
        return program;
    }

    /** Returns the key of the record that this driver's compiler has compiled a kept text in a worker. */
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
     * Returns kept code if it may be loaded. Text was verified before it was kept, its key names the verifier's code, and the cache belongs only to this
     * executor's user. It is not verified again, which would take longer than the rest of a second start.
     */
    private FencedProgram checked(Optional<CachedCode> kept, FenceMode mode) {
        FencedProgram program = kept.map(ProgramMaker::read).orElse(null);
        if (program == null) {
            return null;
        }
        for (FencedTables tables : program.tables()) {
            String why = TablesCheck.refusal(tables, mode);
            if (why != null) {
                LOG.warn("cached code is made again: {}", why);
                return null;
            }
        }
        return program;
    }

    private static FencedProgram read(CachedCode code) {
        try {
            return new FencedProgram(KeptText.code(code.code()), LinkedTables.read(code.tables()), "", true);
        } catch (IOException e) {
            LOG.debug("cached code is made again: {}", e.getMessage());
            return null;
        }
    }

    private void keep(CacheKey key, FencedProgram program) {
        if (target.compiles()) {
            cache.store(key, new CachedCode(KeptText.kept(program.code()), LinkedTables.bytes(program.tables())));
        }
    }

    private FencedProgram build(String tenant, ProgramSource source, FenceForm form, CodeOptions options)
            throws ProgramRefusedException {
        boolean linked = source.images().size() > 1;
        List<FencedText> fenced = rounds.fence(tenant, source.withPtx(target.capability()), form, linked);
        List<FencedTables> tables = fenced.stream().map(FencedText::tables).toList();
        if (linked) {
            requireParts(fenced);
            Answer made = linkParts(tenant, source, fenced, options);
            return new FencedProgram(made.parts().getFirst(), tables, made.text(), false);
        }
        byte[] text = Arrays.copyOf(fenced.getFirst().text(), fenced.getFirst().text().length + 1);
        return new FencedProgram(text, tables, assemble(tenant, text, options), false);
    }

    /**
     * Checks that the parts can be linked. A function that could not be fenced is undefined for the other parts; then the refusal gives the reason for that
     * function.
     */
    private void requireParts(List<FencedText> fenced) throws ProgramRefusedException {
        try {
            requireLinkable(fenced.stream().map(FencedText::link).toList());
        } catch (ProgramRefusedException e) {
            String why = fenced.stream().flatMap(one -> one.tables().refused().entrySet().stream())
                    .filter(one -> e.getMessage().contains("'" + one.getKey() + "'"))
                    .map(Map.Entry::getValue).findFirst().orElse(null);
            throw why == null ? e : new ProgramRefusedException(e.result(), e.getMessage() + ", which is refused: " + why);
        }
    }

    private Answer linkParts(String tenant, ProgramSource source, List<FencedText> fenced, CodeOptions options) throws ProgramRefusedException {
        try {
            return link(tenant, fenced.stream().map(one -> new LinkerInput(JitInput.PTX, one.text())).toList(), options);
        } catch (ProgramRefusedException e) {
            String lacking = source.partLacksPtx(target.capability());
            if (lacking == null) {
                throw e;
            }
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED,
                    "of one of its parts " + lacking + ", and the others are not linked without it: "
                            + e.getMessage().strip());
        }
    }

    /**
     * Has a program of text compiled with other options by a worker, so that this process's driver finds the code in its cache.
     *
     * @throws ProgramRefusedException if it cannot be
     */
    public void assembleAgain(String tenant, FencedProgram program, CodeOptions options) throws ProgramRefusedException {
        if (target.compiles()) {
            assemble(tenant, program.code(), options);
        }
    }

    /** Returns the compiler's output. */
    private String assemble(String tenant, byte[] text, CodeOptions options) throws ProgramRefusedException {
        return require(workers.assemble(tenant, text, options), "a fenced program").text();
    }

    /**
     * Has an image that is loaded unfenced compiled by a worker, so that this process's driver need not do it.
     *
     * @throws ProgramRefusedException if it cannot be
     */
    public void assembleAsItIs(String tenant, ProgramSource source, CodeOptions options) throws ProgramRefusedException {
        if (target.compiles() && source.isCompiled(target.capability())) {
            require(workers.assemble(tenant, source.main().bytes().toArray(ValueLayout.JAVA_BYTE), options), "a program as it is");
        }
    }

    /**
     * Checks together all texts that are to be linked: what was verified in one text holds only if the other texts are as that text declares them.
     *
     * @param texts all texts that are linked with each other
     * @throws ProgramRefusedException if they must not be linked
     */
    public void requireLinkable(List<LinkInterface> texts) throws ProgramRefusedException {
        try {
            for (Map.Entry<String, Long> stack : LinkCheck.check(texts).entrySet()) {
                localQuota.check(stack.getKey(), stack.getValue());
            }
        } catch (UnverifiedException e) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "what is linked is not seen to be fenced: " + e.getMessage());
        }
    }

    /**
     * Has a worker link inputs.
     *
     * @return an answer whose only part is the machine code
     */
    public Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options) throws ProgramRefusedException {
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

    /**
     * Fences modules of PTX.
     *
     * @param linked whether they are linked with other modules of PTX
     */
    public List<FencedText> fence(String tenant, List<ModuleImage> images, FenceMode mode, boolean linked) throws ProgramRefusedException {
        return rounds.fence(tenant, images, FenceForm.of(mode), linked);
    }

    /** Wakes waiting threads: a client may no longer want the code that it requested. */
    public void wake() {
        rounds.wake();
    }

    /** Records linked code, by its bytes, for the program that will load it. */
    public void remember(FencedProgram program) {
        CacheKey key = key(ModuleImage.of(program.code()));
        linked.put(key, program);
        keep(key, program);
    }

    /** Returns the program that was linked before to these bytes, fenced in this mode; null if it is not known. */
    public FencedProgram linked(ModuleImage code, FenceMode mode) {
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
