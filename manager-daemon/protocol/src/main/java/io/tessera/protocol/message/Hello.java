package io.tessera.protocol.message;

import io.tessera.protocol.MemoryPlan;

/**
 * A client introduces itself.
 *
 * @param pid        pid in the client's own namespace, for information
 * @param plan       how its memory is made
 * @param startTicks field 22 of its {@code /proc/self/stat}
 * @param limitBytes limit per device that it asks for; 0: none; unsigned
 * @param tenant     label that shares and limits attach to
 * @param command    what runs, for people
 */
public record Hello(int pid, MemoryPlan plan, long startTicks, long limitBytes, String tenant, String command) {
}
