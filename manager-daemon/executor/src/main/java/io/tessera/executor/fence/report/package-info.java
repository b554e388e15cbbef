/**
 * Reports of kernels and of the driver about a client, and the errors and lines that they become.
 *
 * <p>{@link io.tessera.executor.fence.report.Violations} comes first.
 */
package io.tessera.executor.fence.report;
