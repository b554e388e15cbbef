package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.ToIntFunction;

/** Tries kernels on several threads, in sequence on each, until there were enough. Used once; thread-safe while it runs. */
public final class Campaign {
    /** Minimum number of kernels, even on a machine that is too busy to begin in time. */
    private static final int LEAST_KERNELS = 12;
    private static final long SAY_MS = 10_000;
    private static final long MOST_SECONDS = TimeUnit.DAYS.toSeconds(365);

    private final LongFunction<GeneratedKernel> kernels;
    private final CampaignSettings settings;
    private final Consumer<String> say;
    private final BatchAssembler assembler;
    private final AtomicLong next = new AtomicLong();
    private final AtomicLong texts = new AtomicLong();
    private final AtomicInteger tried = new AtomicInteger();
    private final AtomicInteger legal = new AtomicInteger();
    private final AtomicInteger endless = new AtomicInteger();
    private final List<FencingTrial> trials = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Map<KernelFinding.Kind, Integer> counts = new EnumMap<>(KernelFinding.Kind.class);
    private final Map<String, Integer> refusals = new TreeMap<>();
    private final List<Failure> failures = new ArrayList<>();
    private long beganNs;

    /** @param say receives a line for each failure */
    public Campaign(CampaignSettings settings, Consumer<String> say) {
        this(settings, say, KernelGenerator::of);
    }

    Campaign(CampaignSettings settings, Consumer<String> say, LongFunction<GeneratedKernel> kernels) {
        this.kernels = kernels;
        this.settings = settings;
        this.say = say;
        this.assembler = settings.assembler() == null ? null : new BatchAssembler(settings.assembler());
        for (KernelFinding.Kind kind : KernelFinding.Kind.values()) {
            counts.put(kind, 0);
        }
    }

    /**
     * Runs the campaign to its end. It waits for kernels that have begun, but no longer than their time limit.
     *
     * @param soFar receives the results so far, every ten seconds
     */
    public void run(Consumer<CampaignResult> soFar) throws InterruptedException {
        beganNs = System.nanoTime();
        for (int i = 0; i < settings.threads(); i++) {
            threads.add(Thread.ofPlatform().daemon().name("fuzz-" + i).start(this::work));
        }
        long mostNs = TimeUnit.SECONDS.toNanos(Math.min(settings.seconds(), MOST_SECONDS) + FencingTrial.MOST_SECONDS);
        for (Thread thread : threads) {
            while (thread.isAlive() && System.nanoTime() - beganNs < mostNs) {
                thread.join(SAY_MS);
                soFar.accept(result());
            }
        }
        if (assembler != null) {
            complain(assembler::rest);
        }
    }

    private boolean goesOn(long number) {
        boolean inTime = number < LEAST_KERNELS || System.nanoTime() - beganNs < settings.seconds() * 1_000_000_000L;
        return number < settings.kernels() && inTime && failureCount() < settings.mostFailures();
    }

    private synchronized int failureCount() {
        return failures.size();
    }

    private void work() {
        FencingTrial compiling = null;
        try (FencingTrial interpreting = trial(false)) {
            for (long number = next.getAndIncrement(); goesOn(number); number = next.getAndIncrement()) {
                boolean compiles = settings.compileEvery() > 0 && number % settings.compileEvery() == 0;
                if (compiles && compiling == null) {
                    compiling = trial(true);
                }
                one(settings.seed() + number, compiles ? compiling : interpreting);
            }
        } finally {
            if (compiling != null) {
                compiling.close();
            }
        }
    }

    private synchronized FencingTrial trial(boolean compiled) {
        trials.add(new FencingTrial(compiled, settings.verifyEvery()));
        return trials.getLast();
    }

    private synchronized long sum(ToIntFunction<FencingTrial> count) {
        return trials.stream().mapToLong(count::applyAsInt).sum();
    }

    /** Tries one seed. An exception is a failure, too, and ends only its kernel, or its thread if that cannot continue. */
    private void one(long seed, FencingTrial trial) {
        try {
            one(kernels.apply(seed), trial);
        } catch (RuntimeException | StackOverflowError e) {
            thrown(seed, e);
        } catch (Error e) {
            thrown(seed, e);
            throw e;
        }
    }

