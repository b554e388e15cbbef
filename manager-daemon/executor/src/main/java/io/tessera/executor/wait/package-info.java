/**
 * Bounded waits: their numbers, and how all of them go. A thread that looks again and again sleeps here alone, with the number of a
 * {@link io.tessera.executor.wait.WaitLimit}. Other waits of the executor, and why they are not here:
 * <ul>
 * <li>{@code IdleWait}: a client's thread without records sleeps on a futex, which the client wakes, for at most 0.1 s.</li>
 * <li>{@code CallGate}: spins for the length of one short call of the driver; to sleep takes longer than that.</li>
 * <li>{@code PartKeeper}: its thread waits for nothing; it looks at all clients once in a while.</li>
 * <li>{@code TenantTurns}, {@code WorkerPool}, {@code WorkerProcess}: wait on a monitor, a queue or a process, with times of their own.</li>
 * <li>{@code ManagerLink}, {@code Connections}: wait in the system's poll, and for the end of their own threads.</li>
 * </ul>
 */
package io.tessera.executor.wait;
