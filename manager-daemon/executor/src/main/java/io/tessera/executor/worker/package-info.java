/**
 * Processes that unpack, parse, rewrite and assemble tenants' code, with bounds on time and memory. The death of a process affects only the tenant whose code
 * it worked on. {@link io.tessera.executor.worker.WorkerPool} is the executor's side, {@link io.tessera.executor.worker.WorkerMain} the process, and {@link
 * io.tessera.executor.worker.Message} the format of their messages.
 *
 * <p>A process has one job at a time, and its pipe is its only connection to the executor. It keeps nothing of a job after the answer: no class here
 * or in the rewriter keeps state between jobs, and the driver's library of a job is unloaded. A job that ends without an answer ends its process.
 */
package io.tessera.executor.worker;
