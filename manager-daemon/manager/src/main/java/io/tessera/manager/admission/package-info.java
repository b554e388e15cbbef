/**
 * Decides which programs are admitted as clients, and which wait for a place before they start ({@code tessera run --wait}).
 *
 * <p>Pure policy: no clock, no file, no socket, no thread of its own. The conductor passes the time in.
 */
package io.tessera.manager.admission;
