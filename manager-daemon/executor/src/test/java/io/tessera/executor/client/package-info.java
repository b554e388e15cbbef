/** A client of the relay in Java, for tests. */
package io.tessera.executor.client;
