/**
 * The commands of {@code tessera} that need Java: everything but {@code run} and {@code manager}, which are shell. They
 * ask the manager over its control socket, or map the clients' segments; none of them loads CUDA.
 */
package io.tessera.cli;
