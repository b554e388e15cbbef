/**
 * Processes that unpack, parse, rewrite and assemble tenants' code, with bounds on time and memory. The death of a process affects only the tenant whose code
 * it worked on. {@link io.tessera.executor.worker.WorkerPool} is the executor's side, {@link io.tessera.executor.worker.WorkerMain} the process, {@link
 * io.tessera.executor.worker.Message} what goes between them.
 *
 * <p>A process has one job at a time and knows nothing of the executor but its pipe. A process keeps nothing of a job when its answer is written: no class here
 * or in the rewriter keeps state between jobs, and the driver's library of a job is unloaded. Whatever ends in another way than by an answer ends its process.
 */
package io.tessera.executor.worker;
