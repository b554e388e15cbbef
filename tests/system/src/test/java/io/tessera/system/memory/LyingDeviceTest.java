package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Four programs allocate, free, write and read at once on a device that has less memory than it reports, and of which a program without
 * Tessera takes a changing part. Some are killed, some are parked and woken. Each program fits the device by itself, so no call may fail.
 */
@ExtendWith(RunWatcher.class)
class LyingDeviceTest {
    private static final long MIB = 1L << 20;
    /** 64 MiB are reported. 3 are there for nobody, and the program without Tessera takes at most 5. */
    private static final String SCRIPT = "memory 64MiB; hidden 3MiB";
    private static final int OUTSIDE_MIB = 5;
    /** What each of the four holds at most, in chunks of 2 MiB: less than the device has left, also beside contexts and the driver's reserve. */
    private static final int MOST_MIB = 44;
    private static final int PROGRAMS = 4;
    /** The fixture has room for 512 allocations. */
    private static final int ALLOCATIONS = 400;
    /** Longest wait of a call: the turns of the three others, with their moves, and 10 s until memory that does not move is given up. */
    private static final Duration BOUND = Duration.ofSeconds(20);
    /** How long the programs work: an hour for the record, otherwise as long as a test of a change needs. */
    private static final long SECONDS = Long.getLong("tessera.test.seconds", Boolean.getBoolean("tessera.long") ? 600 : 8);

    /** Why a program ends. */
    private enum End {
        KILLED, QUIT
    }

    /** How long all work: until the time is over, or one of them fails. */
    private static final class Work {
        private final long beganNs = System.nanoTime();
        private volatile boolean failed;

        boolean goesOn() {
            return !failed && System.nanoTime() - beganNs < Duration.ofSeconds(SECONDS).toNanos();
        }

        Count untilItFails(Callable<Count> tenant) throws Exception {
            try {
                return tenant.call();
            } catch (Exception | AssertionError e) {
                System.out.println("failed after " + (System.nanoTime() - beganNs) / 1_000_000 + " ms: " + e.getMessage());
                failed = true;
                throw e;
            }
        }
    }

    /** What a user of the device did. */
    private static final class Count {
        private long calls;
        private long longestNs;
        private final Map<End, Integer> ends = new TreeMap<>();
    }

    /** Starts a program. Programs are started by several threads, a run serves one. */
    private static RunningProgram start(TestRun run, String tenant) {
        RunningProgram program;
        synchronized (run) {
            program = run.program("console").plan("swap").tenant(tenant).script(SCRIPT).start();
        }
        program.openDevice();
        return program;
    }

    private static String timed(RunningProgram program, String command, Count count) {
        long begunNs = System.nanoTime();
        String said = program.okay(command);
        long tookNs = System.nanoTime() - begunNs;
        count.calls++;
        count.longestNs = Math.max(count.longestNs, tookNs);
        assertTrue(tookNs <= BOUND.toNanos(), () -> command + " took " + tookNs / 1_000_000 + " ms");
        return said;
    }

    private record Held(int mib, int value) {
    }

    /** One tenant's programs, one after another. */
    private static Count tenant(TestRun run, String name, int seed, Work work) {
        SeededRandom random = new SeededRandom(name, seed);
        Count count = new Count();
        while (work.goesOn()) {
            RunningProgram program = start(run, name);
            Map<Integer, Held> held = new TreeMap<>();
            int made = 0;
            int steps = 20 + random.below(SECONDS > 60 ? 2_000 : 200);
            for (int step = 0; step < steps && made < ALLOCATIONS && work.goesOn(); step++) {
                made += step(program, held, random, count);
            }
            held.forEach((index, has) -> timed(program, "check " + index + " " + has.value, count));
            End end = random.below(3) == 0 ? End.KILLED : End.QUIT;
            count.ends.merge(end, 1, Integer::sum);
            if (end == End.KILLED) {
                timed(program, "launch 3000 3", count);
                program.kill();
                program.end();
            } else {
                program.quit().exits(0);
            }
        }
        return count;
    }

    private static int chunks(int mib) {
        return (mib + 1) / 2 * 2;
    }

