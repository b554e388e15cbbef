/**
 * What kernels and the driver report of a client, and the errors and lines that it becomes.
 *
 * <p>{@link io.tessera.executor.fence.report.Violations} comes first.
 */
package io.tessera.executor.fence.report;
