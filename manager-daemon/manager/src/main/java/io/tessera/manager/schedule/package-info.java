/**
 * Decides which clients may use a device, and when: the turn lock, the modes {@code off}, {@code on} and {@code auto}, quanta and grace.
 *
 * <p>Pure policy: no clock, no file, no socket, no thread of its own. The conductor passes the time in.
 */
package io.tessera.manager.schedule;