    /** Returns the number of allocations made. */
    private static int step(RunningProgram program, Map<Integer, Held> held, SeededRandom random, Count count) {
        int has = held.values().stream().mapToInt(each -> chunks(each.mib)).sum();
        Integer one = held.isEmpty() ? null : List.copyOf(held.keySet()).get(random.below(held.size()));
        switch (random.below(6)) {
            case 0, 1 -> {
                boolean create = random.below(3) == 0; // of the driver's granularity of 2 MiB
                int mib = create ? 2 + 2 * random.below(8) : 1 + random.below(16);
                if (has + chunks(mib) <= MOST_MIB) {
                    String how = create ? "create " : "alloc ";
                    int index = Integer.parseInt(timed(program, how + mib * MIB, count));
                    int value = random.below(250);
                    timed(program, "fill " + index + " " + value, count);
                    held.put(index, new Held(mib, value));
                    return 1;
                }
            }
            case 2 -> timed(program, "launch " + (100 + random.below(3000)) + " " + (1 + random.below(4)), count);
            case 3 -> {
                if (one != null) {
                    timed(program, "check " + one + " " + held.get(one).value, count);
                }
            }
            case 4 -> {
                if (one != null) {
                    int value = random.below(250);
                    timed(program, "fill " + one + " " + value, count);
                    held.put(one, new Held(held.get(one).mib, value));
                }
            }
            default -> {
                if (one != null && random.below(2) == 0) {
                    timed(program, "free " + one, count);
                    held.remove(one);
                } else {
                    Await.sleep(Duration.ofMillis(random.below(60)));
                }
            }
        }
        return 0;
    }

    /** A program that does not know Tessera, with memory of the device that comes and goes. It takes what is free: a lack is no fault. */
    private static int outside(TestRun run, int seed, Work work) {
        SeededRandom random = new SeededRandom("outside", seed);
        RunningProgram program;
        synchronized (run) {
            program = run.program("console").natively().script(SCRIPT).start();
        }
        program.openDevice();
        int taken = 0;
        for (int made = 0; work.goesOn() && made < ALLOCATIONS;) {
            String answer = program.ask("alloc " + (1 + random.below(OUTSIDE_MIB)) * MIB);
            Await.sleep(Duration.ofMillis(random.below(400)));
            if (answer.startsWith("ok")) {
                program.okay("free " + answer.substring(3));
                made++;
                taken++;
            }
            Await.sleep(Duration.ofMillis(random.below(SECONDS > 60 ? 10_000 : 400)));
        }
        program.quit().exits(0);
        return taken;
    }

    /** An operator parks and wakes tenants. A tenant that is not there is an error, as for every operator. */
    private static int operator(ManagerProcess manager, int seed, Work work) {
        SeededRandom random = new SeededRandom("operator", seed);
        int orders = 0;
        while (work.goesOn()) {
            String request = random.below(2) == 0 ? "evict" : "restore";
            manager.control().request("{\"request\":\"" + request + "\",\"tenant\":\"t" + random.below(PROGRAMS) + "\"}");
            orders++;
            Await.sleep(Duration.ofMillis(200 + random.below(1500)));
        }
        return orders;
    }

    @Test
    void nobodyWaitsTooLongOrLosesAnything(TestRun run) throws Exception {
        SeededRandom random = new SeededRandom("nobodyWaitsTooLongOrLosesAnything");
        ManagerProcess manager = run.manager("--capacity", "64MiB", "--executors", "none", "--move-share", "50%");
        Work work = new Work();
        List<Future<Count>> tenants = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (int i = 0; i < PROGRAMS; i++) {
                String name = "t" + i;
                int seed = random.below(1 << 30);
                tenants.add(threads.submit(() -> work.untilItFails(() -> tenant(run, name, seed, work))));
            }
            int seed = random.below(1 << 30);
            Future<Integer> outside = threads.submit(() -> outside(run, seed, work));
            Future<Integer> operator = threads.submit(() -> operator(manager, seed, work));
            report(tenants, outside, operator, manager);
        }
        assertEquals(0, manager.control().clients().size());
    }

    private static void report(List<Future<Count>> tenants, Future<Integer> outside, Future<Integer> operator, ManagerProcess manager)
            throws InterruptedException, ExecutionException {
        long calls = 0;
        long longestNs = 0;
        Map<End, Integer> ends = new TreeMap<>();
        for (Future<Count> each : tenants) {
            Count count = each.get();
            calls += count.calls;
            longestNs = Math.max(longestNs, count.longestNs);
            count.ends.forEach((end, times) -> ends.merge(end, times, Integer::sum));
        }
        long handovers = manager.control().device(0).get("handovers").getAsLong();
        System.out.println(SECONDS + " s: " + calls + " calls, the longest " + longestNs / 1_000_000 + " ms, programs " + ends + ", "
                + handovers + " hand-overs, memory taken outside " + outside.get() + " times, " + operator.get() + " orders");
        assertTrue(handovers > 0, "nobody had to give way");
    }
}
