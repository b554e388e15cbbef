/**
 * {@code tessera jvm}: shows what a JVM has on the GPU, by class and call site. It attaches to the JVM, loads the agent if it is absent,
 * and queries its management bean. It uses the bean's open types only and none of the agent's classes.
 */
package io.tessera.cli.jvm;
