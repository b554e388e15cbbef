package io.tessera.attacks;

import io.tessera.clock.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Runs attacks in several lanes at once, each with a manager, an executor and a victim of its own: the effects of an attack are confined to
 * its lane. Attacks that take all memory of a device run last, alone. One owner thread.
 */
public final class AttackSuite {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final String TAKES_ALL = "exhaust";

    private final AttackSettings settings;
    private final Path folder;
    private final NanoClock clock;
    private final Lock starts = new ReentrantLock();
    private final List<AttackOutcome> verdicts = new ArrayList<>();
    private final Queue<Attack> unmade = new ConcurrentLinkedQueue<>();
    private long untilNs;

    /**
     * Creates a suite in a folder.
     *
     * @param folder folder for sockets, segments and logs; must exist and be empty
     */
    public AttackSuite(AttackSettings settings, Path folder, NanoClock clock) {
        this.settings = settings;
        this.folder = folder;
        this.clock = clock;
    }

    /**
     * Runs as many of the selected attacks as fit into the time limit. A lane whose service does not start leaves them to the others, and
     * reports this on standard error. Attacks that no lane has run are in the report.
     *
     * @param each receives the results so far after each verdict, the newest last
     * @return the report of all attacks, by name
     */
    public SuiteReport run(Consumer<SuiteReport> each) throws IOException, InterruptedException {
        untilNs = clock.nanoTime() + settings.limitSeconds() * SECOND_NS;
        List<Attack> once = AttackList.of(settings.place().kernels(), settings.place().programs(), settings::wants);
        List<Attack> attacks = new ArrayList<>(Collections.nCopies(settings.times(), once).stream().flatMap(List::stream).toList());
        // Long attacks begin first, so that no lane is left with one at the end.
        attacks.sort(Comparator.comparingInt(Attack::seconds).reversed());
        unmade.addAll(attacks);
        side(attacks.stream().filter(attack -> !attack.group().equals(TAKES_ALL)).toList(), settings.lanes(), each);
        side(attacks.stream().filter(attack -> attack.group().equals(TAKES_ALL)).toList(), 1, each);
        synchronized (verdicts) {
            verdicts.sort(Comparator.comparing(verdict -> verdict.attack().name()));
            return report();
        }
    }

    /** Runs attacks in this many lanes, and closes them afterwards. */
    private void side(List<Attack> attacks, int lanes, Consumer<SuiteReport> each) throws IOException, InterruptedException {
        Queue<Attack> left = new ConcurrentLinkedQueue<>(attacks);
        List<Future<Void>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            for (int lane = 0; lane < Math.min(lanes, attacks.size()); lane++) {
                Path own = Files.createDirectory(folder.resolve((attacks.getFirst().group().equals(TAKES_ALL) ? "x" : "l") + lane));
                running.add(threads.submit(() -> {
                    run(left, own, each);
                    return null;
                }));
            }
            for (Future<Void> lane : running) {
                ended(lane);
            }
        }
    }

    /**
     * Waits for a lane. One whose service or victim does not start is ignored: the findings of the others count, and attacks that were not
     * begun are reported.
     */
    private static void ended(Future<Void> lane) throws InterruptedException {
        try {
            lane.get();
        } catch (ExecutionException e) {
            System.err.println("attacks: a lane ended: " + e.getCause());
        }
    }

    private void run(Queue<Attack> left, Path own, Consumer<SuiteReport> each) throws IOException, InterruptedException {
        try (AttackLane lane = new AttackLane(settings, own, clock, starts)) {
            while (clock.nanoTime() - untilNs < 0) {
                Attack attack = left.poll();
                if (attack == null) {
                    return;
                }
                AttackOutcome verdict;
                try {
                    verdict = lane.run(attack);
                } catch (IOException e) {
                    left.add(attack);
                    throw e;
                }
                synchronized (verdicts) {
                    verdicts.add(verdict);
                    unmade.remove(attack);
                    each.accept(report());
                }
            }
        }
    }

    private SuiteReport report() {
        return new SuiteReport(List.copyOf(verdicts), unmade.stream().map(Attack::name).toList());
    }
}
