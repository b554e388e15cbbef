/** Adds fences to the code of cubins. Nothing here is trusted: {@code verify} checks the result. Read first: {@code SectionRewriter}. */
package io.tessera.guardian.machine.fence;
