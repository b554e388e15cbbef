/** Work that an executor does before its first client, so that the JVM has compiled the code that programs will wait for. */
package io.tessera.executor.warmup;
