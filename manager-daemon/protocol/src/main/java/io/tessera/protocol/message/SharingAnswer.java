package io.tessera.protocol.message;

/**
 * The way of sharing that the manager has chosen for a program.
 *
 * @param space  by space, in an executor; else by time, with a context of its own
 * @param reason why, a sentence for people
 */
public record SharingAnswer(boolean space, String reason) {
}
