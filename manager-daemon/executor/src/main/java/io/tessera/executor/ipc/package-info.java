/**
 * Memory and events that clients of one tenant hand to each other by CUDA's IPC handles. All of them are in the one context of the executor
 * and in the one window of the tenant, so nothing is mapped again: a handle only gives the right to name another client's object. Start with {@link
 * io.tessera.executor.ipc.ClientExports}.
 */
package io.tessera.executor.ipc;
