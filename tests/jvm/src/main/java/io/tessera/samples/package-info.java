/**
 * Ordinary JVM programs against released CUDA bindings. They have no code for Tessera, run on Java 11 and later, check their own results,
 * and print the same lines on every device.
 */
package io.tessera.samples;
