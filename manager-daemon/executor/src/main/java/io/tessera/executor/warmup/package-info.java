/** What an executor does before its first client, so that the JVM has compiled what programs will wait for. */
package io.tessera.executor.warmup;
