package io.tessera.executor.turn;

import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.List;

/** Tenants and a device of a test's own: kernels run one after the other, in steps of {@link #STEP_NS}; each tenant queues a few. One thread. */
final class SimulatedGate {
    static final long MS = 1_000_000L;
    static final long STEP_NS = MS / 10;

    final GateTurns turns = new GateTurns();
    final List<Program> programs = new ArrayList<>();
    long nowNs = 1_000 * MS;
    /** Time for which the device had no work while a program had kernels left. */
    long idleNs;
    /** The steps in which two tenants had work on the device. */
    int overlaps;
    private Program running;

    /** A program of a tenant of its own, which launches kernels without waiting for them. */
    final class Program {
        final GateTenant tenant;
        final long kernelNs;
        /** Kernels that it has not launched; most are never done. */
        long left = Long.MAX_VALUE;
        long done;
        private int queued;
        private long leftNs;
        private boolean waits;

        private Program(String name, TenantTerms terms, long kernelNs) {
            this.kernelNs = kernelNs;
            tenant = turns.join(name, terms, () -> queued > 0, nowNs);
        }

        private void submit() {
            while (left > 0 && queued < 2) {
                if (!tenant.open) {
                    if (!waits) {
                        waits = true;
                        turns.waits(tenant, nowNs);
                    }
                    return;
                }
                if (waits) {
                    waits = false;
                    turns.waitsNoMore(tenant, nowNs);
                }
                left--;
                queued++;
            }
        }

        /** The program does other things. */
        void pauses() {
            left = 0;
            if (waits) {
                waits = false;
                turns.waitsNoMore(tenant, nowNs);
            }
        }

        /** The program's process ends, with all its queued work. */
        void dies() {
            pauses();
            queued = 0;
            running = running == this ? null : running;
            programs.remove(this);
            turns.leave(tenant, nowNs);
        }
    }

    Program program(String name, TenantTerms terms, long kernelNs) {
        Program program = new Program(name, terms, kernelNs);
        programs.add(program);
        return program;
    }

    void run(long ns) {
        for (long endNs = nowNs + ns; nowNs < endNs;) {
            step();
        }
    }

    private void step() {
        List.copyOf(programs).forEach(Program::submit);
        if (programs.stream().filter(program -> program.queued > 0).count() > 1) {
            overlaps++;
        }
        if (running == null) {
            running = programs.stream().filter(program -> program.queued > 0).findFirst().orElse(null);
            if (running != null) {
                running.leftNs = running.kernelNs;
            }
        }
        nowNs += STEP_NS;
        if (running == null) {
            idleNs += programs.stream().anyMatch(program -> program.left > 0) ? STEP_NS : 0;
        } else {
            turns.charge(running.tenant, STEP_NS, nowNs);
            running.leftNs -= STEP_NS;
            if (running.leftNs <= 0) {
                running.queued--;
                running.done++;
                running = null;
            }
        }
        turns.step(nowNs);
    }
}
