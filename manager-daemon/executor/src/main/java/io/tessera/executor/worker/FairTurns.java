package io.tessera.executor.worker;

import io.tessera.protocol.message.TenantName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Chooses the next job: of the tenants that wait and have no job in progress, the one whose jobs have taken the least time is next. A new tenant starts
 * with the least time that any other tenant has, so that the others need not wait until it has caught up. A tenant has one job at a time,
 * so a tenant whose jobs take for ever leaves the other workers to the others. Not thread-safe: its owner has a lock.
 *
 * @param <T> a job that waits
 */
final class FairTurns<T> {
    private final Map<String, Deque<T>> waiting = new LinkedHashMap<>();
    private final Set<String> running = new HashSet<>();
    /** The time of tenants that wait or run, and of those that left, as long as a present tenant has had less. */
    private final Map<String, Long> usedNs = new HashMap<>();

    void add(String tenant, T job) {
        usedNs.merge(tenant, least(), Math::max);
        waiting.computeIfAbsent(tenant, _ -> new ArrayDeque<>()).add(job);
    }

    /** Removes a waiting job that is no longer wanted. */
    void remove(String tenant, T job) {
        Deque<T> own = waiting.get(tenant);
        if (own != null) {
            own.remove(job);
            forgetEmpty(tenant, own);
        }
    }

    /**
     * Takes the next job, which runs from now on; null: none may run.
     *
     * @param anyhow tells which jobs may run beside another job of the same user; all others run only if no job of their user runs
     */
    T next(Predicate<T> anyhow) {
        Set<String> users = running.stream().map(TenantName::user).collect(Collectors.toSet());
        String chosen = null;
        for (String tenant : waiting.keySet()) {
            if (!running.contains(tenant) && (!users.contains(TenantName.user(tenant)) || anyhow.test(waiting.get(tenant).peek()))
                    && (chosen == null || usedNs.get(tenant) < usedNs.get(chosen))) {
                chosen = tenant;
            }
        }
        if (chosen == null) {
            return null;
        }
        Deque<T> own = waiting.get(chosen);
        T job = own.poll();
        running.add(chosen);
        forgetEmpty(chosen, own);
        return job;
    }

    /** Records that a tenant's job has ended after this time. */
    void ended(String tenant, long tookNs) {
        running.remove(tenant);
        usedNs.merge(tenant, tookNs, Long::sum);
        long least = running.isEmpty() && waiting.isEmpty() ? Long.MAX_VALUE : least();
        usedNs.entrySet().removeIf(entry -> entry.getValue() <= least && !isPresent(entry.getKey()));
    }

    private boolean isPresent(String tenant) {
        return running.contains(tenant) || waiting.containsKey(tenant);
    }

    private long least() {
        return usedNs.entrySet().stream().filter(entry -> isPresent(entry.getKey())).mapToLong(Map.Entry::getValue).min().orElse(0);
    }

    private void forgetEmpty(String tenant, Deque<T> own) {
        if (own.isEmpty()) {
            waiting.remove(tenant);
        }
    }
}
