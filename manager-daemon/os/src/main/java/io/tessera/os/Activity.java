package io.tessera.os;

/**
 * Activity of a process at a moment.
 *
 * @param stopped  whether a signal has stopped it (SIGSTOP, SIGTSTP), not a debugger
 * @param runnable whether one of its threads runs, waits for a processor or for a disk, or is held by a debugger
 * @param ticks    processor time so far, in ticks of 1/100 s
 */
public record Activity(boolean stopped, boolean runnable, long ticks) {
}
