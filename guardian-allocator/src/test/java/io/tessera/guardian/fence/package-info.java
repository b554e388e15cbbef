/** Tests of the rewriter. */
package io.tessera.guardian.fence;
