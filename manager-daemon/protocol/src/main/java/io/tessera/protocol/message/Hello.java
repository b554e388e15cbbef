package io.tessera.protocol.message;

import io.tessera.protocol.MemoryPlan;

/**
 * A client's introduction.
 *
 * @param pid        pid in the client's own namespace, for information
 * @param plan       plan of its memory
 * @param startTicks field 22 of its {@code /proc/self/stat}
 * @param limitBytes limit per device that it asks for (unsigned); 0: none
 * @param tenant     label to which shares and limits apply
 * @param command    command line of the program, for people
 */
public record Hello(int pid, MemoryPlan plan, long startTicks, long limitBytes, String tenant, String command) {
}
