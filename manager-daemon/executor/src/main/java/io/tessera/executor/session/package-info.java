/** Clients of this executor: their admission, the thread of each client, and their end. */
package io.tessera.executor.session;
