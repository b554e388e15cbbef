/**
 * {@code tessera jvm}: what a JVM has on the GPU, by class and call site. Attaches to the JVM, loads the agent where it is
 * absent, and asks its management bean; knows the bean by its open types alone, none of the agent's classes.
 */
package io.tessera.cli.jvm;
