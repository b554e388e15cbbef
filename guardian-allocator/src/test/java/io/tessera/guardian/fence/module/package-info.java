/** Tests of the rewriter on whole modules. */
package io.tessera.guardian.fence.module;
