/** Tests of what the rewriter makes of code. */
package io.tessera.guardian.machine.fence;
