package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Tries kernels, one after the other on each of some threads, until there were enough. Used once; thread-safe while it runs. */
public final class Campaign {
    /** Also on a machine that is too busy to begin in time. */
    private static final int LEAST_KERNELS = 12;

    private final Settings settings;
    private final Consumer<String> say;
    private final Assembler assembler;
    private final AtomicLong next = new AtomicLong();
    private final AtomicLong texts = new AtomicLong();
    private final AtomicInteger tried = new AtomicInteger();
    private final AtomicInteger legal = new AtomicInteger();
    private final AtomicInteger endless = new AtomicInteger();
    private final AtomicInteger assembled = new AtomicInteger();
    private final AtomicLong launches = new AtomicLong();
    private final AtomicLong second = new AtomicLong();
    private final AtomicLong plain = new AtomicLong();
    private final AtomicLong unverified = new AtomicLong();
    private final Map<Finding.Kind, Integer> counts = new EnumMap<>(Finding.Kind.class);
    private final Map<String, Integer> refusals = new TreeMap<>();
    private final List<Failure> failures = new ArrayList<>();
    private long beganNs;
    private double tookSeconds;

    /** @param say takes a line for each failure */
    public Campaign(Settings settings, Consumer<String> say) {
        this.settings = settings;
        this.say = say;
        this.assembler = settings.assembler() == null ? null : new Assembler(settings.assembler());
        for (Finding.Kind kind : Finding.Kind.values()) {
            counts.put(kind, 0);
        }
    }

    /** Runs it to its end. */
    public void run() throws InterruptedException {
        beganNs = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < settings.threads(); i++) {
            threads.add(Thread.ofPlatform().name("fuzz-" + i).start(this::work));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        tookSeconds = (System.nanoTime() - beganNs) / 1e9;
    }

    private boolean goesOn(long number) {
        boolean inTime = number < LEAST_KERNELS || System.nanoTime() - beganNs < settings.seconds() * 1_000_000_000L;
        return number < settings.kernels() && inTime && failureCount() < settings.mostFailures();
    }

    private synchronized int failureCount() {
        return failures.size();
    }

    private void work() {
        Trial compiling = null;
        try (Trial interpreting = new Trial(false)) {
            for (long number = next.getAndIncrement(); goesOn(number); number = next.getAndIncrement()) {
                boolean compiles = settings.compileEvery() > 0 && number % settings.compileEvery() == 0;
                if (compiles && compiling == null) {
                    compiling = new Trial(true);
                }
                one(settings.seed() + number, compiles ? compiling : interpreting);
            }
            count(interpreting);
            if (compiling != null) {
                count(compiling);
            }
        } finally {
            if (compiling != null) {
                compiling.close();
            }
        }
    }

    private void count(Trial trial) {
        launches.addAndGet(trial.launches());
        second.addAndGet(trial.second());
        plain.addAndGet(trial.plain());
        unverified.addAndGet(trial.unverified());
    }

    private void one(long seed, Trial trial) {
        GeneratedKernel kernel = KernelGenerator.of(seed);
        List<Finding> found = new ArrayList<>(trial.findings(kernel, (which, mode, fenced, text) -> assemble(which, mode.name(), text)));
        tried.incrementAndGet();
        legal.addAndGet(kernel.hostile() ? 0 : 1);
        endless.addAndGet(kernel.endless() ? 1 : 0);
        Finding worst = null;
        for (Finding finding : found) {
            count(finding);
            worst = isFailure(kernel, finding) && worst == null ? finding : worst;
        }
        if (worst != null) {
            fail(kernel, worst, trial);
        }
    }

    /** A hostile kernel may be refused; a legal one must not. */
    private static boolean isFailure(GeneratedKernel kernel, Finding finding) {
        return finding.kind() != Finding.Kind.REFUSED || !kernel.hostile();
    }

    private synchronized void count(Finding finding) {
        counts.merge(finding.kind(), 1, Integer::sum);
        if (finding.kind() == Finding.Kind.REFUSED) {
            refusals.merge(finding.what().replaceAll("[0-9]+", "N"), 1, Integer::sum);
        }
    }

    private void fail(GeneratedKernel kernel, Finding finding, Trial trial) {
        GeneratedKernel small = finding.kind() == Finding.Kind.NOT_ASSEMBLED ? kernel : new Shrinker(trial).shrink(kernel, finding);
        Failure failure = new Failure(finding, small);
        synchronized (this) {
            failures.add(failure);
        }
        say.accept(finding.kind() + " " + finding.where() + " seed " + kernel.seed() + (kernel.hostile() ? " hostile: " : " legal: ") + finding.what() + save(failure));
    }

    private String save(Failure failure) {
        if (settings.save() == null) {
            return "";
        }
        try {
            Files.createDirectories(settings.save());
            String name = failure.finding().kind().name().toLowerCase(java.util.Locale.ROOT) + "-" + failure.kernel().seed();
            String head = "// " + failure.finding().kind() + ", " + failure.finding().where() + ", seed " + failure.kernel().seed() + ", "
                    + failure.kernel().blocks() + " blocks of " + failure.kernel().threads() + " threads\n// " + failure.finding().what().lines().findFirst().orElse("") + "\n";
            Files.writeString(settings.save().resolve(name + ".ptx"), head + failure.kernel().scoped());
            Files.writeString(settings.save().resolve(name + ".flat.ptx"), head + failure.kernel().flat());
            return "; kept as " + settings.save().resolve(name + ".ptx");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void assemble(GeneratedKernel kernel, String mode, String text) {
        if (assembler == null || texts.getAndIncrement() % settings.assembleEvery() != 0) {
            return;
        }
        try {
            assembled.incrementAndGet();
            String complaint = assembler.complaint(text, text.contains("cluster"));
            if (!complaint.isEmpty()) {
                Finding finding = new Finding(Finding.Kind.NOT_ASSEMBLED, mode, complaint);
                count(finding);
                fail(kernel, finding, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What came of it. */
    public synchronized Result result() {
        return new Result(settings.seed(), tried.get(), legal.get(), endless.get(), launches.get(), second.get(), plain.get(), unverified.get(), assembled.get(), tookSeconds, Map.copyOf(counts),
                new TreeMap<>(refusals), List.copyOf(failures));
    }
}
