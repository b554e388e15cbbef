/** Clients of this executor: how they come in, the thread that each of them has, and how they go. */
package io.tessera.executor.session;
