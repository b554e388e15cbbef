/**
 * Commands that only map the clients' segment files: {@code tessera counters} and {@code tessera errors}. They work without a manager, as
 * long as the files exist.
 */
package io.tessera.cli.segments;
