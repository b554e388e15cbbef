/** Bounded waits: their numbers, and how all of them go. */
package io.tessera.executor.wait;
