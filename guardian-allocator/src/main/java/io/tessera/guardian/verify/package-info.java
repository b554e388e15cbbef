/**
 * Reads fenced PTX again and accepts the parts that it can show to be fenced: see {@link io.tessera.guardian.verify.module.FenceVerifier}. This
 * package has its verdict and the names of a module. It shares nothing with the rewriter but the parser, so that an error in one is not an error in
 * the other.
 */
package io.tessera.guardian.verify;
