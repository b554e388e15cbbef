/**
 * Reads fenced PTX again, and accepts of it what it can show to be fenced: see {@link io.tessera.guardian.verify.module.FenceVerifier}. This
 * package has its verdict and the names of a module. It shares nothing with the rewriter but the parser, so that a fault of the one is no fault of
 * the other.
 */
package io.tessera.guardian.verify;
