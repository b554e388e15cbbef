package io.tessera.attacks;

import io.tessera.clock.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.locks.Lock;

/** A service and a victim of its own, against which attacks run one after the other. One owner thread. */
final class AttackLane implements AutoCloseable {
    private static final long SECOND_NS = 1_000_000_000L;
    /**
     * Time limit for the removal of an attacker: work that was told to end has fifteen seconds, and then the executor needs a moment to
     * end.
     */
    private static final long GONE_NS = 20 * SECOND_NS;
    /**
     * As above, after code that takes an assembler minutes: a driver does not abort an assembly. The victim did not notice 18 s of it on an
     * H100.
     */
    private static final long ASSEMBLED_NS = 60 * SECOND_NS;
    private static final long LOOK_MS = 100;
    /** Attempts to start a service with a victim: on a busy machine, an executor may not be ready in time. */
    private static final int TRIES = 3;
    /**
     * Maximum age of the manager's information: the executor reports clients at once, but on a busy machine the manager receives it later.
     */
    private static final long STALE_NS = SECOND_NS / 2;

    /** Serialises the starts of services: a device creates one context at a time, and managers do not wait forever. */
    private final Lock starts;
    private final AttackSettings settings;
    private final NanoClock clock;
    private final Path facts;
    private final OutcomeClassifier judge;
    private final Path folder;
    private AttackedService service;
    private int services;
    private Victim victim;
    private long executor;
    private int tenants;

    /**
     * Creates a lane in a folder; the service starts with the first attack.
     *
     * @param folder folder for sockets, segments and logs; must exist and be empty
     * @param starts lock of the lane whose service is starting
     */
    AttackLane(AttackSettings settings, Path folder, NanoClock clock, Lock starts) {
        this.starts = starts;
        this.settings = settings;
        this.clock = clock;
        this.facts = folder.resolve("facts");
        this.judge = new OutcomeClassifier(new VictimSecret(settings.seed()), settings.stallMs());
        this.folder = folder;
    }

    /** Runs an attack to its end, and waits until nothing of it remains. */
    AttackOutcome run(Attack attack) throws IOException, InterruptedException {
        ready();
        if (attack.wantsPredecessor()) {
            Victim.goesBefore(settings.place(), service.folder(), settings.seed(), clock);
        }
        String tenant = "attacker-" + ++tenants;
        Map<String, String> environment = settings.place().environment(service.folder(), tenant);
        environment.putAll(settings.environment());
        environment.put("ATTACK_FACTS", facts.toString());
        environment.put("ATTACK_KERNELS", settings.place().kernels().toString());
        environment.put("ATTACK_SEED", Long.toString(settings.seed() & 0x7fff_ffff));
        environment.put("ATTACK_EXECUTOR", service.folder().resolve("executors/executor-0.sock").toString());
        long patienceNs = (attack.seconds() == 0 ? settings.boundSeconds() : attack.seconds()) * SECOND_NS;
        AttackerRecord conduct = AttackerRecord.of(attack, environment, service.folder(), patienceNs, clock);
        boolean gone = !conduct.mayLeaveWork(attack) || gone(tenant, attack.must() == Attack.Must.STOPPED ? ASSEMBLED_NS : GONE_NS);
        Victim.Finding finding = victim.check(settings.stallMs() * 1_000_000 + 10 * SECOND_NS);
        String fallen = fallen();
        if (!finding.alive() || !fallen.isEmpty()) {
            String why = service.lastWords();
            fallen = fallen + (fallen.isEmpty() || why.isEmpty() ? "" : ", ") + why;
            close();
        }
        return judge.judge(attack, conduct, finding, fallen, gone);
    }

    /**
     * Waits until the executor holds nothing of a tenant, or has ended. Effects of an attack may end the executor long after the attacker's
     * process has ended; they must not be attributed to the next attack.
     *
     * @return whether the tenant is gone, in time
     */
    private boolean gone(String tenant, long boundNs) throws InterruptedException {
        long beganNs = clock.nanoTime();
        while (fallen().isEmpty()) {
            try {
                if (clock.nanoTime() - beganNs > STALE_NS && !service.serves(tenant)) {
                    return true;
                }
            } catch (IOException e) {
                return true; // the manager does not answer, which is detected and reported below
            }
            if (clock.nanoTime() - beganNs > boundNs) {
                return false;
            }
            Thread.sleep(LOOK_MS);
        }
        return true;
    }

    /**
     * Ensures a healthy victim and its executor. After a crash, everything is started again: a manager restarts an executor at once, but
     * delays it more after each successive death, and an unprotected suite has many.
     */
    private void ready() throws IOException, InterruptedException {
        for (int left = TRIES; service == null; left--) {
            starts.lockInterruptibly();
            try {
                service = new AttackedService(Files.createDirectory(folder.resolve(Integer.toString(++services))),
                        settings.place().app(), settings.managerOptions(), settings.control(), clock);
                victim = new Victim(settings.place(), service.folder(), settings.seed(), facts, clock);
                victim.check(60 * SECOND_NS);
            } catch (IOException e) {
                close();
                if (left == 1) {
                    throw e;
                }
            } finally {
                starts.unlock();
            }
        }
        executor = service.executor();
    }

    private String fallen() {
        if (!service.alive()) {
            return "manager ended";
        }
        try {
            return service.executor() == executor ? "" : "executor ended";
        } catch (IOException e) {
            return "manager does not answer";
        }
    }

    @Override
    public void close() {
        if (victim != null) {
            victim.close();
            victim = null;
        }
        if (service != null) {
            service.close();
            service = null;
        }
    }
}