    private void thrown(long seed, Throwable thrown) {
        KernelFinding finding = new KernelFinding(KernelFinding.Kind.CRASH, "fuzzer",
                thrown + " at " + Arrays.stream(thrown.getStackTrace()).limit(4).toList());
        count(finding);
        keep(new Failure(finding, new GeneratedKernel(seed, false, false, 0, 0, "", "", List.of())), seed);
    }

    private void one(GeneratedKernel kernel, FencingTrial trial) {
        List<KernelFinding> found = new ArrayList<>(trial.findings(kernel, (which, mode, fenced, text) -> assemble(which, mode.name(), text)));
        tried.incrementAndGet();
        legal.addAndGet(kernel.hostile() ? 0 : 1);
        endless.addAndGet(kernel.endless() ? 1 : 0);
        KernelFinding worst = null;
        for (KernelFinding finding : found) {
            count(finding);
            worst = isFailure(kernel, finding) && worst == null ? finding : worst;
        }
        if (worst != null) {
            fail(kernel, worst, trial);
        }
    }

    /** A hostile kernel may be refused; a legal one must not. */
    private static boolean isFailure(GeneratedKernel kernel, KernelFinding finding) {
        return finding.kind() != KernelFinding.Kind.REFUSED || !kernel.hostile();
    }

    private synchronized void count(KernelFinding finding) {
        counts.merge(finding.kind(), 1, Integer::sum);
        if (finding.kind() == KernelFinding.Kind.REFUSED) {
            refusals.merge(finding.what().replaceAll("[0-9]+", "N"), 1, Integer::sum);
        }
    }

    private void fail(GeneratedKernel kernel, KernelFinding finding, FencingTrial trial) {
        GeneratedKernel small = finding.kind() == KernelFinding.Kind.NOT_ASSEMBLED ? kernel : new Shrinker(trial).shrink(kernel, finding);
        keep(new Failure(finding, small), kernel.seed());
    }

    private void keep(Failure failure, long seed) {
        synchronized (this) {
            failures.add(failure);
        }
        KernelFinding finding = failure.finding();
        say.accept(finding.kind() + " " + finding.where() + " seed " + seed + (failure.kernel().hostile() ? " hostile: " : " legal: ")
                + finding.what() + save(failure));
    }

    private String save(Failure failure) {
        if (settings.save() == null) {
            return "";
        }
        try {
            Files.createDirectories(settings.save());
            String name = failure.finding().kind().name().toLowerCase(java.util.Locale.ROOT) + "-" + failure.kernel().seed();
            String head = "// " + failure.finding().kind() + ", " + failure.finding().where() + ", seed " + failure.kernel().seed() + ", "
                    + failure.kernel().blocks() + " blocks of " + failure.kernel().threads() + " threads\n// "
                    + failure.finding().what().lines().findFirst().orElse("") + "\n";
            Files.writeString(settings.save().resolve(name + ".ptx"), head + failure.kernel().scoped());
            Files.writeString(settings.save().resolve(name + ".flat.ptx"), head + failure.kernel().flat());
            return "; kept as " + settings.save().resolve(name + ".ptx");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void assemble(GeneratedKernel kernel, String mode, String text) {
        if (assembler != null && texts.getAndIncrement() % settings.assembleEvery() == 0) {
            complain(() -> assembler.take(new BatchAssembler.Text(kernel, mode, text)));
        }
    }

    /** Work of the assembler. */
    private interface Assembling {
        List<BatchAssembler.Complaint> complaints() throws IOException, InterruptedException;
    }

    private void complain(Assembling work) {
        try {
            for (BatchAssembler.Complaint complaint : work.complaints()) {
                KernelFinding finding = new KernelFinding(KernelFinding.Kind.NOT_ASSEMBLED, complaint.text().mode(), complaint.what());
                count(finding);
                fail(complaint.text().kernel(), finding, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the results so far. */
    public synchronized CampaignResult result() {
        return new CampaignResult(settings.seed(), tried.get(), legal.get(), endless.get(), sum(FencingTrial::launches), sum(FencingTrial::looked),
                sum(FencingTrial::plain), sum(FencingTrial::unverified), assembler == null ? 0 : assembler.assembled(),
                (System.nanoTime() - beganNs) / 1e9,
                (int) threads.stream().filter(Thread::isAlive).count(), Map.copyOf(counts), Map.copyOf(refusals), List.copyOf(failures));
    }
}
