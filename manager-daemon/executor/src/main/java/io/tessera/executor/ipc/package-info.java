/**
 * Memory and events that clients of one tenant hand to each other by CUDA's IPC handles. All of them lie in the one context of the executor
 * and in the one window of the tenant, so nothing is mapped again: a handle is a right to name what another client has. {@link
 * io.tessera.executor.ipc.ClientExports} is where to begin.
 */
package io.tessera.executor.ipc;
