/**
 * Bounded waits: their bounds, and their common form. A thread that polls sleeps only here, with the numbers of a {@link
 * io.tessera.executor.wait.WaitLimit}. Other waits of the executor, and why they are not here:
 * <ul>
 * <li>{@code IdleWait}: a client's thread without records sleeps on a futex, which the client wakes, for at most 0.1 s.</li>
 * <li>{@code CallGate}: spins for the length of one short driver call; a sleep would take longer.</li>
 * <li>{@code PartKeeper}: its thread does not wait for anything; it observes all clients periodically.</li>
 * <li>{@code TenantTurns}, {@code WorkerPool}, {@code WorkerProcess}: wait on a monitor, a queue or a process, with times of their own.</li>
 * <li>{@code ManagerLink}, {@code Connections}: wait in the system's poll, and for the end of their own threads.</li>
 * </ul>
 */
package io.tessera.executor.wait;
