/**
 * Who may come as a client, and who waits for a place before its program starts ({@code tessera run --wait}).
 *
 * <p>Pure policy: no clock, no file, no socket, no thread of its own. The conductor passes the time in.
 */
package io.tessera.manager.admission;
