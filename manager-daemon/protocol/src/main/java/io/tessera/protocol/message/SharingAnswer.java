package io.tessera.protocol.message;

/**
 * The way of sharing that the manager has chosen for a program.
 *
 * @param space  true: by space, in an executor; false: by time, with a context of its own
 * @param reason reason, a sentence for people
 */
public record SharingAnswer(boolean space, String reason) {
}
