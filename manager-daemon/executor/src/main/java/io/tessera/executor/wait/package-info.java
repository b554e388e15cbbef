/**
 * Bounded waits: their numbers, and how all of them go. Three loops wait without them. {@code SynchronizationGate} and {@code OwnStream} wait for work of
 * others until the watchdog ends that work or the client, so they have no time of their own. The duty cycle of {@code ClientSession} sleeps on a futex
 * until records come. The end of a session waits for as long as copies may take, and once more after it has ended its user's other work.
 */
package io.tessera.executor.wait;
