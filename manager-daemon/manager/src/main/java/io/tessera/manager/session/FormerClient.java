package io.tessera.manager.session;

/**
 * A client that could use a device, or had work there, when the former manager was killed. Its gates keep their state for a while (SPEC.md, section
 * 4).
 *
 * @param pid     process of the client
 * @param untilNs CLOCK_MONOTONIC nanoseconds after which its gates are open, if it has found no manager
 */
public record FormerClient(int pid, long untilNs) {
}
