package io.tessera.executor.fence;

/**
 * How a client is fenced now, for {@code tessera status}. Immutable.
 *
 * @param fence      mask, modulo, check
 * @param unfenced   images that run as they are
 * @param violations what its kernels were kept from doing
 * @param alone      launches of code without fences, while the client was alone
 */
public record FenceFigures(String fence, long unfenced, long violations, long alone) {
}
