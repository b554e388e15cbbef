/**
 * Commands that map the clients' segment files and ask nobody: {@code tessera counters} and {@code tessera errors}. They
 * work without a manager, as long as the files are there.
 */
package io.tessera.cli.segments;
